/*
 * Realizing on the host backend: what is refused, what is held, who may
 * read it, what is published, and the events on the way.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "fault/model.h"
#include "backend/backend_host.h"
#include "unit/altered.h"
#include "unit/host.h"
#include "unit/unit.h"

#define G UINT64_C(4096)
/* Rows that merge, dedicated backing, padding, a plane without aliases. */
#define FULL "pages=6;row_bytes=20480;row_stride=22528;static=" \
	"[{'name': 'x', 'bytes': 1, 'importers': 'none'}," \
	" {'name': 'y', 'bytes': 8192, 'importers': 'all'}];" \
	"static_entries=7;access={'importer_mode': 'read'};planes=" \
	"[{'name': 'a', 'count': 2, 'bytes_per_page': 4096}," \
	" {'name': 'b', 'bytes_per_page': 2048}," \
	" {'name': 'c', 'bytes_per_page': 64, 'alias': false}];"
/* What address space hands out below this: never this address. */
#define FAR "35184372088832"

/* A plan being realized. */
struct rig {
	struct kvp_plan plan;
	struct kvp_verdict *verdict;
	struct kvp_backend *host;
	struct altered seen;		/* the host, as it is realized on */
	struct kvp_realize_options options;
	struct kvp_realization *r;
	struct kvp_error err;
	struct model model;
};

/* The table is preflight's: it knows the ranks. */
static void rig_verify(struct rig *rig)
{
	struct kvp_verify_options options;

	kvp_verify_options_init(&options);
	options.severity[KVP_RULE_ENTRY_LIMIT] = KVP_WARNING;
	kvp_verdict_free(rig->verdict);
	ck_assert_msg(!kvp_verify(&rig->plan, &options, &rig->verdict,
				  &rig->err), "%s", rig->err.text);
}

static void rig_new(struct rig *rig, const char *changes,
		    enum kvp_merge merge, uint32_t nranks)
{
	memset(rig, 0, sizeof(*rig));
	rig->plan = plan_of(changes, merge);
	rig_verify(rig);
	ck_assert(kvp_verdict_ok(rig->verdict));
	ck_assert(!kvp_backend_host(&rig->host, 4,
				    rig->plan.geometry.granularity, NULL));
	alter_backend(&rig->seen, rig->host);
	rig->options.nranks = nranks;
	rig->options.event = model_event;
	rig->options.cookie = &rig->model;
}

/* Realize; the model is told what is asked for. */
static int rig_realize(struct rig *rig)
{
	rig->model = (struct model){
		.first_rank = rig->options.first_rank,
		.nranks = rig->options.nranks,
		.check = rig->options.check != KVP_CHECK_NONE,
	};
	rig->r = (struct kvp_realization *)rig;
	return kvp_realize(&rig->r, &rig->plan, rig->verdict, &rig->seen.base,
			   &rig->options, &rig->err);
}

static void rig_hold(struct rig *rig)
{
	ck_assert_msg(!rig_realize(rig), "%s", rig->err.text);
}

/* Give back, and nothing is left. */
static void rig_release(struct rig *rig)
{
	struct host_alive alive;

	ck_assert_int_eq(kvp_realization_free(rig->r, &rig->err), KVP_OK);
	host_alive(rig->host, &alive);
	ck_assert(!alive.reservations && !alive.mappings && !alive.handles &&
		  !alive.resident_bytes);
	ck_assert_uint_eq(model_left(&rig->model), 0);
	ck_assert_str_eq(rig->model.wrong, "");
	kvp_verdict_free(rig->verdict);
	kvp_plan_release(&rig->plan);
	kvp_backend_close(rig->host);
}

/* Not realized, everything undone, and why. */
static void rig_fails(struct rig *rig, int code, const char *text)
{
	int got = rig_realize(rig);

	ck_assert_msg(got == code && rig->err.code == code &&
		      strstr(rig->err.text, text), "%s %s, expected %s %s",
		      kvp_code_name(got), rig->err.text, kvp_code_name(code),
		      text);
	ck_assert_ptr_null(rig->r);
}

/* Refused before anything is acquired, or before any call. */
static void rig_refused(struct rig *rig, int code, const char *text)
{
	rig_fails(rig, code, text);
	ck_assert(!rig->model.acquired[0] && !rig->model.acquired[1] &&
		  !rig->model.acquired[2]);
}

static void rig_untouched(struct rig *rig, const char *text)
{
	rig_refused(rig, KVP_EREFUSED, text);
	ck_assert_uint_eq(rig->model.events, 0);
}

/* The texts are there, one after the other. */
static void check_order(const char *text, const char *const *wanted)
{
	const char *from = text, *found;

	for (; *wanted; wanted++, from = found + 1) {
		found = strstr(from, *wanted);
		ck_assert_msg(found, "no '%s' in its place in '%s'", *wanted,
			      text);
	}
}

#define CHANGES 11

/* Number `i` of a plan that decides what is realized or promised. */
static uint64_t *number_of(struct kvp_plan *p, int i)
{
	uint64_t *const numbers[CHANGES] = {
		&p->chunks[0].arena, &p->chunks[1].offset,
		&p->chunks[0].bytes, &p->spans[0].end, &p->geometry.pages,
		&p->geometry.static_entries, &p->dedicated_bytes,
		&p->summary.limit, &p->summary.kv_tokens,
		&p->geometry.planes[0].bytes_per_page,
		&p->geometry.statics[0].bytes,
	};

	return numbers[i];
}

START_TEST(a_plan_that_changed_after_it_was_verified_is_refused)
{
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	*number_of(&rig.plan, _i) += G;
	rig_untouched(&rig, "changed after it was verified");
	*number_of(&rig.plan, _i) -= G;
	/* As it was, it is good again. */
	rig_hold(&rig);
	rig_release(&rig);
}
END_TEST

START_TEST(a_reader_that_changed_after_it_was_verified_is_refused)
{
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.plan.access[0].readers.rank[1] = 2;
	rig_untouched(&rig, "changed after it was verified");
	rig.plan.access[0].readers.rank[1] = 1;
	rig.plan.access[0].readers.count = 1;
	rig_untouched(&rig, "changed after it was verified");
	rig.plan.access[0].readers.count = 2;
	rig.plan.merge = KVP_MERGE_SPAN;
	rig_untouched(&rig, "changed after it was verified");
	rig.plan.merge = KVP_MERGE_ROW;
	rig_release(&rig);
}
END_TEST

START_TEST(a_verdict_of_another_plan_is_refused)
{
	struct rig rig, other;
	struct kvp_verdict *own;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig_new(&other, FULL "pages=7", KVP_MERGE_ROW, 2);
	own = rig.verdict;
	rig.verdict = other.verdict;
	rig_untouched(&rig, "the verdict is for another plan");
	rig.verdict = own;
	rig_release(&rig);
	rig_release(&other);
}
END_TEST

START_TEST(a_bad_verdict_is_refused)
{
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.plan.summary.kv_tokens++;
	rig_verify(&rig);
	ck_assert(!kvp_verdict_ok(rig.verdict));
	rig_untouched(&rig, "not verified");
	rig_release(&rig);
}
END_TEST

START_TEST(ranks_and_devices_that_are_not_there_are_refused)
{
	static const uint32_t twice[] = { 1, 1 }, beyond[] = { 0, 4 };
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 0);
	rig_untouched(&rig, "0 ranks");
	rig.options.nranks = 5;
	rig_untouched(&rig, "ranks 0 to 3");
	rig.options.nranks = 1;
	rig.options.first_rank = 4;
	rig_untouched(&rig, "ranks 0 to 3");
	rig.options.first_rank = 3;
	rig.options.nranks = UINT32_MAX;
	rig_untouched(&rig, "ranks 0 to 3");
	rig.options.first_rank = 0;
	rig.options.nranks = 2;
	rig.options.devices = twice;
	rig_untouched(&rig, "both given device 1");
	rig.options.devices = beyond;
	rig_untouched(&rig, "has 4");
	rig_release(&rig);
}
END_TEST

START_TEST(ranks_of_two_nodes_are_refused)
{
	struct rig rig;

	rig_new(&rig, FULL "ranks_per_node=2", KVP_MERGE_ROW, 4);
	rig_untouched(&rig, "such as ranks 0 to 1");
	rig.options.nranks = 2;
	rig.options.first_rank = 1;
	rig_untouched(&rig, "ranks 1 to 2 lie on nodes 0 to 1");
	rig.options.first_rank = 2;
	rig_hold(&rig);
	rig_release(&rig);
}
END_TEST

/* --- backends that lie --- */

static int no_peer(struct kvp_backend *b, uint32_t device, uint32_t owner,
		   bool *can, struct kvp_error *err)
{
	(void)b;
	(void)err;
	*can = device != 3 || owner != 2;
	return KVP_OK;
}

static uint64_t told_free;

static int some_memory(struct kvp_backend *b, uint32_t device,
		       uint64_t *free_bytes, struct kvp_error *err)
{
	(void)b;
	(void)err;
	*free_bytes = device == 1 ? told_free : told_free + G;
	return KVP_OK;
}

static int coarse_device(struct kvp_backend *b, uint32_t device,
			 struct kvp_device_info *info, struct kvp_error *err)
{
	struct kvp_backend *host = unaltered(b);
	int code = host->device.device(host, device, info, err);

	info->granularity = device == 1 ? 2 * G : G;
	return code;
}

static int bad_device(struct kvp_backend *b, uint32_t device,
		      struct kvp_device_info *info, struct kvp_error *err)
{
	struct kvp_backend *host = unaltered(b);

	if (device == 0)
		return host->device.device(host, device, info, err);
	err->code = KVP_EDRIVER;
	strcpy(err->text, "device: broken");
	return KVP_EDRIVER;
}

static uint32_t false_device;
static enum kvp_flags false_flags;

/* Everybody has these flags for one device. */
static int false_granted(struct kvp_backend *b, uint64_t address,
			 uint32_t device, enum kvp_flags *flags,
			 struct kvp_error *err)
{
	struct kvp_backend *host = unaltered(b);
	int code = host->mapping.granted(host, address, device, flags, err);

	if (device == false_device)
		*flags = false_flags;
	return code;
}

static int false_match(struct kvp_backend *b, uint32_t device,
		       uint64_t address, uint64_t bytes, uint32_t pattern,
		       uint64_t *same, struct kvp_error *err)
{
	struct kvp_backend *host = unaltered(b);
	int code = host->mapping.match(host, device, address, bytes, pattern,
					   same, err);

	if (device == false_device && *same)
		--*same;
	return code;
}

static bool memory_unknown;	/* once preflight has asked */
static int memory_asked;

static int little_memory(struct kvp_backend *b, uint32_t device,
			 uint64_t *free_bytes, struct kvp_error *err)
{
	(void)b;
	(void)device;
	/* Preflight asks once for each of the two ranks, and is content. */
	if (memory_asked++ < 2) {
		*free_bytes = UINT64_C(1) << 40;
		return KVP_OK;
	}
	if (memory_unknown) {
		if (err)
			err->code = KVP_EDRIVER;
		return KVP_EDRIVER;
	}
	*free_bytes = told_free;
	return KVP_OK;
}

static int exhausted(struct kvp_error *err)
{
	err->code = KVP_EEXHAUSTED;
	strcpy(err->text, "no more");
	return KVP_EEXHAUSTED;
}

static int exhausted_grant(struct kvp_backend *b, uint64_t address,
			   uint64_t bytes, const struct kvp_grant *grants,
			   size_t count, struct kvp_error *err)
{
	(void)b, (void)address, (void)bytes, (void)grants, (void)count;
	return exhausted(err);
}

static int exhausted_map(struct kvp_backend *b, uint64_t address,
			 uint64_t bytes, kvp_handle handle,
			 struct kvp_error *err)
{
	(void)b, (void)address, (void)bytes, (void)handle;
	return exhausted(err);
}

static int exhausted_create(struct kvp_backend *b,
			    const struct kvp_create *what, kvp_handle *handle,
			    struct kvp_error *err)
{
	(void)b, (void)what, (void)handle;
	return exhausted(err);
}

#define FULL_TABLE "entry_limit=4100"
#define FREE "no more: memory is free, the driver's table of mappings is " \
	"full (NV_ERR_INSUFFICIENT_RESOURCES, 0x1a, in the kernel log): "
/* What is said where the call that fails is the first of its kind: 7 entries
   are held, by others. */
static const struct {
	const char *changes;
	enum kvp_op op;		/* what fails */
	bool lazy, unknown;
	uint64_t free_bytes;
	int code;
	const char *text;
} causes[] = {
	{ "", KVP_OP_GRANT, false, false, KVP_DRIVER_BYTES, KVP_ETABLE,
	  FREE "7 of its 524288 entries are counted, this call asks for 1 "
	  "more; after" },
	{ FULL_TABLE, KVP_OP_GRANT, false, false, KVP_DRIVER_BYTES,
	  KVP_ETABLE, FREE "7 of its 4100 entries are counted, this call asks "
	  "for 1 more; after" },
	{ FULL_TABLE, KVP_OP_GRANT, false, false, KVP_DRIVER_BYTES - 1,
	  KVP_ETABLE, "no more: the driver's table of mappings is full "
	  "(NV_ERR_INSUFFICIENT_RESOURCES, 0x1a, in the kernel log): 7 of its "
	  "4100 entries are counted, this call asks for 1 more; memory may be "
	  "short as well: rank 0 has 2097151 bytes free, of which the "
	  "driver keeps 2097152; after" },
	{ FULL_TABLE, KVP_OP_GRANT, false, true, KVP_DRIVER_BYTES, KVP_ETABLE,
	  "asks for 1 more; after" },
	{ "", KVP_OP_GRANT, false, false, KVP_DRIVER_BYTES - 1,
	  KVP_EEXHAUSTED, "no more: memory is short: rank 0 has 2097151 bytes "
	  "free, of which the driver keeps 2097152; or others on this "
	  "node fill the driver's table of mappings" },
	{ "", KVP_OP_GRANT, false, true, KVP_DRIVER_BYTES, KVP_EEXHAUSTED,
	  "no more; after" },
	/* This machine has no table of a driver. */
	{ FULL_TABLE, KVP_OP_GRANT, true, false, KVP_DRIVER_BYTES,
	  KVP_EEXHAUSTED, "no more; after" },
	{ FULL_TABLE, KVP_OP_MAP, false, false, KVP_DRIVER_BYTES,
	  KVP_EEXHAUSTED, "no more; after" },
	{ FULL_TABLE, KVP_OP_CREATE, false, false, KVP_DRIVER_BYTES + G,
	  KVP_EEXHAUSTED, "no more; after" },
	{ FULL_TABLE, KVP_OP_CREATE, false, false, KVP_DRIVER_BYTES + G - 1,
	  KVP_EEXHAUSTED, "no more: memory is short: 4096 bytes are asked "
	  "for, host memory 0 has 2101247 free, of which the driver keeps "
	  "2097152; after" },
	{ FULL_TABLE, KVP_OP_CREATE, true, false, G, KVP_EEXHAUSTED,
	  "no more; after" },
};
#define CAUSES (sizeof(causes) / sizeof(*causes))

START_TEST(out_of_memory_is_judged_by_entries_and_bytes)
{
	struct rig rig;
	char text[1024];

	snprintf(text, sizeof(text), FULL "%s", causes[_i].changes);
	rig_new(&rig, text, KVP_MERGE_ROW, 2);
	rig.options.over_limit = true;
	rig.seen.base.lazy = causes[_i].lazy;
	rig.seen.base.device.memory = little_memory;
	if (causes[_i].op == KVP_OP_GRANT)
		rig.seen.base.mapping.grant = exhausted_grant;
	else if (causes[_i].op == KVP_OP_MAP)
		rig.seen.base.mapping.map = exhausted_map;
	else
		rig.seen.base.mapping.create = exhausted_create;
	told_free = causes[_i].free_bytes;
	memory_unknown = causes[_i].unknown;
	memory_asked = 0;
	rig_fails(&rig, causes[_i].code, causes[_i].text);
	rig_release(&rig);
}
END_TEST

START_TEST(a_pair_without_peer_access_is_refused)
{
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 4);
	rig.seen.base.device.peer = no_peer;
	rig_refused(&rig, KVP_EREFUSED, "rank 3 (host memory 3) reads the KV "
		    "of rank 2 (host memory 2)");
	/* Nobody asks for what nobody reads. */
	rig.options.nranks = 2;
	rig_hold(&rig);
	rig_release(&rig);
}
END_TEST

/* What a rank of FULL takes, static storage included. */
static uint64_t needed_bytes(const struct kvp_plan *plan)
{
	uint64_t bytes = plan->dedicated_bytes + G + 2 * G;
	size_t i;

	for (i = 0; i < plan->nchunks; i++)
		bytes += plan->chunks[i].bytes;
	return bytes;
}

START_TEST(too_little_memory_is_refused_with_both_numbers)
{
	struct rig rig;
	char text[192];

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.seen.base.device.memory = some_memory;
	/* As if every device had memory of its own. */
	rig.seen.base.lazy = false;
	told_free = needed_bytes(&rig.plan) + KVP_DRIVER_BYTES - 1;
	snprintf(text, sizeof(text), "rank 1 needs %llu bytes with the "
		 "2097152 that the driver keeps free, host memory 1 has %llu "
		 "free, 1 too few", (unsigned long long)told_free + 1,
		 (unsigned long long)told_free);
	rig_refused(&rig, KVP_EREFUSED, text);
	told_free++;
	rig_hold(&rig);
	rig_release(&rig);
}
END_TEST

START_TEST(a_full_check_of_the_host_needs_memory_for_all)
{
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.seen.base.device.memory = some_memory;
	told_free = 2 * needed_bytes(&rig.plan) - G - 1;
	rig.options.check = KVP_CHECK_FULL;
	rig_refused(&rig, KVP_EREFUSED, "too few");
	rig.options.check = KVP_CHECK_QUICK;
	rig_hold(&rig);
	rig_release(&rig);
}
END_TEST

START_TEST(a_coarser_device_is_refused_with_what_would_work)
{
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.seen.base.device.device = coarse_device;
	rig_refused(&rig, KVP_EREFUSED, "rank 1: the plan's granularity is "
		    "4096 bytes, host memory 1 allocates in multiples of 8192;"
		    " plan with granularity 8192");
	rig_release(&rig);
}
END_TEST

START_TEST(a_device_that_cannot_be_read_is_named)
{
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.seen.base.device.device = bad_device;
	rig_refused(&rig, KVP_EDRIVER, "rank 1, ");
	ck_assert_ptr_nonnull(strstr(rig.err.text, "device: broken"));
	ck_assert_msg(!strstr(rig.err.text, ", , "), "%s", rig.err.text);
	rig_release(&rig);
}
END_TEST

static int bad_process(struct kvp_backend *b, const struct kvp_demand *demand,
		       struct kvp_process *process, struct kvp_error *err)
{
	(void)b, (void)demand, (void)process;
	err->code = KVP_EDRIVER;
	strcpy(err->text, "process: broken");
	return KVP_EDRIVER;
}

/* Devices that have memory of their own are not asked for them. */
START_TEST(limits_of_the_process_that_cannot_be_read_are_told)
{
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.seen.base.device.process = bad_process;
	rig_refused(&rig, KVP_EDRIVER, "rank 0, device 0, reading the "
		    "process's limits: process: broken");
	ck_assert_uint_eq(rig.model.events, 0);
	rig.seen.base.lazy = false;
	rig_hold(&rig);
	rig_release(&rig);
}
END_TEST

START_TEST(more_entries_than_the_limit_are_refused)
{
	struct rig rig;
	uint64_t need;
	char text[64];

	rig_new(&rig, FULL "entry_limit=4206", KVP_MERGE_ROW, 4);
	need = kvp_realize_entries(&rig.plan, &rig.options);
	snprintf(text, sizeof(text), "mode row needs %llu of 110 table "
		 "entries, %llu too many", (unsigned long long)need,
		 (unsigned long long)need - 110);
	rig_refused(&rig, KVP_EENTRIES, text);
	rig.options.over_limit = true;
	rig_hold(&rig);
	ck_assert_int_eq(kvp_realization_free(rig.r, &rig.err), KVP_OK);
	rig.r = NULL;
	/* Fewer ranks have fewer readers. */
	rig.options.over_limit = false;
	rig.options.nranks = 1;
	rig_hold(&rig);
	rig_release(&rig);
}
END_TEST

/* In the order of what has to be mended first; a mended one is not told. */
START_TEST(all_that_stands_in_the_way_is_told_at_once)
{
	struct rig rig;

	rig_new(&rig, FULL "entry_limit=4206", KVP_MERGE_ROW, 4);
	rig.seen.base.device.device = coarse_device;
	rig.seen.base.device.peer = no_peer;
	rig.seen.base.device.memory = some_memory;
	rig.seen.base.lazy = false;
	told_free = G;
	rig_refused(&rig, KVP_EENTRIES, "mode row needs ");
	check_order(rig.err.text, (const char *const[]){ "mode row needs ",
		"; also: rank 0 needs ", "; also: rank 3 (host memory 3) "
		"reads the KV of rank 2 (host memory 2)", "; also: rank 1: the "
		"plan's granularity is 4096 bytes", NULL });
	rig.options.over_limit = true;
	told_free = needed_bytes(&rig.plan);
	rig_refused(&rig, KVP_EREFUSED, "rank 3 (host memory 3) reads");
	check_order(rig.err.text, (const char *const[]){
		"rank 3 (host memory 3) reads", "; also: rank 1: the plan's granularity", NULL });
	alter_backend(&rig.seen, rig.host);
	rig.seen.base.lazy = false;
	rig_hold(&rig);
	rig_release(&rig);
}
END_TEST

START_TEST(every_device_with_too_little_memory_is_told)
{
	struct rig rig;
	char text[160];

	rig_new(&rig, FULL, KVP_MERGE_ROW, 4);
	rig.seen.base.device.memory = some_memory;
	rig.seen.base.lazy = false;
	told_free = needed_bytes(&rig.plan) - G - 1;
	snprintf(text, sizeof(text), "free memory there or plan fewer pages; "
		 "too few as well: rank 1 has %llu, rank 2 has %llu, rank 3 "
		 "has %llu", (unsigned long long)told_free,
		 (unsigned long long)(told_free + G),
		 (unsigned long long)(told_free + G));
	rig_refused(&rig, KVP_EREFUSED, text);
	rig_release(&rig);
}
END_TEST

START_TEST(what_the_driver_keeps_has_to_be_free_too)
{
	struct rig rig;

	rig_new(&rig, "row_bytes=4096;row_stride=4096;execution_rows=0;"
		"planes=[{'name':'a','bytes_per_page':4096}];pages=61;"
		"snapshot_rows=61", KVP_MERGE_NONE, 1);
	rig.seen.base.device.memory = some_memory;
	rig.seen.base.lazy = false;
	/* Device 0 has a granule more than is told. */
	told_free = 61 * G + KVP_DRIVER_BYTES - G;
	rig_hold(&rig);
	kvp_realization_free(rig.r, NULL);
	rig.r = NULL;
	told_free--;
	rig_refused(&rig, KVP_EREFUSED,
		    "rank 0 needs 2347008 bytes with the 2097152 that the "
		    "driver keeps free, host memory 0 has 2347007 free, 1 too "
		    "few; leave that much");
	/* This machine's memory has no driver. */
	rig.seen.base.lazy = true;
	rig_hold(&rig);
	rig_release(&rig);
}
END_TEST

/* Planes of 2^45 bytes and an arena over them: one rank has addresses, two
   do not. */
START_TEST(more_addresses_than_there_are_are_refused)
{
	struct rig rig;

	rig_new(&rig, "pages=8589934592;snapshot_rows=0;execution_rows=0;"
		"row_bytes=;row_stride=;planes=[{'name':'a','count':2,"
		"'bytes_per_page':4096}]", KVP_MERGE_ROW, 3);
	rig_refused(&rig, KVP_EREFUSED, "3 ranks need each 70368744177664 "
		    "bytes of addresses, a process has 140737488351232 "
		    "(2^47 - 4096); realize fewer ranks in one process");
	rig_release(&rig);
	rig_new(&rig, "pages=34359738369;snapshot_rows=0;execution_rows=0;"
		"row_bytes=;row_stride=;planes=[{'name':'a',"
		"'bytes_per_page':4096}]", KVP_MERGE_ROW, 1);
	rig_refused(&rig, KVP_EREFUSED, "1 rank needs 140737488359424 bytes of "
		    "addresses, a process has 140737488351232 (2^47 - "
		    "4096); plan fewer pages");
	rig_release(&rig);
}
END_TEST

/* A plane of 6 * 4096 bytes and an arena of 40960. */
static const struct {
	const char *changes, *text;
} ends_47[] = {
	{ "planes=[{'name':'a','bytes_per_page':4096,'address':"
	  "140737488326656},{'name':'b','count':2,'bytes_per_page':4096}];"
	  "arena_address=140737488285696", NULL },
	{ "planes=[{'name':'a','bytes_per_page':4096,'address':"
	  "140737488334848},{'name':'b','count':2,'bytes_per_page':4096}]",
	  "rank 0: plane a is recorded at 140737488334848 and ends at "
	  "140737488359424, addresses end at 140737488351232 (2^47 - 4096); "
	  "record 140737488326656 at most, or no address" },
	{ "arena_address=140737488318464", "rank 0: the row arena is recorded "
	  "at 140737488318464 and ends at 140737488359424" },
	{ "planes=[{'name':'a','bytes_per_page':4096,'address':"
	  "140737488355328},{'name':'b','bytes_per_page':4096,'address':"
	  "9007199254736896},{'name':'c','bytes_per_page':4096}];"
	  "arena_address=9007199254654976",
	  "record 140737488326656 at most, or no address; 2 more end too far" },
};
#define ENDS_47 (sizeof(ends_47) / sizeof(*ends_47))

START_TEST(recorded_addresses_end_within_2_to_the_47)
{
	struct rig rig;
	char text[1024];
	int code;

	snprintf(text, sizeof(text), "pages=6;row_bytes=8192;row_stride=8192;"
		 "execution_rows=1;snapshot_rows=4;%s", ends_47[_i].changes);
	rig_new(&rig, text, KVP_MERGE_ROW, 1);
	if (ends_47[_i].text) {
		rig_refused(&rig, KVP_EREFUSED, ends_47[_i].text);
	} else {
		/* This machine may have something there. */
		code = rig_realize(&rig);
		ck_assert_int_ne(code, KVP_EREFUSED);
	}
	rig_release(&rig);
}
END_TEST

static const struct {
	uint32_t device;
	enum kvp_flags flags;
	const char *text;
} wrong_flags[] = {
	{ 1, KVP_READWRITE, "reads back as 3, the plan says" },
	{ 1, KVP_NO_ACCESS, "reads back as 0, the plan says" },
	{ 0, KVP_READ, "reads back as 1, the plan says" },
};

START_TEST(access_is_read_back_and_believed_only_where_right)
{
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.seen.base.mapping.granted = false_granted;
	false_device = wrong_flags[_i].device;
	false_flags = wrong_flags[_i].flags;
	rig_fails(&rig, KVP_EFAILED, wrong_flags[_i].text);
	rig_release(&rig);
}
END_TEST

static const char *published_text(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t len = f ? fread(text, 1, size - 1, f) : 0;

	if (f)
		fclose(f);
	text[len] = '\0';
	return f ? text : NULL;
}

START_TEST(a_wrong_byte_publishes_nothing)
{
	static const enum kvp_check depths[] = { KVP_CHECK_QUICK,
						 KVP_CHECK_FULL };
	struct rig rig;
	char path[] = "/tmp/kvplan-realize-XXXXXX", text[64];
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "old", 3), 3);
	close(fd);
	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.seen.base.mapping.match = false_match;
	/* The last one alone: others are checked by then. */
	false_device = 1;
	rig.options.check = depths[_i];
	rig.options.publish = path;
	rig_fails(&rig, KVP_EFAILED, "");
	ck_assert(model_all(&rig.model, KVP_UNWOUND));
	ck_assert_str_eq(published_text(path, text, sizeof(text)), "old");
	alter_backend(&rig.seen, rig.host);
	rig_hold(&rig);
	ck_assert(model_all(&rig.model, KVP_PUBLISHED));
	ck_assert_ptr_nonnull(strstr(published_text(path, text, sizeof(text)),
				     "kvplan/capacity/1"));
	unlink(path);
	rig_release(&rig);
}
END_TEST

/* --- what is held --- */

static const struct {
	uint32_t first, count;
	enum kvp_merge merge;
	const char *access;
} parts[] = {
	{ 0, 4, KVP_MERGE_ROW, "" },
	{ 0, 4, KVP_MERGE_NONE, "dcp_group_size=4" },
	{ 1, 2, KVP_MERGE_SPAN, "" },
	{ 2, 2, KVP_MERGE_ROW, "access={'importer_mode': 'readwrite'}" },
	{ 3, 1, KVP_MERGE_ROW, "dcp_group_size=1" },
};
#define PARTS (sizeof(parts) / sizeof(*parts))

static void rig_part(struct rig *rig, int i)
{
	char text[1024];

	snprintf(text, sizeof(text), FULL "%s", parts[i].access);
	rig_new(rig, text, parts[i].merge, parts[i].count);
	rig->options.first_rank = parts[i].first;
	rig_hold(rig);
}

/* Does a rank read another's planes, by the plan, and is it here? */
static bool reads(const struct rig *rig, uint32_t owner, uint32_t rank)
{
	const struct kvp_ranks *readers = &rig->plan.access[owner].readers;
	size_t i;

	for (i = 0; i < readers->count; i++)
		if (readers->rank[i] == rank)
			return rank >= rig->options.first_rank &&
			       rank - rig->options.first_rank <
			       rig->options.nranks;
	return false;
}

static size_t readers_of(const struct rig *rig, uint32_t owner)
{
	size_t count = 0;
	uint32_t rank;

	for (rank = 0; rank < 4; rank++)
		count += reads(rig, owner, rank);
	return count;
}

static void check_record(const struct rig *rig,
			 const struct kvp_access_record *a)
{
	uint64_t chunks = 0;
	size_t i;

	for (i = 0; i < rig->plan.nchunks; i++)
		chunks += rig->plan.chunks[i].plane == a->plane;
	ck_assert_uint_eq(a->nreaders, readers_of(rig, a->rank));
	ck_assert_uint_eq(a->entries, chunks * a->nreaders);
	ck_assert_uint_eq(a->readers[0], a->rank);
	for (i = 0; i < a->nreaders; i++) {
		ck_assert(reads(rig, a->rank, a->readers[i]));
		/* Then the importers, ascending. */
		ck_assert(i < 2 || a->readers[i] > a->readers[i - 1]);
		ck_assert(!i || a->readers[i] != a->rank);
		ck_assert_uint_gt(a->free_before[i], 0);
		ck_assert_uint_gt(a->free_after[i], 0);
	}
}

START_TEST(one_record_per_rank_and_plane_states_its_exact_readers)
{
	struct rig rig;
	const struct kvp_access_record *a;
	size_t count, planes, i;

	rig_part(&rig, _i);
	planes = rig.plan.geometry.nplanes;
	a = kvp_realization_access(rig.r, &count);
	ck_assert_uint_eq(count, parts[_i].count * planes);
	for (i = 0; i < count; i++) {
		ck_assert_uint_eq(a[i].rank, parts[_i].first + i / planes);
		ck_assert_uint_eq(a[i].plane, i % planes);
		check_record(&rig, &a[i]);
		if (i % planes)
			ck_assert(!memcmp(a[i].free_before,
					  a[i - 1].free_after, a[i].nreaders *
					  sizeof(*a[i].free_after)));
	}
	rig_release(&rig);
}
END_TEST

/* Free memory as observed: granting takes G from everybody every time. */
static uint64_t grants_made;

static int costly_grant(struct kvp_backend *b, uint64_t address,
			uint64_t bytes, const struct kvp_grant *grants,
			size_t count, struct kvp_error *err)
{
	struct kvp_backend *host = unaltered(b);

	grants_made++;
	return host->mapping.grant(host, address, bytes, grants, count, err);
}

static int shrinking_memory(struct kvp_backend *b, uint32_t device,
			    uint64_t *free_bytes, struct kvp_error *err)
{
	(void)b;
	(void)err;
	*free_bytes = (UINT64_C(1) << 40) + device - grants_made * G;
	return KVP_OK;
}

START_TEST(free_memory_is_observed_before_and_after_for_each_reader)
{
	struct rig rig;
	const struct kvp_access_record *a;
	size_t count, i, j, chunks;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 4);
	grants_made = 0;
	rig.seen.base.mapping.grant = costly_grant;
	rig.seen.base.device.memory = shrinking_memory;
	rig_hold(&rig);
	a = kvp_realization_access(rig.r, &count);
	for (i = 0; i < count; i++)
		for (j = 0; j < a[i].nreaders; j++) {
			chunks = a[i].entries / a[i].nreaders;
			ck_assert_uint_eq(a[i].free_before[j] -
					  a[i].free_after[j], chunks * G);
			ck_assert_uint_eq(a[i].free_before[j] % G,
					  a[i].readers[j]);
		}
	rig_release(&rig);
}
END_TEST

/* The flags a device has at an address. */
static enum kvp_flags flags_at(const struct rig *rig, uint64_t address,
			       uint32_t device)
{
	enum kvp_flags flags = KVP_NO_ACCESS;

	ck_assert_int_eq(rig->host->mapping.granted(rig->host, address, device,
						    &flags, NULL), KVP_OK);
	return flags;
}

START_TEST(every_mapping_has_exactly_the_flags_of_the_plan)
{
	struct rig rig;
	const struct kvp_chunk *c;
	enum kvp_flags import;
	uint32_t rank, other, first = parts[_i].first;
	size_t i;

	rig_part(&rig, _i);
	import = rig.plan.geometry.importer_mode == KVP_IMPORT_READ ?
		 KVP_READ : KVP_READWRITE;
	for (rank = first; rank < first + parts[_i].count; rank++)
		for (other = first; other < first + parts[_i].count; other++)
			for (i = 0; i < rig.plan.nchunks; i++) {
				c = &rig.plan.chunks[i];
				ck_assert_int_eq(flags_at(&rig,
					kvp_realization_plane(rig.r, rank,
					c->plane) + c->offset, other - first),
					rank == other ? KVP_READWRITE :
					reads(&rig, rank, other) ? import :
					KVP_NO_ACCESS);
				if (c->arena == KVP_UNALIASED)
					continue;
				/* The owner's alone. */
				ck_assert_int_eq(flags_at(&rig,
					kvp_realization_arena(rig.r, rank) +
					c->arena, other - first),
					rank == other ? KVP_READWRITE :
					KVP_NO_ACCESS);
			}
	for (other = 0; other < parts[_i].count; other++)
		ck_assert_int_eq(flags_at(&rig, kvp_realization_arena(rig.r,
				 first), other), other ? KVP_NO_ACCESS :
				 KVP_READWRITE);
	rig_release(&rig);
}
END_TEST

START_TEST(a_chunk_is_the_same_memory_in_plane_and_arena)
{
	struct rig rig;
	const struct kvp_chunk *c;
	uint32_t rank, device;
	uint64_t same;
	size_t i;

	rig_part(&rig, _i);
	for (device = 0; device < parts[_i].count; device++) {
		rank = parts[_i].first + device;
		for (i = 0; i < rig.plan.nchunks; i++) {
			c = &rig.plan.chunks[i];
			ck_assert(!rig.host->mapping.fill(rig.host, device,
				kvp_realization_plane(rig.r, rank, c->plane) +
				c->offset, c->bytes,
				(uint32_t)(0x01010101 * (i + 1) + rank),
				NULL));
		}
		ck_assert(!rig.host->device.synchronize(rig.host, device,
							NULL));
	}
	for (device = 0; device < parts[_i].count; device++) {
		rank = parts[_i].first + device;
		for (i = 0; i < rig.plan.nchunks; i++) {
			c = &rig.plan.chunks[i];
			if (c->arena == KVP_UNALIASED)
				continue;
			ck_assert(!rig.host->mapping.match(rig.host, device,
				kvp_realization_arena(rig.r, rank) + c->arena,
				c->bytes, (uint32_t)(0x01010101 * (i + 1) +
				rank), &same, NULL));
			ck_assert_uint_eq(same, c->bytes);
		}
	}
	rig_release(&rig);
}
END_TEST

START_TEST(entries_are_those_of_the_ranks_realized_here)
{
	struct rig rig;
	const struct kvp_plan *p = &rig.plan;
	uint64_t entries, aliased = 0;
	uint32_t rank;
	size_t i;

	rig_part(&rig, _i);
	for (i = 0; i < p->nchunks; i++)
		aliased += p->chunks[i].arena != KVP_UNALIASED;
	entries = p->geometry.static_entries;
	for (rank = parts[_i].first; rank < parts[_i].first + parts[_i].count;
	     rank++)
		/* x is the owner's, y everybody's. */
		entries += p->nchunks * readers_of(&rig, rank) + aliased + 1 +
			   1 + parts[_i].count;
	ck_assert_uint_eq(kvp_realization_entries(rig.r), entries);
	ck_assert_uint_eq(kvp_realize_entries(&rig.plan, &rig.options),
			  entries);
	ck_assert_uint_eq(rig.model.entries, entries);
	if (parts[_i].count == 4)
		ck_assert_uint_eq(entries, p->summary.per_node[0]);
	rig_release(&rig);
	ck_assert_uint_eq(rig.model.entries, 7);
}
END_TEST

static const struct {
	enum kvp_check check;
	bool publish;
	enum kvp_state last;
} ends[] = {
	{ KVP_CHECK_NONE, false, KVP_GRANTED },
	{ KVP_CHECK_QUICK, false, KVP_CHECKED },
	{ KVP_CHECK_FULL, true, KVP_PUBLISHED },
	{ KVP_CHECK_NONE, true, KVP_PUBLISHED },
};

START_TEST(every_rank_ends_in_the_state_asked_for)
{
	char path[] = "/tmp/kvplan-realize-XXXXXX";
	struct rig rig;
	uint32_t rank;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	rig_new(&rig, FULL, KVP_MERGE_ROW, 3);
	rig.options.check = ends[_i].check;
	rig.options.publish = ends[_i].publish ? path : NULL;
	rig_hold(&rig);
	ck_assert(model_all(&rig.model, ends[_i].last));
	for (rank = 0; rank < 3; rank++)
		ck_assert_int_eq(kvp_realization_state(rig.r, rank),
				 ends[_i].last);
	unlink(path);
	rig_release(&rig);
	ck_assert(model_all(&rig.model, KVP_UNWOUND));
}
END_TEST

START_TEST(calls_done_reaches_calls_total)
{
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 3);
	rig.options.check = ends[_i].check;
	rig_hold(&rig);
	ck_assert_uint_eq(rig.model.calls, rig.model.calls_total);
	rig_release(&rig);
}
END_TEST

START_TEST(preflight_tells_the_rank_it_asks_about)
{
	struct rig rig;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.options.first_rank = 2;
	rig.seen.base.device.device = bad_device;
	rig_refused(&rig, KVP_EDRIVER, "rank 3, ");
	ck_assert_uint_eq(rig.model.cause_rank, 3);
	rig_release(&rig);
}
END_TEST

START_TEST(devices_are_given_rank_by_rank)
{
	static const uint32_t devices[] = { 3, 1 };
	struct rig rig;
	char *text;
	size_t len;

	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.options.devices = devices;
	rig.options.check = KVP_CHECK_FULL;
	rig_hold(&rig);
	ck_assert_int_eq(flags_at(&rig, kvp_realization_plane(rig.r, 0, 0),
				  3), KVP_READWRITE);
	ck_assert_int_eq(flags_at(&rig, kvp_realization_plane(rig.r, 0, 0),
				  1), KVP_READ);
	ck_assert_int_eq(flags_at(&rig, kvp_realization_plane(rig.r, 0, 0),
				  0), KVP_NO_ACCESS);
	ck_assert(!kvp_realization_write(rig.r, true, &text, &len, NULL));
	ck_assert_uint_eq(strlen(text), len);
	ck_assert_ptr_nonnull(strstr(text, "\"rank\":0,\"device\":3"));
	ck_assert_ptr_nonnull(strstr(text, "\"rank\":1,\"device\":1"));
	free(text);
	rig_release(&rig);
}
END_TEST

START_TEST(only_a_whole_plan_has_a_capacity)
{
	struct rig rig;
	char *text;
	size_t len;
	bool whole;

	rig_part(&rig, _i);
	whole = parts[_i].count == 4;
	ck_assert(!kvp_realization_write(rig.r, false, &text, &len, NULL));
	ck_assert_int_eq(strstr(text, "\"capacity\":") != NULL, whole);
	ck_assert_int_eq(strstr(text, "\"complete\":true") != NULL, whole);
	ck_assert_int_eq(strstr(text, "\"complete\":false") != NULL, !whole);
	ck_assert_ptr_null(strstr(text, "\"access\":"));
	free(text);
	rig_release(&rig);
}
END_TEST

#define PLACED FULL "arena_address=" FAR ";planes=" \
	"[{'name': 'a', 'bytes_per_page': 4096, 'address': 35185445830656}," \
	" {'name': 'b', 'count': 2, 'bytes_per_page': 4096}];" \
	"row_bytes=8192;row_stride=8192"

START_TEST(recorded_addresses_are_got_or_realizing_fails)
{
	struct rig rig;

	rig_new(&rig, PLACED, KVP_MERGE_ROW, 1);
	rig_hold(&rig);
	ck_assert_uint_eq(kvp_realization_arena(rig.r, 0),
			  UINT64_C(35184372088832));
	ck_assert_uint_eq(kvp_realization_plane(rig.r, 0, 0),
			  UINT64_C(35185445830656));
	ck_assert_int_eq(kvp_realization_free(rig.r, &rig.err), KVP_OK);
	/* A second rank cannot have them too. */
	rig.options.nranks = 2;
	ck_assert_int_lt(rig_realize(&rig), 0);
	ck_assert_ptr_null(rig.r);
	rig_release(&rig);
}
END_TEST

START_TEST(nothing_is_given_back_and_nothing_realized_without_trouble)
{
	struct kvp_error err = { 0 };
	struct rig rig;

	ck_assert_int_eq(kvp_realization_free(NULL, &err), KVP_OK);
	/* Neither events nor an error are wanted. */
	rig_new(&rig, FULL, KVP_MERGE_ROW, 2);
	rig.options.event = NULL;
	ck_assert(!kvp_realize(&rig.r, &rig.plan, rig.verdict, &rig.seen.base,
			       &rig.options, NULL));
	ck_assert(!kvp_realization_free(rig.r, NULL));
	rig.options.first_rank = 9;
	ck_assert_int_eq(kvp_realize(&rig.r, &rig.plan, rig.verdict,
				     &rig.seen.base,
				     &rig.options, NULL), KVP_EREFUSED);
	rig.options.first_rank = 0;
	rig.seen.base.device.peer = no_peer;
	rig.options.nranks = 4;
	ck_assert_int_eq(kvp_realize(&rig.r, &rig.plan, rig.verdict,
				     &rig.seen.base,
				     &rig.options, NULL), KVP_EREFUSED);
	rig_release(&rig);
}
END_TEST

START_TEST(a_realization_can_be_made_again_on_the_same_backend)
{
	struct rig rig;
	int i;

	rig_new(&rig, FULL, KVP_MERGE_SPAN, 4);
	rig.options.check = KVP_CHECK_FULL;
	for (i = 0; i < 3; i++) {
		rig_hold(&rig);
		ck_assert_int_eq(kvp_realization_free(rig.r, &rig.err),
				 KVP_OK);
		rig.r = NULL;
	}
	rig_release(&rig);
}
END_TEST

/* The least is that of neither the first nor the last. */
static int uneven_memory(struct kvp_backend *b, uint32_t device,
			 uint64_t *free_bytes, struct kvp_error *err)
{
	static const uint64_t mib[] = { 9000, 400, 200, 9000 };

	(void)b;
	(void)err;
	*free_bytes = mib[device] << 20;
	return KVP_OK;
}

/* How many of 0, 1 and 2 are open. */
static int standard_count(void)
{
	int fd, count = 0;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static int realize_without_standard(void)
{
	struct kvp_file_out file;
	struct rig rig;
	int fd, held, written;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	rig_new(&rig, FULL, KVP_MERGE_ROW, 4);
	if (rig_realize(&rig))
		return 8;
	held = standard_count();
	if (kvp_file_begin(&file, "/dev/null", NULL))
		return 16;
	written = standard_count();
	kvp_file_abandon(&file);
	rig_release(&rig);
	return held ? 32 | held : written ? 64 | written : 0;
}

/* What somebody prints must not land in KV memory or in a file. */
START_TEST(closed_standard_descriptors_stay_closed)
{
	host_in_child(realize_without_standard);
}
END_TEST

START_TEST(the_device_with_the_least_left_sets_the_published_cap)
{
	struct rig rig;
	struct kvp_cap cap;
	uint64_t left;
	char *text;
	size_t len;

	rig_new(&rig, "ranks=4;dcp_group_size=2", KVP_MERGE_ROW, 4);
	rig.seen.base.device.memory = uneven_memory;
	rig_hold(&rig);
	cap = kvp_realization_cap(rig.r, 1, &left);
	ck_assert_uint_eq(left, UINT64_C(400) << 20);
	ck_assert_uint_eq(cap.bytes, UINT64_C(64) << 20);
	ck_assert_int_eq(kvp_realization_write(rig.r, false, &text, &len,
					       NULL), KVP_OK);
	ck_assert_ptr_nonnull(strstr(strstr(text, "\"capacity\":"),
		"\"headroom\":{\"free_bytes\":209715200,"
		"\"cap_bytes\":67108864,\"term\":\"floor\"}},"));
	free(text);
	rig_release(&rig);
}
END_TEST

Suite *realize_suite(void)
{
	Suite *suite = suite_create("realize");
	TCase *refused = tcase_create("refused");
	TCase *held = tcase_create("held");

	tcase_add_loop_test(refused,
		a_plan_that_changed_after_it_was_verified_is_refused, 0,
		CHANGES);
	tcase_add_test(refused,
		a_reader_that_changed_after_it_was_verified_is_refused);
	tcase_add_test(refused, a_verdict_of_another_plan_is_refused);
	tcase_add_test(refused, a_bad_verdict_is_refused);
	tcase_add_test(refused,
		ranks_and_devices_that_are_not_there_are_refused);
	tcase_add_test(refused, ranks_of_two_nodes_are_refused);
	tcase_add_test(refused, a_pair_without_peer_access_is_refused);
	tcase_add_test(refused,
		too_little_memory_is_refused_with_both_numbers);
	tcase_add_test(refused, a_full_check_of_the_host_needs_memory_for_all);
	tcase_add_test(refused,
		a_coarser_device_is_refused_with_what_would_work);
	tcase_add_test(refused, a_device_that_cannot_be_read_is_named);
	tcase_add_test(refused,
		limits_of_the_process_that_cannot_be_read_are_told);
	tcase_add_test(refused, more_entries_than_the_limit_are_refused);
	tcase_add_test(refused, all_that_stands_in_the_way_is_told_at_once);
	tcase_add_test(refused, every_device_with_too_little_memory_is_told);
	tcase_add_test(refused, what_the_driver_keeps_has_to_be_free_too);
	tcase_add_test(refused, more_addresses_than_there_are_are_refused);
	tcase_add_loop_test(refused, recorded_addresses_end_within_2_to_the_47,
			    0, ENDS_47);
	tcase_add_loop_test(refused,
		out_of_memory_is_judged_by_entries_and_bytes, 0, CAUSES);
	tcase_add_loop_test(refused,
		access_is_read_back_and_believed_only_where_right, 0, 3);
	tcase_add_loop_test(refused, a_wrong_byte_publishes_nothing, 0, 2);
	suite_add_tcase(suite, refused);
	tcase_add_loop_test(held,
		one_record_per_rank_and_plane_states_its_exact_readers, 0,
		PARTS);
	tcase_add_test(held,
		free_memory_is_observed_before_and_after_for_each_reader);
	tcase_add_loop_test(held,
		every_mapping_has_exactly_the_flags_of_the_plan, 0, PARTS);
	tcase_add_loop_test(held,
		a_chunk_is_the_same_memory_in_plane_and_arena, 0, PARTS);
	tcase_add_loop_test(held,
		entries_are_those_of_the_ranks_realized_here, 0, PARTS);
	tcase_add_loop_test(held, every_rank_ends_in_the_state_asked_for, 0,
		4);
	tcase_add_loop_test(held, calls_done_reaches_calls_total, 0, 3);
	tcase_add_test(held, preflight_tells_the_rank_it_asks_about);
	tcase_add_test(held,
		the_device_with_the_least_left_sets_the_published_cap);
	tcase_add_test(held, closed_standard_descriptors_stay_closed);
	tcase_add_test(held, devices_are_given_rank_by_rank);
	tcase_add_loop_test(held, only_a_whole_plan_has_a_capacity, 0, PARTS);
	tcase_add_test(held, recorded_addresses_are_got_or_realizing_fails);
	tcase_add_test(held,
		nothing_is_given_back_and_nothing_realized_without_trouble);
	tcase_add_test(held,
		a_realization_can_be_made_again_on_the_same_backend);
	suite_add_tcase(suite, held);
	return suite;
}
