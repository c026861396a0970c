/*
 * Checking a struct kvp_geometry: every field by itself, and then what
 * involves several fields.
 */
#include "model/geometry_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text_list.h"
#include "base/u64.h"
#include "base/utf8.h"
#include "model/fields.h"
#include "model/number.h"

int geometry_fail(struct geometry_fault *fault, int code, const char *path,
		       const char *format, ...)
{
	va_list args;

	if (path != fault->path)
		snprintf(fault->path, sizeof(fault->path), "%s", path);
	fault->error.code = code;
	va_start(args, format);
	kvp_error_format(fault->error.text, sizeof(fault->error.text), format,
			 args);
	va_end(args);
	return code;
}

/* --- every field by itself --- */

struct checking {
	const struct kvp_geometry *g;
	struct geometry_fault *fault;
	bool only_words;	/* check FIELD_WORD alone */
};

/* Set the path of the fault, and return it. */
static const char *set_path(const struct checking *c,
			    const struct field_path *at)
{
	field_path_write(at, c->fault->path, sizeof(c->fault->path));
	return c->fault->path;
}

static int check_number(const struct checking *c, const struct field *f,
			const void *of, const struct field_path *at)
{
	uint64_t value = field_number(f, of);

	if (!f->sized && !field_has_value(f, of))
		return KVP_OK;
	if (value < f->low)
		return geometry_fail(c->fault, KVP_EINPUT, set_path(c, at),
			"is %llu, must be at least %llu", (ull)value,
			(ull)f->low);
	if (value > f->high)
		return geometry_fail(c->fault, KVP_EINPUT, set_path(c, at),
			"is %llu, must be at most %llu", (ull)value,
			(ull)f->high);
	return KVP_OK;
}

static int check_word(const struct checking *c, const struct field *f,
		      const void *of, const struct field_path *at)
{
	uint64_t value = field_number(f, of), i;
	char words[TEXT_LIST_ROOM];
	struct text_list list;

	if (value <= f->high)
		return KVP_OK;
	text_list_begin(&list, words, sizeof(words), ", ");
	for (i = 0; i <= f->high; i++)
		text_list_add(&list, 1, "%s", f->words[i]);
	text_list_end(&list);
	return geometry_fail(c->fault, KVP_EINPUT, set_path(c, at),
		"is %d, must be one of %s", (int)value, words);
}

static int check_text(const struct checking *c, const struct field *f,
		      const void *of, const struct field_path *at)
{
	const char *text = field_text(f, of);
	size_t count;

	if (f->kind == FIELD_NAME && !memchr(text, '\0', f->high + 1))
		return geometry_fail(c->fault, KVP_EINPUT, set_path(c, at),
			"has no end within %llu characters", (ull)f->high);
	if (!utf8_is_printable(text, &count))
		return geometry_fail(c->fault, KVP_EINPUT, set_path(c, at),
			"must be printable UTF-8");
	if (!count || count > f->high)
		return geometry_fail(c->fault, KVP_EINPUT, set_path(c, at),
			"has %zu characters, must have 1 to %llu", count,
			(ull)f->high);
	if (f->kind == FIELD_NAME && !name_is_plain(text))
		return geometry_fail(c->fault, KVP_EINPUT, set_path(c, at),
			"is \"%s\", must be of A-Z a-z 0-9 _ - .", text);
	return KVP_OK;
}

/* Whether a list has ascending ranks of the geometry, with the owner. */
static bool is_rank_list(const struct kvp_ranks *list, uint64_t owner,
			 uint64_t ranks)
{
	bool owned = false;
	size_t i;

	if (list->count > ranks)
		return false;
	for (i = 0; i < list->count; i++) {
		if (list->rank[i] >= ranks ||
		    (i && list->rank[i] <= list->rank[i - 1]))
			return false;
		owned = owned || list->rank[i] == owner;
	}
	return owned;
}

static int check_rank_lists(const struct checking *c, const struct field *f,
			    const struct field_path *at)
{
	const struct kvp_ranks *list = field_pointer(f, c->g);
	uint64_t i;

	for (i = 0; i < c->g->ranks; i++)
		if (!is_rank_list(&list[i], i, c->g->ranks))
			return geometry_fail(c->fault, KVP_EINPUT,
				set_path(c, at), "list %llu must hold ranks "
				"below %llu, ascending, and %llu itself",
				(ull)i, (ull)c->g->ranks, (ull)i);
	return KVP_OK;
}

static int check_record(const struct checking *c, const struct record *record,
			const void *of, const struct field_path *at);

static bool has_words(const struct record *record)
{
	size_t i;

	for (i = 0; i < record->nfields; i++)
		if (record->fields[i].kind == FIELD_WORD)
			return true;
	return false;
}

static int check_list(const struct checking *c, const struct field *f,
		      const void *of, const struct field_path *at)
{
	const char *element = field_pointer(f, of);
	size_t count = field_records(f, of);
	struct field_path place = { .up = at };
	int code = KVP_OK;

	if (c->only_words && !has_words(f->record))
		return KVP_OK;
	if (!c->only_words && (count < f->low || count > f->high))
		return geometry_fail(c->fault, KVP_EINPUT, set_path(c, at),
			"has %zu entries, must have %llu to %llu", count,
			(ull)f->low, (ull)f->high);
	for (; place.index < count && !code; place.index++) {
		code = check_record(c, f->record, element, &place);
		element += f->record->size;
	}
	return code;
}

static int check_field(const struct checking *c, const struct field *f,
		       const void *of, const struct field_path *at)
{
	bool any = !c->only_words;

	switch (f->kind) {
	case FIELD_FORMAT:
	case FIELD_INPUT:
	case FIELD_FLAG:
		return KVP_OK;
	case FIELD_TEXT:
	case FIELD_NAME:
		return any ? check_text(c, f, of, at) : KVP_OK;
	case FIELD_COUNT:
	case FIELD_BYTES:
	case FIELD_INDEX:
		return any ? check_number(c, f, of, at) : KVP_OK;
	case FIELD_WORD:
		return check_word(c, f, of, at);
	case FIELD_OBJECT:
		return field_has_value(f, of) ?
		       check_record(c, f->record, field_member(f, of), at) :
		       KVP_OK;
	case FIELD_LIST:
		return check_list(c, f, of, at);
	case FIELD_RANKS:
		return any ? check_rank_lists(c, f, at) : KVP_OK;
	}
	return KVP_OK;
}

static int check_record(const struct checking *c, const struct record *record,
			const void *of, const struct field_path *at)
{
	struct field_path place = { .up = at };
	size_t i;
	int code = KVP_OK;

	for (i = 0; i < record->nfields && !code; i++) {
		place.key = record->fields[i].key.name;
		code = check_field(c, &record->fields[i], of, &place);
	}
	return code;
}

int geometry_check_words(const struct kvp_geometry *g, struct kvp_error *err)
{
	struct geometry_fault fault = { .path = "" };
	struct checking c = { g, &fault, true };
	int code = check_record(&c, &geometry_record, g, NULL);

	return code ? kvp_error_set(err, code, "%s: %s", fault.path,
				    fault.error.text) : KVP_OK;
}

int geometry_check_fields(const struct kvp_geometry *g,
			  struct geometry_fault *fault)
{
	struct checking c = { g, fault, false };
	int code = check_record(&c, &geometry_record, g, NULL);

	if (!code && !geometry_rows(g) && (g->row_bytes || g->row_stride))
		code = geometry_fail(fault, KVP_EINPUT, "/row_bytes",
			"is %llu and row_stride %llu, must be 0 without any "
			"row", (ull)g->row_bytes, (ull)g->row_stride);
	if (!code && geometry_rows(g) && !g->row_bytes)
		code = geometry_fail(fault, KVP_EINPUT, "/row_bytes",
			"is 0, must be at least 1 with %llu rows",
			(ull)geometry_rows(g));
	return code;
}

/* --- several fields together --- */

/* Check a number that must divide `ranks`. */
static int check_divisor(const struct kvp_geometry *g, uint64_t value,
			 const char *path, struct geometry_fault *fault)
{
	if (g->ranks % value == 0)
		return KVP_OK;
	return geometry_fail(fault, KVP_EINPUT, path,
		"is %llu, must divide ranks, %llu", (ull)value,
		(ull)g->ranks);
}

static int check_sizes(const struct kvp_geometry *g,
		       struct geometry_fault *fault)
{
	int code;

	if (g->granularity & (g->granularity - 1))
		return geometry_fail(fault, KVP_EINPUT, "/granularity",
			"is %llu, must be a power of two such as 2097152",
			(ull)g->granularity);
	if (g->row_stride < g->row_bytes)
		return geometry_fail(fault, KVP_EINPUT, "/row_stride",
			"is %llu, must be at least row_bytes, %llu",
			(ull)g->row_stride, (ull)g->row_bytes);
	code = check_divisor(g, g->ranks_per_node, "/ranks_per_node", fault);
	if (!code)
		code = check_divisor(g, g->dcp_group_size, "/dcp_group_size",
				     fault);
	if (!code && g->entry_reserve > g->entry_limit)
		code = geometry_fail(fault, KVP_EINPUT, "/entry_reserve",
			"is %llu, must be at most entry_limit, %llu",
			(ull)g->entry_reserve, (ull)g->entry_limit);
	return code;
}

static int check_address(const struct kvp_geometry *g, uint64_t address,
			 const char *path, struct geometry_fault *fault)
{
	if (address % g->granularity == 0)
		return KVP_OK;
	return geometry_fail(fault, KVP_EINPUT, path,
		"is %llu, must be a multiple of the granularity, %llu",
		(ull)address, (ull)g->granularity);
}

static int check_plane_addresses(const struct kvp_geometry *g,
				 struct geometry_fault *fault)
{
	int code = KVP_OK;
	size_t i;

	for (i = 0; i < g->nplanes && !code; i++) {
		if (!g->planes[i].has_address)
			continue;
		snprintf(fault->path, sizeof(fault->path),
			 "/planes/%zu/address", i);
		code = check_address(g, g->planes[i].address, fault->path,
				     fault);
	}
	return code;
}

static int by_name(const void *a, const void *b)
{
	const struct kvp_plane *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	return order ? order : (*x > *y) - (*x < *y);
}

static int check_names(const struct kvp_geometry *g,
		       struct geometry_fault *fault)
{
	const struct kvp_plane **sorted;
	int code = KVP_OK;
	size_t i;

	sorted = malloc((g->nplanes + 1) * sizeof(*sorted));
	if (!sorted)
		return kvp_error_nomem(&fault->error);
	for (i = 0; i < g->nplanes; i++)
		sorted[i] = &g->planes[i];
	qsort(sorted, g->nplanes, sizeof(*sorted), by_name);
	for (i = 1; i < g->nplanes && !code; i++)
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name))
			code = geometry_fail(fault, KVP_EINPUT, "/planes",
				"planes %zu and %zu are both called \"%s\", "
				"names must differ",
				(size_t)(sorted[i - 1] - g->planes),
				(size_t)(sorted[i] - g->planes),
				sorted[i]->name);
	free(sorted);
	return code;
}

static int fail_too_large(struct geometry_fault *fault, const char *path,
			    const char *what)
{
	return geometry_fail(fault, KVP_EINPUT, path,
		"%s is more than 9007199254740991 (2^53 - 1)", what);
}

static int check_planes(const struct kvp_geometry *g,
			struct geometry_fault *fault)
{
	uint64_t bytes = 0, total = 0;
	size_t i;

	for (i = 0; i < g->nplanes; i++) {
		if (!number_mul(g->pages, g->planes[i].bytes_per_page,
				&bytes) ||
		    !u64_round_up(bytes, g->granularity, &bytes) ||
		    !number_add(total, bytes, &total))
			return geometry_fail(fault, KVP_EINPUT, "/planes",
				"plane %zu (%s): pages * bytes_per_page = "
				"%llu * %llu, summed over the planes, is more "
				"than 9007199254740991 (2^53 - 1)", i,
				g->planes[i].name, (ull)g->pages,
				(ull)g->planes[i].bytes_per_page);
	}
	return KVP_OK;
}

static int check_rows(const struct kvp_geometry *g,
		      struct geometry_fault *fault)
{
	uint64_t rows = geometry_rows(g), bytes;

	if (rows > KVP_ROWS_MAX)
		return geometry_fail(fault, KVP_ELIMIT, "",
			"execution_rows + snapshot_rows = %llu, must be at "
			"most %llu", (ull)rows, (ull)KVP_ROWS_MAX);
	if (!number_mul(rows, g->row_stride, &bytes) ||
	    !u64_round_up(bytes, g->granularity, &bytes) ||
	    bytes > KVP_NUMBER_MAX)
		return fail_too_large(fault, "/row_stride",
				      "rows * row_stride");
	return KVP_OK;
}

static int check_products(const struct kvp_geometry *g,
			  struct geometry_fault *fault)
{
	uint64_t value, total = 0;
	size_t i;

	if (!number_mul(g->tile_granules, g->granularity, &value))
		return fail_too_large(fault, "", "tile_granules * granularity");
	if (!number_mul(g->pages, g->page_tokens, &value) ||
	    !number_mul(value, g->dcp_group_size, &value))
		return fail_too_large(fault, "",
					"pages * page_tokens * dcp_group_size");
	if (!number_mul(g->pages, g->page_overhead_bytes, &value))
		return fail_too_large(fault, "", "pages * page_overhead_bytes");
	for (i = 0; i < g->nstatics; i++)
		if (!number_add(total, g->statics[i].bytes, &total))
			return fail_too_large(fault, "/static",
						"the sum of all bytes");
	return KVP_OK;
}

/* Static storage, too, can be granted within a node only. */
static int check_statics(const struct kvp_geometry *g,
			 struct geometry_fault *fault)
{
	size_t i;

	for (i = 0; i < g->nstatics; i++)
		if (g->statics[i].importers == KVP_STATIC_GROUP &&
		    g->ranks_per_node % g->dcp_group_size)
			return geometry_fail(fault, KVP_EINPUT, "/static",
				"item %zu is for the DCP group, but groups of "
				"%llu ranks do not fit nodes of %llu", i,
				(ull)g->dcp_group_size,
				(ull)g->ranks_per_node);
	return KVP_OK;
}

static int by_rank(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int check_import(const struct kvp_geometry *g, uint32_t importer,
			uint32_t owner, struct geometry_fault *fault)
{
	const struct kvp_ranks *declared = &g->declared_readers[owner];
	uint64_t node = owner / g->ranks_per_node;

	if (importer / g->ranks_per_node != node)
		return geometry_fail(fault, KVP_EINPUT, "/access/imports",
			"rank %u on node %llu imports from rank %u on node "
			"%llu; memory is granted within a node of "
			"ranks_per_node = %llu ranks only", importer,
			(ull)(importer / g->ranks_per_node), owner, (ull)node,
			(ull)g->ranks_per_node);
	if (!bsearch(&importer, declared->rank, declared->count,
		     sizeof(importer), by_rank))
		return geometry_fail(fault, KVP_EINPUT, "/access/imports",
			"rank %u imports from rank %u, whose declared_readers "
			"do not list it; declare it or drop the import",
			importer, owner);
	return KVP_OK;
}

static int check_imports(const struct kvp_geometry *g,
			 struct geometry_fault *fault)
{
	size_t i, j;
	int code = KVP_OK;

	for (i = 0; i < g->ranks; i++)
		for (j = 0; j < g->imports[i].count && !code; j++)
			code = check_import(g, (uint32_t)i,
					    g->imports[i].rank[j], fault);
	return code;
}

int geometry_check(const struct kvp_geometry *g, struct geometry_fault *fault)
{
	int code = check_sizes(g, fault);

	if (!code)
		code = check_plane_addresses(g, fault);
	if (!code)
		code = check_names(g, fault);
	if (!code)
		code = check_planes(g, fault);
	if (!code)
		code = check_rows(g, fault);
	if (!code)
		code = check_products(g, fault);
	if (!code)
		code = check_statics(g, fault);
	if (!code)
		code = check_imports(g, fault);
	if (!code && g->has_arena_address)
		code = check_address(g, g->arena_address, "/arena_address",
				     fault);
	return code;
}

int geometry_fault_error(const struct geometry_fault *fault, int code,
			 struct kvp_error *err)
{
	if (fault->error.code == KVP_ENOMEM)
		return kvp_error_nomem(err);
	return kvp_error_set(err, code, "%s: %s",
			     *fault->path ? fault->path : "/",
			     fault->error.text);
}

int geometry_check_statable(const struct kvp_geometry *g, bool unsized,
			    struct kvp_error *err)
{
	struct kvp_geometry stated = *g;
	struct geometry_fault fault = { .path = "" };
	int code;

	/* The least of both that goes with row_bytes. */
	if (unsized) {
		stated.pages = 1;
		stated.snapshot_rows = g->row_bytes && !g->execution_rows;
	}
	code = geometry_check_fields(&stated, &fault);
	if (unsized) {
		stated.pages = 0;
		stated.snapshot_rows = KVP_UNSTATED;
	}
	if (!code)
		code = geometry_check(&stated, &fault);
	if (!code)
		code = geometry_check_addresses(&stated, &fault);
	return code ? geometry_fault_error(&fault, KVP_EINPUT, err) : KVP_OK;
}
