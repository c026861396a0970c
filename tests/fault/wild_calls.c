/*
 * Every public function with wild values by value: enums that are none,
 * ranks, planes, pages, devices, handles and addresses that are not there,
 * numbers far too large.  A function answers with a code, or with 0 or "?"
 * where it has none; it never reads outside, aborts or hangs.  Best built
 * with sanitizers.  Plans with wild values inside are wild_plans.c's.
 *
 * usage: wild_calls [cuda]   (cuda: libcuda.so.1 is the stand-in)
 *
 * tests/gates/fields.sh compares the functions called here with the headers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/kvplan.h>

#define LAYOUT "layouts/example.json"

static struct {
	struct kvp_geometry g;
	struct kvp_plan plan;
	struct kvp_verdict *verdict;
	struct kvp_backend *host;
	unsigned passed, failed;
} run;

static void demand(bool holds, const char *what, long long value)
{
	run.passed += holds;
	run.failed += !holds;
	if (!holds)
		printf("FAIL %s with %lld\n", what, value);
}

/* The value at hand is `v`. */
#define HOLDS(condition) demand(condition, #condition, (long long)v)
#define GIVES(code, call) demand((call) == (code), #call, (long long)v)

static const int enums[] = { -1, 99, INT32_MAX, INT32_MIN };
static const uint64_t numbers[] = {
	UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 47, KVP_NUMBER_MAX,
	KVP_NUMBER_MAX + 1, UINT64_C(1) << 63, UINT64_MAX - 4095,
	UINT64_MAX - 1, UINT64_MAX,
};

/* Past what the compiler knows of an enum's values. */
#define SET_ENUM(is, value) memcpy(&(is), &(value), sizeof(is))

/* --- enums --- */

static void call_names(int v)
{
	enum kvp_merge merge, found = KVP_MERGE_NONE;
	enum kvp_cap_term term;
	enum kvp_state state;
	enum kvp_rule rule, same = KVP_RULE_ROWS;

	SET_ENUM(merge, v);
	SET_ENUM(term, v);
	SET_ENUM(state, v);
	SET_ENUM(rule, v);
	HOLDS(!strcmp(kvp_merge_name(merge), "?"));
	HOLDS(!strcmp(kvp_cap_term_name(term), "?"));
	HOLDS(!strcmp(kvp_state_name(state), "?"));
	HOLDS(!strcmp(kvp_rule_name(rule), "?"));
	HOLDS(!strcmp(kvp_rule_statement(rule), "?"));
	HOLDS(!strcmp(kvp_code_name(v), "KVP_?"));
	HOLDS(!kvp_rule_is_advisory(rule));
	GIVES(KVP_EINPUT, kvp_merge_find("", &found));
	GIVES(KVP_EINPUT, kvp_rule_find("?", &same));
}

static void call_geometry(int v)
{
	struct kvp_geometry copy = { 0 };
	char *text = NULL;
	size_t len = 0;

	GIVES(KVP_OK, kvp_geometry_copy(&copy, &run.g, NULL));
	SET_ENUM(copy.importer_mode, v);
	HOLDS(kvp_geometry_compare(&run.g, &copy, NULL, NULL) == 1);
	GIVES(KVP_EINPUT, kvp_geometry_write(&copy, &text, &len, NULL));
	HOLDS(!text);
	copy.importer_mode = run.g.importer_mode;
	SET_ENUM(copy.statics[0].importers, v);
	HOLDS(kvp_geometry_compare(&copy, &run.g, NULL, NULL) == 1);
	GIVES(KVP_EINPUT, kvp_geometry_write(&copy, &text, &len, NULL));
	kvp_geometry_release(&copy);
}

static void call_plan(int v)
{
	struct kvp_verify_options options;
	struct kvp_verdict *verdict = NULL;
	struct kvp_plan plan = { 0 }, copy = run.plan;
	enum kvp_merge merge;
	char *text = NULL;
	size_t len = 0;

	SET_ENUM(merge, v);
	GIVES(KVP_EINPUT, kvp_plan_make(&plan, &run.g, merge, NULL));
	HOLDS(!plan.nchunks && !plan.geometry.name);
	SET_ENUM(copy.merge, v);
	GIVES(KVP_EINPUT, kvp_plan_write(&copy, &text, &len, NULL));
	HOLDS(!kvp_verdict_is_for(run.verdict, &copy));
	kvp_verify_options_init(&options);
	SET_ENUM(options.severity[KVP_RULE_MERGE], v);
	GIVES(KVP_EINPUT, kvp_verify(&run.plan, &options, &verdict, NULL));
	HOLDS(!verdict && !text);
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
}

static void call_finding(int v)
{
	struct kvp_finding f = { .what = "is", .stated = 1, .expected = 2 };
	char text[64];

	SET_ENUM(f.rule, v);
	SET_ENUM(f.place, v);
	SET_ENUM(f.relation, v);
	HOLDS(kvp_finding_text(&f, text, sizeof(text)) < sizeof(text));
	HOLDS(!strcmp(text, "?: ?[0]: is 1, expected ?2"));
	HOLDS(kvp_finding_text(&f, NULL, 0) == strlen(text));
}

static void call_limits(int v)
{
	struct kvp_limits_device device = { .granularity = 0 };
	struct kvp_limits limits = { .devices = &device, .ndevices = 1 };
	bool peers = true;
	char *text = NULL;
	size_t len = 0;

	limits.peers = &peers;
	SET_ENUM(limits.ability[1].works, v);
	GIVES(KVP_EINPUT, kvp_limits_write(&limits, &text, &len, NULL));
	HOLDS(!text);
	GIVES(KVP_EREFUSED, kvp_limits_check(&limits, &run.g, NULL));
	limits.entries_counted = true;
	limits.entries_free = (uint64_t)(int64_t)v;
	HOLDS(kvp_limits_entry_limit(&limits, &run.g) <= KVP_ENTRIES_MAX);
	limits = (struct kvp_limits){ .driver = "" };
	kvp_limits_release(&limits);
}

static void call_memory_limit(int v)
{
	struct kvp_memory_limit limit = { .bytes = 1 };
	uint64_t free_bytes = UINT64_C(1) << 40;
	struct kvp_size_wish wish;
	struct kvp_size size;

	kvp_size_wish_init(&wish);
	wish.free_bytes = &free_bytes;
	wish.nfree = 1;
	SET_ENUM(wish.limit.kind, v);
	GIVES(KVP_EINPUT, kvp_size_find(&size, &run.g, &wish, NULL));
	SET_ENUM(limit.kind, v);
	HOLDS(kvp_memory_limit_apply(&limit, 100) == 0);
	limit.kind = KVP_LIMIT_PERCENT;
	limit.percent = (uint32_t)v | 128;
	HOLDS(kvp_memory_limit_apply(&limit, free_bytes) == free_bytes);
	GIVES(KVP_EINPUT, kvp_memory_limit_read(&limit, "", NULL));
}

static void call_realize(int v)
{
	struct kvp_realize_options options = { .nranks = 1 };
	struct kvp_realization *r = NULL;

	SET_ENUM(options.check, v);
	GIVES(KVP_EINPUT, kvp_realize(&r, &run.plan, run.verdict, run.host,
				      &options, NULL));
	options.check = KVP_CHECK_NONE;
	SET_ENUM(options.handle_type, v);
	GIVES(KVP_EINPUT, kvp_realize(&r, &run.plan, run.verdict, run.host,
				      &options, NULL));
	HOLDS(!r);
	GIVES(KVP_OK, kvp_realization_free(r, NULL));
}

/* --- ranks, planes, pages, rows --- */

static void ask(const struct kvp_realization *r, uint64_t v)
{
	uint32_t wild = (uint32_t)v | 1U << 31;
	uint64_t left = 1;
	struct kvp_cap cap = kvp_realization_cap(r, wild, &left);
	char *text = NULL;
	size_t len = 0, count = 0;

	HOLDS(!left && cap.bounded && !cap.bytes);
	HOLDS(!kvp_realization_plane(r, wild, 0));
	HOLDS(!kvp_realization_plane(r, 0, wild));
	HOLDS(!kvp_realization_plane(r, 1, 0));
	HOLDS(!kvp_realization_arena(r, wild));
	HOLDS(kvp_realization_state(r, wild) == KVP_IDLE);
	HOLDS(kvp_realization_access(r, &count) && count == run.g.nplanes);
	HOLDS(kvp_realization_entries(r));
	GIVES(KVP_OK, kvp_realization_write(r, false, &text, &len, NULL));
	free(text);
}

static void call_join(uint64_t v)
{
	const struct kvp_capacity_part part = { "", "", 0 };
	char *text = NULL;
	size_t len = 1;

	GIVES(KVP_EINPUT, kvp_capacity_join(NULL, 0, true, &text, &len, NULL));
	HOLDS(!text && !len);
	GIVES(KVP_ELIMIT, kvp_capacity_join(&part, (size_t)v | 1U << 31, true,
					    &text, &len, NULL));
	GIVES(KVP_ESYNTAX, kvp_capacity_join(&part, 1, true, &text, &len,
					     NULL));
	HOLDS(!text && !len);
}

static void call_ranks(uint64_t v)
{
	struct kvp_realize_options options = { .nranks = (uint32_t)v };
	struct kvp_realization *r = NULL;
	struct kvp_addresses *addresses = NULL;
	uint32_t device = (uint32_t)v | 4;

	if (!options.nranks)
		return;
	options.nranks |= 1U << 31;
	HOLDS(!kvp_realize_entries(&run.plan, &options));
	GIVES(KVP_EREFUSED, kvp_realize(&r, &run.plan, run.verdict, run.host,
					&options, NULL));
	options.first_rank = options.nranks;
	options.nranks = 1;
	HOLDS(!kvp_realize_entries(&run.plan, &options));
	GIVES(KVP_EREFUSED, kvp_realize(&r, &run.plan, run.verdict, run.host,
					&options, NULL));
	options = (struct kvp_realize_options){ .nranks = 1,
						.devices = &device };
	GIVES(KVP_EREFUSED, kvp_realize(&r, &run.plan, run.verdict, run.host,
					&options, NULL));
	options = (struct kvp_realize_options){ .nranks = 1 };
	options.cap = (struct kvp_cap_override){ true, true, v };
	GIVES(KVP_OK, kvp_realize(&r, &run.plan, run.verdict, run.host,
				  &options, NULL));
	if (r)
		ask(r, v);
	GIVES(KVP_OK, kvp_realization_free(r, NULL));
	GIVES(KVP_ESYNTAX, kvp_addresses_read(&addresses, "", "", 0, NULL));
	kvp_addresses_free(addresses);
	call_join(v);
}

/* Blobs and options of any bytes. */
static void call_share(uint64_t v)
{
	struct kvp_share_options o = {
		.realize = { .first_rank = (uint32_t)v,
			     .nranks = (uint32_t)v | 1U << 31 },
	};
	struct kvp_share_blob blobs[2], second;
	struct kvp_share *s = NULL;

	memset(blobs, (int)(v & 0xff) | 1, sizeof(blobs));
	GIVES(KVP_EINPUT, kvp_share_begin(&s, &run.plan, run.verdict, run.host,
					  &o, &second, NULL));
	GIVES(KVP_EINPUT, kvp_share_exchange(s, blobs, 2, &second, NULL));
	GIVES(KVP_EINPUT, kvp_share_commit(s, blobs, 2, NULL));
	GIVES(KVP_OK, kvp_share_free(s, NULL));
	o.realize.nranks = 1;
	o.realize.first_rank = 0;
	GIVES(KVP_OK, kvp_share_begin(&s, &run.plan, run.verdict, run.host, &o,
				      &second, NULL));
	GIVES(KVP_EREFUSED, kvp_share_exchange(s, blobs, 2, &second, NULL));
	GIVES(KVP_EREFUSED, kvp_share_commit(s, blobs, v, NULL));
	HOLDS(kvp_share_state(s) == KVP_UNWOUND && !kvp_share_realization(s));
	HOLDS(!kvp_share_plane(s, (uint32_t)v, (uint32_t)v));
	GIVES(KVP_OK, kvp_share_free(s, NULL));
	/* Without memory there is no struct. */
	HOLDS(kvp_share_state(NULL) == KVP_UNWOUND);
	GIVES(KVP_ENOMEM, kvp_share_exchange(NULL, blobs, 2, &second, NULL));
	GIVES(KVP_ENOMEM, kvp_share_commit(NULL, blobs, 2, NULL));
	GIVES(KVP_OK, kvp_share_free(NULL, NULL));
}

static void call_owners(uint64_t v)
{
	struct kvp_owners *o = NULL;

	GIVES(KVP_OK, kvp_owners_new(&o, &run.plan, NULL));
	if (!o)
		return;
	GIVES(KVP_EINPUT, kvp_owners_acquire_page(o, v, NULL));
	GIVES(KVP_EINPUT, kvp_owners_release_page(o, v, NULL));
	GIVES(KVP_EINPUT, kvp_owners_acquire_row(o, v, NULL));
	GIVES(KVP_EINPUT, kvp_owners_release_row(o, v, NULL));
	GIVES(KVP_EINPUT, kvp_owners_acquire_page(o, run.g.pages, NULL));
	GIVES(KVP_EINPUT, kvp_owners_acquire_row(o, run.g.snapshot_rows,
						 NULL));
	HOLDS(!kvp_owners_page_is_free(o, v) && !kvp_owners_row_is_free(o, v));
	kvp_owners_free(o);
}

/* --- numbers --- */

static void call_headroom(uint64_t v)
{
	struct kvp_cap_override o = { true, true, v };
	struct kvp_cap cap = kvp_cap_plan(&v, NULL);

	HOLDS(cap.bounded && cap.bytes <= KVP_CAP_CEILING_BYTES);
	HOLDS(kvp_cap_left(&cap, v) == v - cap.bytes);
	HOLDS(kvp_cap_free_needed(v) == UINT64_MAX);
	cap = kvp_cap_plan(NULL, &o);
	HOLDS(cap.bytes == v && !kvp_cap_left(&cap, 1));
	GIVES(KVP_EINPUT, kvp_cap_override_read(&o, "", "-1", NULL));
}

static void call_size(uint64_t v)
{
	struct kvp_concurrency c;
	struct kvp_geometry g = { 0 };
	struct kvp_size_wish wish;
	struct kvp_size size = { .bounded = true, .left_bytes = v,
				 .pages = v, .snapshot_rows = v };
	int code;

	kvp_size_wish_init(&wish);
	wish.pages = v;
	wish.snapshots = v;
	wish.cache_bytes = v;
	GIVES(KVP_OK, kvp_geometry_copy(&g, &run.g, NULL));
	kvp_size_apply(&size, NULL, &g);
	HOLDS(g.pages == v && g.headroom.free_bytes == v);
	code = kvp_size_find(&size, &run.g, &wish, NULL);
	HOLDS(code && !size.pages);
	wish.free_bytes = &v;
	wish.nfree = 1;
	(void)kvp_size_find(&size, &run.g, &wish, NULL);
	GIVES(KVP_OK, kvp_size_concurrency(&c, &run.plan, v, NULL));
	HOLDS(c.pages_each && !c.sequences);
	kvp_geometry_release(&g);
}

static void call_import(uint64_t v)
{
	static const uint64_t layers[KVP_IMPORT_STAGES_MAX];
	struct kvp_import_options o;
	uint64_t *const numbers_of[] = {
		&o.tp, &o.dcp, &o.ranks_per_node, &o.page_tokens,
		&o.execution_rows, &o.snapshot_rows, &o.pages, &o.spec_tokens,
		&o.mtp_layers, &o.stage, &o.stages,
	};
	char *geometry = NULL, *derivation = NULL;
	size_t len[2], i;

	for (i = 0; i < sizeof(numbers_of) / sizeof(*numbers_of); i++) {
		kvp_import_options_init(&o);
		o.tp = 1;
		*numbers_of[i] = v;
		o.stage_layers = i == 10 ? layers : NULL;
		HOLDS(kvp_import(&geometry, &len[0], &derivation, &len[1], "",
				 "{}", 2, &o, NULL) && !geometry);
		free(geometry);
		free(derivation);
	}
	HOLDS(!kvp_import_family((size_t)v));
}

static void call_probe(uint64_t v)
{
	struct kvp_probe_options options = { .max_entries = v };
	struct kvp_limits limits;
	uint32_t device = (uint32_t)v | 1U << 31;

	GIVES(KVP_EINPUT, kvp_probe_run(&limits, NULL, 0, &options, NULL));
	HOLDS(!limits.ndevices);
	options.max_entries = 1;
	HOLDS(kvp_probe_run(&limits, &device, 1, &options, NULL));
}

/* --- backends --- */

/* What a machine may have after all is given back. */
static void call_memory(struct kvp_backend *b, uint64_t v)
{
	struct kvp_create create = { .bytes = v };
	kvp_handle handle;
	uint64_t at;

	if (!b->mapping.reserve(b, v, v, &at, NULL))
		GIVES(KVP_OK, b->mapping.unreserve(b, at, v, NULL));
	if (!b->mapping.reserve(b, v, 0, &at, NULL))
		GIVES(KVP_OK, b->mapping.unreserve(b, at, v, NULL));
	if (!b->mapping.create(b, &create, &handle, NULL))
		GIVES(KVP_OK, b->mapping.release(b, handle, NULL));
}

static void call_verbs(struct kvp_backend *b, uint64_t v)
{
	struct kvp_create create = { .device = (uint32_t)v | 1U << 31,
				     .bytes = v };
	struct kvp_grant grant = { .device = create.device };
	uint32_t device = create.device;
	struct kvp_demand much = { .devices = device, .reservations = v };
	struct kvp_shared shared = { .fd = -1, .offset = v, .bytes = v };
	struct kvp_process process;
	struct kvp_device_info info;
	enum kvp_flags flags;
	uint64_t got = 0;
	bool can;

	HOLDS(b->device.device(b, device, &info, NULL));
	HOLDS(b->device.peer(b, device, 0, &can, NULL));
	HOLDS(b->device.peer(b, 0, device, &can, NULL));
	HOLDS(b->device.memory(b, device, &got, NULL));
	HOLDS(b->device.synchronize(b, device, NULL));
	much.mappings = v;
	much.descriptors = v;
	(void)b->device.process(b, &much, &process, NULL);
	HOLDS(b->mapping.reserve(b, v | 1, v, &got, NULL));
	HOLDS(b->mapping.unreserve(b, v, v, NULL));
	HOLDS(b->mapping.create(b, &create, &got, NULL));
	create = (struct kvp_create){ .bytes = v | 1 };
	HOLDS(b->mapping.create(b, &create, &got, NULL));
	HOLDS(b->mapping.release(b, v, NULL));
	HOLDS(b->mapping.export_handle(b, v, &shared, NULL));
	HOLDS(b->mapping.import_handle(b, device, &shared, &got, NULL));
	HOLDS(b->mapping.import_handle(b, 0, &shared, &got, NULL));
	(void)b->device.visible(b, v & 1 ? "GPU-" : "", &can, NULL);
	HOLDS(b->mapping.map(b, v, v, v, NULL));
	HOLDS(b->mapping.unmap(b, v, v, NULL));
	HOLDS(b->mapping.grant(b, v, v, &grant, 1, NULL));
	HOLDS(b->mapping.granted(b, v, device, &flags, NULL));
	HOLDS(b->mapping.granted(b, v, 0, &flags, NULL));
	HOLDS(b->mapping.fill(b, device, v, v, 0, NULL));
	HOLDS(b->mapping.match(b, device, v, v, 0, &got, NULL));
	HOLDS(b->pool.pool_create(b, device, &got, NULL));
	HOLDS(b->pool.pool_destroy(b, v, NULL));
	HOLDS(b->pool.allocate(b, v, v, &got, NULL));
	HOLDS(b->pool.deallocate(b, v, v, NULL));
	HOLDS(!got);
	call_memory(b, v);
}

static void call_cache(struct kvp_backend *b, uint64_t v)
{
	struct kvp_alloc_cache_options options = { .device = (uint32_t)v | 8 };
	struct kvp_cap cap = { .bytes = v, .bounded = true };
	struct kvp_alloc_cache_counters now;
	struct kvp_alloc_cache *c = NULL;
	const int none = 99;
	uint64_t at = 0;

	GIVES(KVP_EINPUT, kvp_alloc_cache_new(&c, b, &options, NULL));
	options = (struct kvp_alloc_cache_options){ .report_steps = v };
	GIVES(KVP_OK, kvp_alloc_cache_new(&c, b, &options, NULL));
	if (!c)
		return;
	SET_ENUM(cap.term, none);
	GIVES(KVP_OK, kvp_alloc_cache_set_cap(c, &cap, NULL));
	if (!kvp_alloc_cache_get(c, v, &at, NULL))
		GIVES(KVP_OK, kvp_alloc_cache_put(c, at, NULL));
	GIVES(KVP_EINPUT, kvp_alloc_cache_get(c, 0, &at, NULL));
	GIVES(KVP_EBUSY, kvp_alloc_cache_put(c, v, NULL));
	GIVES(KVP_EBUSY, kvp_alloc_cache_pin(c, v, NULL));
	GIVES(KVP_EBUSY, kvp_alloc_cache_unpin(c, v, NULL));
	GIVES(KVP_OK, kvp_alloc_cache_step(c, NULL));
	GIVES(KVP_OK, kvp_alloc_cache_arm(c, NULL));
	GIVES(KVP_OK, kvp_alloc_cache_enable(c, false, NULL));
	GIVES(KVP_OK, kvp_alloc_cache_drain(c, NULL));
	kvp_alloc_cache_counters(c, &now);
	HOLDS(!now.live_blocks && !now.held_blocks && now.steps == 1);
	GIVES(KVP_OK, kvp_alloc_cache_free(c, NULL));
}

static void call_backends(uint64_t v)
{
	struct kvp_fault fault = { .ops = (unsigned)v, .countdown = v };
	struct kvp_backend *card = NULL, *b = NULL;
	struct kvp_backend none = { .name = "none" };
	uint32_t ordinal = (uint32_t)v | 1U << 31;
	uint64_t same;

	GIVES(KVP_EINPUT, kvp_backend_host(&b, 0, 4096, NULL));
	GIVES(KVP_EINPUT, kvp_backend_host(&b, (uint32_t)v | 1U << 31, 4096,
					   NULL));
	HOLDS(kvp_backend_host(&b, 1, v - 1, NULL) == KVP_EDRIVER && !b);
	HOLDS(kvp_backend_cuda(&b, &ordinal, 1, NULL) && !b);
	call_verbs(run.host, v);
	HOLDS(run.host->mapping.fill(run.host, 0, v, v, 0, NULL));
	HOLDS(run.host->mapping.match(run.host, 0, v, v, 0, &same, NULL));
	call_cache(run.host, v);
	GIVES(KVP_OK, kvp_backend_card(&card, 1 << 20, NULL));
	call_verbs(card, v);
	call_cache(card, v);
	GIVES(KVP_OK, kvp_backend_fault(&b, card, &fault, NULL));
	call_verbs(b, v);
	kvp_backend_complete(&none);
	call_verbs(&none, v);
	fault = (struct kvp_fault){ .ops = KVP_OP_ALL, .countdown = 1 };
	GIVES(KVP_EDRIVER, b->device.synchronize(b, 0, NULL));
	kvp_backend_close(b);
	kvp_backend_close(card);
}

/* The stand-in driver's devices; nothing is mapped that could be written. */
static void call_cuda(uint64_t v)
{
	struct kvp_backend *b = NULL;

	GIVES(KVP_OK, kvp_backend_cuda(&b, NULL, 0, NULL));
	if (!b)
		return;
	call_verbs(b, v);
	call_cache(b, v);
	kvp_backend_close(b);
}

static bool set_up(void)
{
	FILE *f = fopen(LAYOUT, "r");
	char text[8192];
	size_t len = f ? fread(text, 1, sizeof(text), f) : 0;
	enum kvp_document kind;

	if (f)
		fclose(f);
	return !kvp_document_kind(&kind, LAYOUT, text, len, NULL) &&
	       !kvp_geometry_read(&run.g, LAYOUT, text, len, NULL) &&
	       !kvp_plan_make(&run.plan, &run.g, KVP_MERGE_ROW, NULL) &&
	       !kvp_verify(&run.plan, NULL, &run.verdict, NULL) &&
	       kvp_verdict_ok(run.verdict) &&
	       kvp_verdict_is_realizable(run.verdict) &&
	       kvp_verdict_summary(run.verdict)->chunks &&
	       !kvp_backend_host(&run.host, 4, run.g.granularity, NULL);
}

/* Texts that are empty, and what takes no value at all. */
static void call_readers(void)
{
	const int v = 0;
	struct kvp_geometry g;
	struct kvp_limits limits;
	struct kvp_plan plan;
	size_t count = 1;

	GIVES(KVP_ESYNTAX, kvp_geometry_read_unsized(&g, "", "", 0, NULL));
	GIVES(KVP_ESYNTAX, kvp_limits_read(&limits, "", "", 0, NULL));
	GIVES(KVP_ESYNTAX, kvp_plan_read(&plan, "", "", 0, NULL));
	(void)kvp_verdict_findings(run.verdict, &count);
	HOLDS(!count);
	HOLDS(!kvp_verdict_obstacle(run.verdict, NULL));
	HOLDS(kvp_geometry_sizeof() == sizeof(g));
	HOLDS(kvp_plan_sizeof() == sizeof(plan));
}

int main(int argc, char **argv)
{
	const bool cuda = argc > 1 && !strcmp(argv[1], "cuda");
	size_t i;

	if (!set_up()) {
		puts("FAIL wild_calls: nothing to call with\n"
		     "0 passed, 1 failed, 0 skipped");
		return 1;
	}
	call_readers();
	for (i = 0; i < sizeof(enums) / sizeof(*enums); i++) {
		call_names(enums[i]);
		call_geometry(enums[i]);
		call_plan(enums[i]);
		call_finding(enums[i]);
		call_limits(enums[i]);
		call_memory_limit(enums[i]);
		call_realize(enums[i]);
	}
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		call_ranks(numbers[i]);
		call_share(numbers[i]);
		call_owners(numbers[i]);
		call_headroom(numbers[i]);
		call_size(numbers[i]);
		call_import(numbers[i]);
		call_probe(numbers[i]);
		call_backends(numbers[i]);
		if (cuda)
			call_cuda(numbers[i]);
	}
	kvp_backend_close(run.host);
	kvp_verdict_free(run.verdict);
	kvp_plan_release(&run.plan);
	kvp_geometry_release(&run.g);
	printf("%u passed, %u failed, 0 skipped\n", run.passed, run.failed);
	return run.failed != 0;
}
