/*
 * The fingerprint that binds a verdict to its plan, and comparing two
 * geometries: no field escapes either.  A geometry's are changed by its table
 * of fields, all others by the rows here; tests/gates/fields.sh compares both
 * with the members of the structs in the public headers.
 */
#include <stdlib.h>
#include <string.h>

#include "model/fields.h"
#include "unit/unit.h"

/* Three ranks, five planes, lists that differ from each other. */
#define EVERYTHING "pages=6;row_bytes=20480;row_stride=22528;ranks=3;"	\
	"ranks_per_node=3;"						\
	"dcp_group_size=3;arena_address=35184372088832;static="		\
	"[{'name': 'x', 'bytes': 1, 'importers': 'none'},"		\
	" {'name': 'y', 'bytes': 8192, 'importers': 'all'},"		\
	" {'name': 'z', 'bytes': 3, 'importers': 'group'}];"		\
	"static_entries=7;page_overhead_bytes=5;"			\
	"headroom={'free_bytes': 1000, 'cap_bytes': 100};"		\
	"access={'imports': [[0], [0, 1], [1, 2]]};planes="		\
	"[{'name': 'a', 'count': 2, 'bytes_per_page': 4096},"		\
	" {'name': 'b', 'bytes_per_page': 2048,"			\
	"  'address': 17592186044416},"					\
	" {'name': 'c', 'bytes_per_page': 64, 'alias': false}];"

typedef struct kvp_plan plan_t;

#define SWAP(list, a, b) do {						\
	char swap_[sizeof(*(list))];					\
	memcpy(swap_, &(list)[a], sizeof(swap_));			\
	memcpy(&(list)[a], &(list)[b], sizeof(swap_));			\
	memcpy(&(list)[b], swap_, sizeof(swap_));			\
} while (0)

/*
 * FIELD(struct, member, what changes it).  A change of a list's element is
 * undone by doing it again; the plan and what it holds by value are put
 * back whole.
 */
#define GEOMETRY p->geometry
#define GEOMETRY_FIELDS							\
FIELD(kvp_geometry, declared_readers,					\
      GEOMETRY.declared_readers[1].rank[1] ^= 4)			\
FIELD(kvp_geometry, imports, SWAP(GEOMETRY.imports, 0, 2))		\
FIELD(kvp_geometry, base_chunks, GEOMETRY.base_chunks = NULL;		\
      GEOMETRY.nbase_chunks = 0)					\
FIELD(kvp_ranks, rank, GEOMETRY.imports[2].rank[0] ^= 1)		\
FIELD(kvp_ranks, count, GEOMETRY.imports[2].count ^= 3)

#define PLAN_FIELDS							\
FIELD(kvp_plan, geometry, p->geometry.page_tokens++)			\
FIELD(kvp_plan, merge, p->merge = KVP_MERGE_SPAN)			\
FIELD(kvp_plan, dedicated_bytes, p->dedicated_bytes++)			\
FIELD(kvp_plan, chunks, SWAP(p->chunks, 0, 1))				\
FIELD(kvp_plan, nchunks, p->nchunks--)					\
FIELD(kvp_plan, rows, SWAP(p->rows, 0, 1))				\
FIELD(kvp_plan, nrows, p->nrows--)					\
FIELD(kvp_plan, spans, SWAP(p->spans, 0, 1))				\
FIELD(kvp_plan, nspans, p->nspans--)					\
FIELD(kvp_plan, access, SWAP(p->access, 0, 1))				\
FIELD(kvp_plan, naccess, p->naccess--)					\
FIELD(kvp_plan, summary, p->summary.chunks++)				\
FIELD(kvp_plan, headroom, p->headroom.cap_bytes++)			\
FIELD(kvp_plan, has_headroom, p->has_headroom = false)			\
FIELD(kvp_headroom, free_bytes, p->headroom.free_bytes--)		\
FIELD(kvp_headroom, bounded, p->headroom.bounded = false)		\
FIELD(kvp_chunk, offset, p->chunks[1].offset ^= 4096)			\
FIELD(kvp_chunk, bytes, p->chunks[1].bytes ^= 4096)			\
FIELD(kvp_chunk, arena, p->chunks[1].arena ^= 4096)			\
FIELD(kvp_chunk, plane, p->chunks[1].plane ^= 1)			\
FIELD(kvp_row, row, p->rows[1].row ^= 1)				\
FIELD(kvp_row, first, p->rows[1].first ^= 1)				\
FIELD(kvp_row, count, p->rows[1].count ^= 1)				\
FIELD(kvp_span, first, p->spans[0].first ^= 1)				\
FIELD(kvp_span, end, p->spans[0].end ^= 1)				\
FIELD(kvp_access, rank, p->access[1].rank ^= 1)				\
FIELD(kvp_access, readers, p->access[1].readers.rank[0] ^= 1)		\
FIELD(kvp_ranks, count, p->access[1].readers.count ^= 3)		\
FIELD(kvp_summary, base_chunks, p->summary.base_chunks++)		\
FIELD(kvp_summary, chunks, p->summary.chunks--)				\
FIELD(kvp_summary, lower_bound, p->summary.lower_bound++)		\
FIELD(kvp_summary, optimal, p->summary.optimal ^= 1)			\
FIELD(kvp_summary, physical_bytes, p->summary.physical_bytes++)		\
FIELD(kvp_summary, kv_tokens, p->summary.kv_tokens++)			\
FIELD(kvp_summary, per_rank, p->summary.per_rank[1] ^= 1)		\
FIELD(kvp_summary, nper_rank, p->summary.nper_rank--)			\
FIELD(kvp_summary, per_node, p->summary.per_node[0] ^= 1)		\
FIELD(kvp_summary, nper_node, p->summary.nper_node--)			\
FIELD(kvp_summary, limit, p->summary.limit++)

static const char *const names[] = {
#define FIELD(tag, member, change) #tag "." #member,
	GEOMETRY_FIELDS PLAN_FIELDS
#undef FIELD
};

enum {
#define FIELD(tag, member, change) + 1
	OF_GEOMETRY = 0 GEOMETRY_FIELDS
#undef FIELD
};

#define ROWS (sizeof(names) / sizeof(*names))

static void change_field(plan_t *p, size_t row)
{
	size_t at = 0;

#define FIELD(tag, member, change) if (row == at++) { change; return; }
	GEOMETRY_FIELDS PLAN_FIELDS
#undef FIELD
}

/* One change of a geometry; `left` counts down to it. */
struct change {
	size_t left;
	const char *key;
};

static bool is_now(struct change *c, const struct field *f)
{
	c->key = f->key.name;
	return !c->left--;
}

static bool change_record(struct change *c, const struct record *record,
			  char *of);

/* Fewer records, another order, and a change in one that has everything. */
static bool change_list(struct change *c, const struct field *f, char *of)
{
	char *list = field_pointer(f, of), byte;
	size_t size = f->record->size, i;

	ck_assert_uint_gt(field_records(f, of), 1);
	if (is_now(c, f))
		return --*field_count(f, of);
	if (is_now(c, f)) {
		for (i = 0; i < size; i++) {
			byte = list[i];
			list[i] = list[2 * size + i];
			list[2 * size + i] = byte;
		}
		return true;
	}
	return change_record(c, f->record, list + 2 * size);
}

static bool change_one(struct change *c, const struct field *f, char *of)
{
	switch (f->kind) {
	case FIELD_FORMAT:
	case FIELD_INPUT:
	case FIELD_RANKS:	/* by the rows above */
		return false;
	case FIELD_TEXT:
	case FIELD_NAME:
		if (!is_now(c, f))
			return false;
		*(f->kind == FIELD_TEXT ? (char *)field_pointer(f, of) :
					  of + f->at) ^= 1;
		return true;
	case FIELD_COUNT:
	case FIELD_BYTES:
	case FIELD_INDEX:
	case FIELD_FLAG:
	case FIELD_WORD:
		if (!is_now(c, f))
			return false;
		field_set_number(f, of, field_number(f, of) ^ 1);
		return true;
	case FIELD_OBJECT:
		return change_record(c, f->record, of + f->at);
	case FIELD_LIST:
		return change_list(c, f, of);
	}
	return false;
}

static bool change_record(struct change *c, const struct record *record,
			  char *of)
{
	const struct field *f = record->fields, *end = f + record->nfields;
	bool *has;

	for (; f < end; f++) {
		has = (bool *)(of + f->has);
		if (f->absence == FIELD_IF_FLAG && is_now(c, f)) {
			*has = !*has;
			return true;
		}
		if (change_one(c, f, of))
			return true;
	}
	return false;
}

/* The change of that number; NULL where there are no more. */
static const char *change_geometry(struct kvp_geometry *g, size_t number)
{
	struct change c = { .left = number };

	return change_record(&c, &geometry_record, (char *)g) ? c.key : NULL;
}

/* A plan that has everything, its base layout recorded. */
static plan_t full_plan(void)
{
	struct kvp_geometry g = geometry_of(EVERYTHING);
	plan_t base = plan_geometry(&g, KVP_MERGE_NONE), plan;

	g.base_chunks = base.chunks;
	g.nbase_chunks = base.nchunks;
	base.chunks = NULL;
	base.nchunks = 0;
	plan = plan_geometry(&g, KVP_MERGE_ROW);
	kvp_plan_release(&base);
	kvp_geometry_release(&g);
	ck_assert_uint_gt(plan.nrows, 1);
	ck_assert_uint_gt(plan.nspans, 1);
	return plan;
}

static void ignore(void *cookie, const char *pointer, const char *a,
		   const char *b)
{
	(void)cookie, (void)pointer, (void)a, (void)b;
}

START_TEST(every_field_that_changes_ends_a_verdict)
{
	plan_t plan = full_plan(), whole = plan;
	struct kvp_verdict *verdict;
	const char *key;
	size_t row;

	ck_assert_int_eq(kvp_verify(&plan, NULL, &verdict, NULL), KVP_OK);
	for (row = 0; row < ROWS; row++) {
		ck_assert(kvp_verdict_is_for(verdict, &plan));
		change_field(&plan, row);
		ck_assert_msg(!kvp_verdict_is_for(verdict, &plan),
			      "row %zu, %s: the change is not noticed", row,
			      names[row]);
		change_field(&plan, row);
		plan = whole;
		ck_assert_msg(kvp_verdict_is_for(verdict, &plan),
			      "row %zu, %s: the change is not undone", row,
			      names[row]);
	}
	for (row = 0; (key = change_geometry(&plan.geometry, row)); row++) {
		ck_assert_msg(!kvp_verdict_is_for(verdict, &plan),
			      "change %zu, %s: is not noticed", row, key);
		change_geometry(&plan.geometry, row);
		plan = whole;
		ck_assert_msg(kvp_verdict_is_for(verdict, &plan),
			      "change %zu, %s: is not undone", row, key);
	}
	ck_assert_uint_gt(row, geometry_record.nfields);
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
}
END_TEST

START_TEST(every_field_that_changes_is_a_difference_of_geometries)
{
	plan_t plan = full_plan(), whole = plan;
	struct kvp_geometry same;
	const char *key;
	size_t row;

	ck_assert_int_eq(kvp_geometry_copy(&same, &plan.geometry, NULL),
			 KVP_OK);
	for (row = 0; row < OF_GEOMETRY; row++) {
		ck_assert_uint_eq(kvp_geometry_compare(&same, &plan.geometry,
						       ignore, NULL), 0);
		change_field(&plan, row);
		ck_assert_msg(kvp_geometry_compare(&same, &plan.geometry,
						   ignore, NULL) > 0,
			      "row %zu, %s: no difference", row, names[row]);
		change_field(&plan, row);
		plan = whole;
	}
	for (row = 0; (key = change_geometry(&plan.geometry, row)); row++) {
		ck_assert_msg(kvp_geometry_compare(&same, &plan.geometry,
						   ignore, NULL) > 0,
			      "change %zu, %s: no difference", row, key);
		change_geometry(&plan.geometry, row);
		plan = whole;
	}
	kvp_geometry_release(&same);
	kvp_plan_release(&plan);
}
END_TEST

Suite *fingerprint_suite(void)
{
	Suite *suite = suite_create("fingerprint");
	TCase *tests = tcase_create("fingerprint");

	tcase_add_test(tests, every_field_that_changes_ends_a_verdict);
	tcase_add_test(tests,
		every_field_that_changes_is_a_difference_of_geometries);
	suite_add_tcase(suite, tests);
	return suite;
}
