/*
 * Out of memory, everywhere: every operation of the library is run with its
 * allocation 1, 2, 3 ... failing, once and for ever, until it runs through.
 * Each failing run has to answer KVP_ENOMEM, leave its outputs empty and
 * nothing allocated.
 *
 * malloc and its kin are this program's own, on top of glibc's, and are
 * called by the library, by cJSON and by glibc itself.  Sanitizers bring
 * their own; then there is nothing to sweep with.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kvplan/kvplan.h>

#include "base/file.h"
#include "base/json_tree.h"
#include "cache/decode_workload.h"
#include "fault/failing_malloc.h"

#ifdef MALLOC_IS_FIXED
int main(void)
{
	puts("SKIP sweep_oom: malloc cannot be replaced in this build");
	puts("0 passed, 0 failed, 1 skipped");
	return 0;
}
#else

/* More allocations than any operation here makes. */
#define ALLOCATIONS_MAX 100000

/*
 * Every list, every kind of string, and keys with escapes, which are
 * decoded.  Recorded layouts stay below 32 chunks and rank lists short:
 * glibc's qsort takes memory for more, and does without where there is
 * none.
 */
static const char small[] =
	"{\"format\":\"kvplan\\/geometry/1\",\"n\\u0061me\":\"a \\\"b\\u00e4\","
	"\"granularity\":\"4 KiB\",\"pages\":4,\"page_tokens\":16,"
	"\"snapshot_rows\":3,\"execution_rows\":1,\"row_bytes\":8192,"
	"\"row_stride\":10240,\"ranks\":4,\"dcp_group_size\":2,"
	"\"planes\":[{\"n\\u0061me\":\"a\",\"bytes_per_page\":4096},"
	"{\"name\":\"b\",\"count\":4,\"bytes_per_page\":4096,"
	"\"alias\":true},{\"name\":\"c\",\"count\":9,\"bytes_per_page\":512,"
	"\"alias\":false}],\"access\":{\"declared_readers\":[[1,2],[0],[3],"
	"[2]],\"imports\":[[1],[0],[],[2]],\"importer_mode\":\"read\"},"
	"\"static\":[{\"name\":\"x\",\"bytes\":\"1 MiB\",\"importers\":"
	"\"all\"},{\"name\":\"y\",\"bytes\":1,\"importers\":\"n\\u006fne\"}],"
	"\"headroom\":{\"free_bytes\":100,\"cap_bytes\":10}}";

/* Lists that grow: 15 rows, 300 tiles of two sizes, all defaults. */
static const char large[] =
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"large\","
	"\"granularity\":4096,\"pages\":64,\"page_tokens\":1,"
	"\"snapshot_rows\":40,\"execution_rows\":0,\"row_bytes\":22528,"
	"\"ranks\":2,\"dcp_group_size\":2,"
	"\"planes\":[{\"name\":\"a\",\"count\":3,\"bytes_per_page\":4096},"
	"{\"name\":\"b\",\"count\":2,\"bytes_per_page\":3000}]}";

#define MODES 3
#define PARTS 4

/* What operations start from and should give; made before any sweep. */
static struct {
	struct kvp_geometry small, large, recorded;
	struct kvp_plan plan, bad, small_plan;
	char *recorded_text, *plan_text, *limits_text, *capacity_text;
	struct kvp_limits limits;
	struct kvp_backend *host;
	struct kvp_verdict *verdict;
	struct kvp_realization *realized;
	char *planned[3][MODES];	/* plans of the three geometries */
	struct kvp_capacity_part parts[PARTS];
	char *part_texts[PARTS], *joined_text;
	char dir[64], link[96], target[96];
} world;

static int passed, failed;
static const char *wrong;	/* what the current run did wrong */

static void demand(bool holds, const char *what)
{
	if (!holds && !wrong)
		wrong = what;
}

static bool geometry_is_empty(const struct kvp_geometry *g)
{
	return !g->name && !g->planes && !g->nplanes && !g->imports &&
	       !g->declared_readers && !g->statics && !g->nstatics &&
	       !g->base_chunks && !g->nbase_chunks && !g->ranks;
}

static bool plan_is_empty(const struct kvp_plan *plan)
{
	return geometry_is_empty(&plan->geometry) && !plan->chunks &&
	       !plan->nchunks && !plan->rows && !plan->nrows &&
	       !plan->spans && !plan->nspans && !plan->access &&
	       !plan->naccess && !plan->summary.per_rank &&
	       !plan->summary.per_node;
}

/* Not under test here, so without faults. */
static char *plan_text(const struct kvp_plan *plan)
{
	char *text = NULL;
	size_t len;

	memory.paused = true;
	kvp_plan_write(plan, &text, &len, NULL);
	memory.paused = false;
	return text;
}

static void check_text(int code, char *text, size_t len, const char *expected)
{
	if (code)
		demand(!text && !len, "text is not empty");
	else
		demand(text && len == strlen(expected) &&
		       !strcmp(text, expected), "text is not as expected");
	free(text);
}

static int read_geometry(const char *text, const struct kvp_geometry *same,
			 struct kvp_error *err)
{
	struct kvp_geometry g;
	int code;

	memset(&g, 0xa5, sizeof(g));
	code = kvp_geometry_read(&g, "g", text, strlen(text), err);
	if (code)
		demand(geometry_is_empty(&g), "geometry is not empty");
	else
		demand(!kvp_geometry_compare(&g, same, NULL, NULL),
		       "geometry is not as expected");
	if (!code)
		kvp_geometry_release(&g);
	return code;
}

static int run_geometry_read(struct kvp_error *err)
{
	return read_geometry(small, &world.small, err);
}

static int run_geometry_read_defaults(struct kvp_error *err)
{
	return read_geometry(large, &world.large, err);
}

static int run_geometry_read_recorded(struct kvp_error *err)
{
	return read_geometry(world.recorded_text, &world.recorded, err);
}

static int run_geometry_write(struct kvp_error *err)
{
	char *text = (char *)&world;
	size_t len = 7;
	int code = kvp_geometry_write(&world.recorded, &text, &len, err);

	check_text(code, text, len, world.recorded_text);
	return code;
}

static int run_geometry_copy(struct kvp_error *err)
{
	struct kvp_geometry g;
	int code;

	memset(&g, 0xa5, sizeof(g));
	code = kvp_geometry_copy(&g, &world.recorded, err);
	if (code)
		demand(geometry_is_empty(&g), "copy is not empty");
	else
		demand(!kvp_geometry_compare(&g, &world.recorded, NULL, NULL),
		       "copy is not as expected");
	if (!code)
		kvp_geometry_release(&g);
	return code;
}

static int run_geometry_read_unsized(struct kvp_error *err)
{
	struct kvp_geometry g;
	int code;

	memset(&g, 0xa5, sizeof(g));
	code = kvp_geometry_read_unsized(&g, "g", small, strlen(small), err);
	if (code)
		demand(geometry_is_empty(&g), "geometry is not empty");
	else
		kvp_geometry_release(&g);
	return code;
}

static int run_size(struct kvp_error *err)
{
	const uint64_t free_bytes = UINT64_C(1) << 30;
	const struct kvp_size_wish wish = {
		.free_bytes = &free_bytes, .nfree = 1,
		.snapshots = KVP_UNSTATED,
	};
	struct kvp_size size;
	int code;

	memset(&size, 0xa5, sizeof(size));
	code = kvp_size_find(&size, &world.small, &wish, err);
	demand(code ? !size.pages && !size.used_bytes : size.pages > 1,
	       "the sizing is not as expected");
	return code;
}

static int run_concurrency(struct kvp_error *err)
{
	struct kvp_concurrency c = { 0 };
	int code = kvp_size_concurrency(&c, &world.plan, 1, err);

	if (!code)
		demand(c.pages_each == 1 && c.sequences, "no sequence fits");
	return code;
}

static const char config[] =
	"{\"model_type\":\"bamba\",\"num_hidden_layers\":4,"
	"\"hidden_size\":256,\"num_attention_heads\":4,"
	"\"num_key_value_heads\":2,\"torch_dtype\":\"bfloat16\","
	"\"attn_layer_indices\":[1],\"mamba_n_heads\":8,"
	"\"mamba_d_head\":64,\"mamba_d_state\":16,\"mamba_n_groups\":1,"
	"\"mamba_d_conv\":4,\"mamba_expand\":2}";

static int run_import(struct kvp_error *err)
{
	struct kvp_import_options options;
	char *geometry = (char *)config, *derivation = (char *)config;
	size_t len, derived;
	int code;

	kvp_import_options_init(&options);
	options.tp = 2;
	options.state_dtype = "fp32";
	code = kvp_import(&geometry, &len, &derivation, &derived, "c", config,
			  strlen(config), &options, err);
	if (code)
		demand(!geometry && !derivation, "texts are not empty");
	else
		demand(len && derived, "nothing is imported");
	free(geometry);
	free(derivation);
	return code;
}

static int make_plan(const struct kvp_geometry *g, enum kvp_merge merge,
		     const char *expected, struct kvp_error *err)
{
	struct kvp_plan plan;
	char *text = NULL;
	int code;

	memset(&plan, 0xa5, sizeof(plan));
	code = kvp_plan_make(&plan, g, merge, err);
	if (code) {
		demand(plan_is_empty(&plan), "plan is not empty");
		return code;
	}
	text = plan_text(&plan);
	demand(text && !strcmp(text, expected), "plan is not as expected");
	free(text);
	kvp_plan_release(&plan);
	return code;
}

#define PLAN_CASE(name, geometry, index, mode) \
	static int run_plan_##name(struct kvp_error *err) \
	{ \
		return make_plan(&world.geometry, mode, \
				 world.planned[index][mode], err); \
	}

PLAN_CASE(small_none, small, 0, KVP_MERGE_NONE)
PLAN_CASE(small_row, small, 0, KVP_MERGE_ROW)
PLAN_CASE(small_span, small, 0, KVP_MERGE_SPAN)
PLAN_CASE(large_none, large, 1, KVP_MERGE_NONE)
PLAN_CASE(large_row, large, 1, KVP_MERGE_ROW)
PLAN_CASE(large_span, large, 1, KVP_MERGE_SPAN)
PLAN_CASE(recorded_none, recorded, 2, KVP_MERGE_NONE)
PLAN_CASE(recorded_row, recorded, 2, KVP_MERGE_ROW)
PLAN_CASE(recorded_span, recorded, 2, KVP_MERGE_SPAN)

static int run_plan_write(struct kvp_error *err)
{
	char *text = (char *)&world;
	size_t len = 7;
	int code = kvp_plan_write(&world.plan, &text, &len, err);

	check_text(code, text, len, world.plan_text);
	return code;
}

/* A tree's items are cJSON's: every one of them is an allocation. */
static int run_json_tree(struct kvp_error *err)
{
	static const uint64_t numbers[] = { 1, 2 };
	struct json_tree t = { .root = NULL };
	char *text = (char *)&world;
	size_t len = 7;
	int code;

	json_tree_object(&t, NULL, JSON_LINES);
	json_tree_text(&t, "a", "b");
	json_tree_list(&t, "c", JSON_INLINE);
	json_tree_u64(&t, NULL, 3);
	json_tree_bool(&t, NULL, true);
	json_tree_end(&t);
	json_tree_u64s(&t, "d", numbers, 2);
	json_tree_null(&t, "e");
	json_tree_end(&t);
	code = json_tree_finish(&t, &text, &len, err);
	/* Seven items, texts of three, the list of numbers, the document. */
	demand(code || memory.seen >= 12, "cJSON's memory is not seen");
	check_text(code, text, len, "{\n\"a\":\"b\",\n\"c\":[3,true],\n"
		   "\"d\":[1,2],\n\"e\":null\n}\n");
	return code;
}

static int run_limits_write(struct kvp_error *err)
{
	char *text = (char *)&world;
	size_t len = 7;
	int code = kvp_limits_write(&world.limits, &text, &len, err);

	check_text(code, text, len, world.limits_text);
	return code;
}

static int run_capacity_write(struct kvp_error *err)
{
	char *text = (char *)&world;
	size_t len = 7;
	int code = kvp_realization_write(world.realized, true, &text, &len,
					 err);

	check_text(code, text, len, world.capacity_text);
	return code;
}

static int run_capacity_join(struct kvp_error *err)
{
	char *text = (char *)&world;
	size_t len = 7;
	int code = kvp_capacity_join(world.parts, PARTS, true, &text, &len,
				     err);

	check_text(code, text, len, world.joined_text);
	return code;
}

static int read_plan(const char *from, struct kvp_error *err)
{
	struct kvp_plan plan;
	char *text;
	int code;

	memset(&plan, 0xa5, sizeof(plan));
	code = kvp_plan_read(&plan, "p", from, strlen(from), err);
	if (code) {
		demand(plan_is_empty(&plan), "plan is not empty");
		return code;
	}
	text = plan_text(&plan);
	demand(text && !strcmp(text, from), "plan is not as expected");
	free(text);
	kvp_plan_release(&plan);
	return code;
}

static int run_plan_read(struct kvp_error *err)
{
	return read_plan(world.plan_text, err);
}

static int run_plan_read_recorded(struct kvp_error *err)
{
	return read_plan(world.planned[2][KVP_MERGE_SPAN], err);
}

static int run_document_kind(struct kvp_error *err)
{
	enum kvp_document kind = KVP_DOC_PLAN;
	int code = kvp_document_kind(&kind, "d", small, strlen(small), err);

	if (!code)
		demand(kind == KVP_DOC_GEOMETRY, "kind is not as expected");
	return code;
}

static int verify(const struct kvp_plan *plan, bool good,
		  struct kvp_error *err)
{
	struct kvp_verdict *verdict = (struct kvp_verdict *)&world;
	size_t count;
	int code = kvp_verify(plan, NULL, &verdict, err);

	if (code) {
		demand(!verdict, "verdict is not NULL");
		return code;
	}
	kvp_verdict_findings(verdict, &count);
	demand(kvp_verdict_ok(verdict) == good, "verdict is wrong");
	demand(good ? !count : count > 16, "findings are not as expected");
	kvp_verdict_free(verdict);
	return code;
}

static int run_verify_good(struct kvp_error *err)
{
	return verify(&world.plan, true, err);
}

static int run_verify_bad(struct kvp_error *err)
{
	return verify(&world.bad, false, err);
}

static int entries(void)
{
	DIR *list = opendir(world.dir);
	int count = -2;

	while (list && readdir(list))
		count++;
	if (list)
		closedir(list);
	return count;
}

static bool target_holds(const char *text)
{
	char got[64] = "";
	FILE *f = fopen(world.target, "r");
	size_t len = f ? fread(got, 1, sizeof(got) - 1, f) : 0;

	if (f)
		fclose(f);
	return len == strlen(text) && !strcmp(got, text);
}

static void set_target(void)
{
	FILE *f = fopen(world.target, "w");

	if (f) {
		fputs("old", f);
		fclose(f);
	}
	unlink(world.link);
	if (symlink("target", world.link))
		demand(false, "cannot make a link");
}

/* Through a link, which has to stay one. */
static int run_file_write(struct kvp_error *err)
{
	struct stat st;
	int code;

	memory.paused = true;
	set_target();
	memory.paused = false;
	code = kvp_file_write(world.link, "new text", 8, err);
	memory.paused = true;
	demand(!lstat(world.link, &st) && S_ISLNK(st.st_mode),
	       "the link is replaced by a file");
	demand(target_holds(code ? "old" : "new text"),
	       "the target is not as expected");
	demand(entries() == 3, "something is left beside the target");
	memory.paused = false;
	return code;
}

static int run_file_read(struct kvp_error *err)
{
	char path[128], *text = (char *)&world;
	size_t len = 7;
	int code;

	snprintf(path, sizeof(path), "%s/long", world.dir);
	code = kvp_file_read(path, &text, &len, err);
	if (code)
		demand(!text && !len, "text is not empty");
	else
		demand(len == 200000 && text[len - 1] == 'x' && !text[len],
		       "text is not as expected");
	free(text);
	return code;
}

/*
 * Only getting takes memory: what is handed out can be put back, evicted and
 * drained while there is none.  More blocks than the first table of addresses
 * has room for.
 */
static int run_alloc_cache(struct kvp_error *err)
{
	const struct kvp_alloc_cache_options options = {
		.override = { true, true, 2000 },
	};
	struct kvp_alloc_cache *c = (struct kvp_alloc_cache *)&world;
	struct kvp_backend *b = (struct kvp_backend *)&world;
	uint64_t address[200], n = 0;
	int code = kvp_backend_card(&b, UINT64_C(1) << 20, err);

	if (code) {
		demand(!b, "backend is not NULL");
		return code;
	}
	code = kvp_alloc_cache_new(&c, b, &options, err);
	demand(!c == !!code, "cache is not as expected");
	while (!code && n < 200) {
		code = kvp_alloc_cache_get(c, n / 2 + 1, &address[n], err);
		n += !code;
	}
	while (n)
		demand(!kvp_alloc_cache_put(c, address[--n], NULL),
		       "putting back takes memory");
	demand(!c || !kvp_alloc_cache_step(c, NULL), "a step takes memory");
	demand(!kvp_alloc_cache_free(c, NULL), "freeing takes memory");
	kvp_backend_close(b);
	return code;
}

static int run_decode(struct kvp_error *err)
{
	const struct kvp_decode decode = { .step_bytes = 1000, .sizes = 3,
		.live_bytes = 10, .steps = 70, .grow = true,
		.live_growth_bytes = 1 };
	const struct kvp_alloc_cache_options options = {
		.override = { true, true, 2000 },
	};
	struct kvp_decode_result result;
	struct kvp_alloc_cache *c = NULL;
	struct kvp_backend *b;
	int code = kvp_backend_card(&b, UINT64_C(1) << 20, err);

	if (!code)
		code = kvp_alloc_cache_new(&c, b, &options, err);
	if (!code)
		code = kvp_decode_run(c, b, 0, &decode, NULL, NULL, &result,
				      err);
	demand(code || (!result.exhausted && result.steps == 70),
	       "the result is not as expected");
	demand(!kvp_alloc_cache_free(c, NULL), "something is handed out");
	kvp_backend_close(b);
	return code;
}

/* So many blocks that their table grows. */
#define BLOCKS 70

/* On failure there is nothing to give back but what came before. */
static int take_blocks(struct kvp_backend *b, kvp_pool pool, int *n,
		       uint64_t *at, struct kvp_error *err)
{
	int code = KVP_OK;

	for (*n = 0; !code && *n < BLOCKS; *n += !code) {
		at[*n] = 1;
		code = b->pool.allocate(b, pool, 1, &at[*n], err);
		demand(!code || at[*n] == 1, "an address is written");
	}
	return code;
}

static int run_pools(struct kvp_error *err)
{
	struct kvp_backend *b = (struct kvp_backend *)&world;
	uint64_t at[BLOCKS], none = 1;
	kvp_pool pool = 1000;
	int n, code = kvp_backend_host(&b, 1, 65536, err);

	if (code) {
		demand(!b, "the backend is not NULL");
		return code;
	}
	code = b->pool.pool_create(b, 0, &pool, err);
	demand(!code || pool == 1000, "a pool is written");
	if (code)
		goto done;
	code = take_blocks(b, pool, &n, at, err);
	memory.paused = true;
	demand(b->pool.allocate(b, pool, UINT64_MAX, &none, NULL) ==
	       KVP_EEXHAUSTED && none == 1, "there is memory without end");
	memory.paused = false;
	/* Half are given back, the others left to close. */
	while (n-- > BLOCKS / 2)
		demand(!b->pool.deallocate(b, pool, at[n], NULL),
		       "a block is not taken back");
	demand(!b->device.synchronize(b, 0, NULL), "does not synchronize");
	while (n-- > BLOCKS / 4)
		demand(!b->pool.deallocate(b, pool, at[n], NULL),
		       "a block is not taken back");
done:
	kvp_backend_close(b);
	return code;
}

static int count_descriptors(void)
{
	int count = 0, fd;

	for (fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* One backend exports, the other imports; closing them gives all back. */
static int run_shares(struct kvp_error *err)
{
	const struct kvp_create what = { .bytes = 65536,
					 .handle_type = KVP_HANDLE_POSIX_FD };
	const int before = count_descriptors();
	struct kvp_backend *from = NULL, *to = NULL;
	struct kvp_shared shared = { .fd = -1 };
	kvp_handle handle = 0, imported = 1000;
	int code = kvp_backend_host(&from, 1, 65536, err);

	if (!code)
		code = kvp_backend_host(&to, 1, 65536, err);
	if (!code)
		code = from->mapping.create(from, &what, &handle, err);
	if (!code)
		code = from->mapping.export_handle(from, handle, &shared, err);
	if (!code)
		code = to->mapping.import_handle(to, 0, &shared, &imported,
						 err);
	demand(!code || imported == 1000, "a handle is written");
	if (shared.fd >= 0)
		close(shared.fd);
	kvp_backend_close(from);
	kvp_backend_close(to);
	demand(count_descriptors() == before, "a descriptor stays open");
	return code;
}

struct operation {
	const char *name;
	int (*run)(struct kvp_error *err);
	/*
	 * It may do without: what is taken after a file is replaced serves
	 * only to sync its directory.
	 */
	bool may_do_without;
};

/* One run.  Answers whether a fault was met. */
static bool run_once(const struct operation *op, uint64_t n, bool for_ever)
{
	struct kvp_error err = { 0 };
	int64_t live = memory.live;
	bool met;
	int code;

	wrong = NULL;
	memory.seen = 0;
	memory.fail_at = n;
	memory.for_ever = for_ever;
	code = op->run(&err);
	memory.fail_at = 0;
	met = memory.seen >= n;
	if (met && !(op->may_do_without && !code))
		demand(code == KVP_ENOMEM && err.code == KVP_ENOMEM,
		       "the code is not KVP_ENOMEM");
	if (!met)
		demand(!code, "no allocation failed, yet the run did");
	demand(memory.live == live, "blocks are left or freed twice");
	if (wrong)
		printf("FAIL %s, allocation %llu fails %s: %s (%s: %s, %lld "
		       "blocks more)\n", op->name, (unsigned long long)n,
		       for_ever ? "for ever" : "once", wrong,
		       kvp_code_name(code), err.text,
		       (long long)(memory.live - live));
	return met;
}

static void sweep(const struct operation *op, bool for_ever)
{
	bool ok = true, met = true;
	uint64_t n;

	for (n = 1; met && n < ALLOCATIONS_MAX; n++) {
		met = run_once(op, n, for_ever);
		ok = ok && !wrong;
	}
	/* An operation that takes no memory would test nothing. */
	if (met || n < 3) {
		printf("FAIL %s: %llu allocations\n", op->name,
		       (unsigned long long)n);
		ok = false;
	}
	passed += ok;
	failed += !ok;
}

static const struct operation operations[] = {
	{ "geometry read", run_geometry_read, false },
	{ "geometry read, defaults", run_geometry_read_defaults, false },
	{ "geometry read, recorded", run_geometry_read_recorded, false },
	{ "geometry write", run_geometry_write, false },
	{ "geometry copy", run_geometry_copy, false },
	{ "geometry read, unsized", run_geometry_read_unsized, false },
	{ "import", run_import, false },
	{ "size", run_size, false },
	{ "concurrency", run_concurrency, false },
	{ "plan small none", run_plan_small_none, false },
	{ "plan small row", run_plan_small_row, false },
	{ "plan small span", run_plan_small_span, false },
	{ "plan large none", run_plan_large_none, false },
	{ "plan large row", run_plan_large_row, false },
	{ "plan large span", run_plan_large_span, false },
	{ "plan recorded none", run_plan_recorded_none, false },
	{ "plan recorded row", run_plan_recorded_row, false },
	{ "plan recorded span", run_plan_recorded_span, false },
	{ "plan write", run_plan_write, false },
	{ "JSON tree", run_json_tree, false },
	{ "limits write", run_limits_write, false },
	{ "capacity write", run_capacity_write, false },
	{ "capacity join", run_capacity_join, false },
	{ "plan read", run_plan_read, false },
	{ "plan read, recorded", run_plan_read_recorded, false },
	{ "document kind", run_document_kind, false },
	{ "verify a good plan", run_verify_good, false },
	{ "verify a bad plan", run_verify_bad, false },
	{ "file write", run_file_write, true },
	{ "file read", run_file_read, false },
	{ "pools", run_pools, false },
	{ "export and import", run_shares, false },
	{ "allocation cache", run_alloc_cache, false },
	{ "decode workload", run_decode, false },
};

/* Nothing fails yet; what does fail ends the program. */
static void must(bool holds, const char *what)
{
	if (holds)
		return;
	printf("FAIL sweep_oom: cannot prepare: %s\n", what);
	puts("0 passed, 1 failed, 0 skipped");
	exit(1);
}

static void must_read(struct kvp_geometry *g, const char *text)
{
	struct kvp_error err = { 0 };

	must(!kvp_geometry_read(g, "g", text, strlen(text), &err), err.text);
}

static void must_plan(struct kvp_plan *plan, const struct kvp_geometry *g,
		      enum kvp_merge merge)
{
	struct kvp_error err = { 0 };

	must(!kvp_plan_make(plan, g, merge, &err), err.text);
}

/* The small geometry with its base layout recorded. */
static void prepare_recorded(void)
{
	struct kvp_plan base;
	size_t len;

	must_plan(&base, &world.small, KVP_MERGE_NONE);
	must(base.nchunks < 32, "the recorded layout is too long");
	must(!kvp_geometry_copy(&world.recorded, &world.small, NULL), "copy");
	world.recorded.base_chunks = base.chunks;
	world.recorded.nbase_chunks = base.nchunks;
	base.chunks = NULL;
	base.nchunks = 0;
	kvp_plan_release(&base);
	must(!kvp_geometry_write(&world.recorded, &world.recorded_text, &len,
				 NULL), "write");
}

static void prepare_plans(void)
{
	const struct kvp_geometry *const from[3] = {
		&world.small, &world.large, &world.recorded,
	};
	struct kvp_plan plan;
	size_t i;
	int mode;

	for (i = 0; i < 3; i++)
		for (mode = 0; mode < MODES; mode++) {
			must_plan(&plan, from[i], (enum kvp_merge)mode);
			world.planned[i][mode] = plan_text(&plan);
			must(world.planned[i][mode], "plan text");
			kvp_plan_release(&plan);
		}
	must_plan(&world.plan, &world.large, KVP_MERGE_SPAN);
	world.plan_text = plan_text(&world.plan);
	must(world.plan_text, "plan text");
	must_plan(&world.bad, &world.large, KVP_MERGE_SPAN);
	for (i = 0; i < world.bad.nspans; i++)
		world.bad.spans[i].end++;
}

static void prepare_limits(void)
{
	static struct kvp_limits_device devices[2] = {
		{ .label = "GPU 0", .name = "a", .uuid = "b" },
		{ .label = "GPU 1", .granularity = 4096 },
	};
	static bool peers[4] = { true, false, false, true };
	struct kvp_limits *l = &world.limits;
	size_t len;

	*l = (struct kvp_limits){
		.driver = "driver", .devices = devices, .ndevices = 2,
		.peers = peers, .entries_counted = true,
		.ability = { { KVP_YES, "SUCCESS" }, { KVP_NO, "" } },
		.cost_ns = { 1, KVP_NOT_TIMED },
	};
	must(!kvp_limits_write(l, &world.limits_text, &len, NULL), "limits");
}

static void prepare_capacity(void)
{
	struct kvp_realize_options options = { .nranks = 4 };
	struct kvp_error err = { 0 };
	size_t len;

	must(!kvp_plan_make(&world.small_plan, &world.small, KVP_MERGE_ROW,
			    &err), err.text);
	must(!kvp_verify(&world.small_plan, NULL, &world.verdict, &err),
	     err.text);
	must(!kvp_backend_host(&world.host, 4, world.small.granularity, &err),
	     err.text);
	must(!kvp_realize(&world.realized, &world.small_plan, world.verdict,
			  world.host, &options, &err), err.text);
	must(!kvp_realization_write(world.realized, true,
				    &world.capacity_text, &len, &err),
	     err.text);
}

static void prepare_parts(void)
{
	static char names[PARTS][32];
	struct kvp_error err = { 0 };
	size_t len;
	int i;

	for (i = 0; i < PARTS; i++) {
		snprintf(names[i], sizeof(names[i]), "tests/parts/%d.json", i);
		must(!kvp_file_read(names[i], &world.part_texts[i], &len,
				    &err), err.text);
		world.parts[i] = (struct kvp_capacity_part){
			names[i], world.part_texts[i], len };
	}
	must(!kvp_capacity_join(world.parts, PARTS, true, &world.joined_text,
				&len, &err), err.text);
}

static void prepare_files(void)
{
	char path[128];
	FILE *f;
	int i;

	strcpy(world.dir, "/tmp/kvplan-oom-XXXXXX");
	must(mkdtemp(world.dir), "directory");
	snprintf(world.target, sizeof(world.target), "%s/target", world.dir);
	snprintf(world.link, sizeof(world.link), "%s/link", world.dir);
	snprintf(path, sizeof(path), "%s/long", world.dir);
	f = fopen(path, "w");
	must(f, "file");
	for (i = 0; i < 200000; i++)
		fputc('x', f);
	must(!fclose(f), "file");
}

static void release_world(void)
{
	char path[128];
	int i, mode;

	snprintf(path, sizeof(path), "%s/long", world.dir);
	unlink(path);
	unlink(world.link);
	unlink(world.target);
	rmdir(world.dir);
	for (i = 0; i < 3; i++)
		for (mode = 0; mode < MODES; mode++)
			free(world.planned[i][mode]);
	free(world.recorded_text);
	free(world.limits_text);
	free(world.capacity_text);
	for (i = 0; i < PARTS; i++)
		free(world.part_texts[i]);
	free(world.joined_text);
	kvp_realization_free(world.realized, NULL);
	kvp_backend_close(world.host);
	kvp_verdict_free(world.verdict);
	kvp_plan_release(&world.small_plan);
	free(world.plan_text);
	kvp_plan_release(&world.plan);
	kvp_plan_release(&world.bad);
	kvp_geometry_release(&world.small);
	kvp_geometry_release(&world.large);
	kvp_geometry_release(&world.recorded);
}

int main(void)
{
	static char out[4096];
	size_t i;

	setvbuf(stdout, out, _IOLBF, sizeof(out));
	must_read(&world.small, small);
	must_read(&world.large, large);
	prepare_recorded();
	prepare_plans();
	prepare_limits();
	prepare_capacity();
	prepare_parts();
	prepare_files();
	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		sweep(&operations[i], false);
		sweep(&operations[i], true);
	}
	release_world();
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed != 0;
}

#endif
