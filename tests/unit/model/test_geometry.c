/*
 * Reading, writing and copying a geometry: defaults, expansion, the
 * normalized form.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

/* Everything the format has, and names that need escapes. */
static const char everything[] =
	"name='a \\\\ b \\u0022c\\u0022 \\u00e4\\ud83d\\ude00 / d';"
	"granularity='4 KiB';tile_granules=2.0;pages=1e1;"
	"planes=[{'name':'p','bytes_per_page':'2 KiB','address':1048576},"
	"{'alias':false,'bytes_per_page':1024,'name':'q','count':3},"
	"{'name':'r','count':1,'bytes_per_page':8192,'alias':true}];"
	"access={'imports':[[],[0,1],[3],[2]],"
	"'declared_readers':[[3,1,0],[2,0],[3],[2,3,1]],"
	"'importer_mode':'readwrite'};"
	"static=[{'name':'one \\u0022 \\\\','bytes':'1 MiB','importers':'all'},"
	"{'importers':'none','bytes':5,'name':'\xc3\xa4'},"
	"{'importers':'group','bytes':7,'name':'three'}];"
	"static_entries=17;entry_limit=1000;entry_reserve=10;"
	"page_overhead_bytes='3 B';arena_address=40960;"
	"headroom={'free_bytes':'64 MiB','cap_bytes':null}";

static struct kvp_geometry read_text(const char *text)
{
	struct kvp_geometry g;
	struct kvp_error err = { 0 };
	int code = kvp_geometry_read(&g, "g", text, strlen(text), &err);

	ck_assert_msg(!code, "%s", err.text);
	return g;
}

static struct kvp_geometry read_everything(void)
{
	return geometry_of(everything);
}

static void check_ranks(const struct kvp_ranks *list, const char *ranks)
{
	char text[64] = "";
	size_t i, used = 0;

	for (i = 0; i < list->count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%u", i ? " " : "", list->rank[i]);
	ck_assert_str_eq(text, ranks);
}

static void check_plane(const struct kvp_plane *plane, const char *name,
			uint64_t bytes_per_page, bool alias)
{
	ck_assert_str_eq(plane->name, name);
	ck_assert_uint_eq(plane->bytes_per_page, bytes_per_page);
	ck_assert_int_eq(plane->alias, alias);
}

static void check_empty(const struct kvp_geometry *g)
{
	ck_assert_ptr_null(g->name);
	ck_assert_ptr_null(g->planes);
	ck_assert_ptr_null(g->declared_readers);
	ck_assert_ptr_null(g->imports);
	ck_assert_ptr_null(g->statics);
	ck_assert_ptr_null(g->base_chunks);
	ck_assert_uint_eq(g->nplanes, 0);
	ck_assert_uint_eq(g->nstatics, 0);
	ck_assert_uint_eq(g->nbase_chunks, 0);
	ck_assert_uint_eq(g->ranks, 0);
}

START_TEST(defaults_are_filled_in)
{
	struct kvp_geometry g = geometry_of("granularity=;tile_granules=;"
					    "row_stride=;ranks_per_node=");

	ck_assert_uint_eq(g.granularity, 2097152);
	ck_assert_uint_eq(g.tile_granules, 1);
	ck_assert_uint_eq(g.row_bytes, 8192);
	ck_assert_uint_eq(g.row_stride, 8192);
	ck_assert_uint_eq(g.ranks_per_node, 4);
	ck_assert_uint_eq(g.static_entries, 0);
	ck_assert_uint_eq(g.entry_limit, 524288);
	ck_assert_uint_eq(g.entry_reserve, 4096);
	ck_assert_uint_eq(g.page_overhead_bytes, 0);
	ck_assert_uint_eq(g.nstatics, 0);
	ck_assert_int_eq(g.importer_mode, KVP_IMPORT_READ);
	ck_assert(!g.has_arena_address);
	ck_assert(!g.has_headroom);
	ck_assert_ptr_null(g.base_chunks);
	check_plane(&g.planes[0], "a", 4096, true);
	ck_assert(!g.planes[0].has_address);
	check_ranks(&g.declared_readers[0], "0 1 2 3");
	check_ranks(&g.declared_readers[3], "0 1 2 3");
	check_ranks(&g.imports[0], "0 1");
	check_ranks(&g.imports[1], "0 1");
	check_ranks(&g.imports[2], "2 3");
	check_ranks(&g.imports[3], "2 3");
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(everything_that_is_given_is_kept)
{
	struct kvp_geometry g = read_everything();

	ck_assert_str_eq(g.name, "a \\ b \"c\" \xc3\xa4\xf0\x9f\x98\x80 / d");
	ck_assert_uint_eq(g.granularity, 4096);
	ck_assert_uint_eq(g.tile_granules, 2);
	ck_assert_uint_eq(g.pages, 10);
	ck_assert_uint_eq(g.nstatics, 3);
	ck_assert_str_eq(g.statics[0].name, "one \" \\");
	ck_assert_uint_eq(g.statics[0].bytes, 1048576);
	ck_assert_int_eq(g.statics[0].importers, KVP_STATIC_ALL);
	ck_assert_int_eq(g.statics[1].importers, KVP_STATIC_NONE);
	ck_assert_int_eq(g.statics[2].importers, KVP_STATIC_GROUP);
	ck_assert_uint_eq(g.static_entries, 17);
	ck_assert_uint_eq(g.entry_limit, 1000);
	ck_assert_uint_eq(g.entry_reserve, 10);
	ck_assert_uint_eq(g.page_overhead_bytes, 3);
	ck_assert(g.has_arena_address);
	ck_assert_uint_eq(g.arena_address, 40960);
	ck_assert(g.has_headroom);
	ck_assert_uint_eq(g.headroom.free_bytes, 67108864);
	ck_assert(!g.headroom.bounded);
	ck_assert_int_eq(g.importer_mode, KVP_IMPORT_READWRITE);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(planes_are_expanded_by_name)
{
	struct kvp_geometry g = read_everything();

	ck_assert_uint_eq(g.nplanes, 5);
	check_plane(&g.planes[0], "p", 2048, true);
	ck_assert(g.planes[0].has_address);
	ck_assert_uint_eq(g.planes[0].address, 1048576);
	check_plane(&g.planes[1], "q.0", 1024, false);
	check_plane(&g.planes[2], "q.1", 1024, false);
	check_plane(&g.planes[3], "q.2", 1024, false);
	check_plane(&g.planes[4], "r", 8192, true);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(rank_lists_ascend_and_hold_their_owner)
{
	struct kvp_geometry g = read_everything();

	check_ranks(&g.declared_readers[0], "0 1 3");
	check_ranks(&g.declared_readers[1], "0 1 2");
	check_ranks(&g.declared_readers[2], "2 3");
	check_ranks(&g.declared_readers[3], "1 2 3");
	check_ranks(&g.imports[0], "0");
	check_ranks(&g.imports[1], "0 1");
	check_ranks(&g.imports[2], "2 3");
	check_ranks(&g.imports[3], "2 3");
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(a_tiny_table_keeps_all_of_itself_in_reserve)
{
	struct kvp_geometry g = geometry_of("entry_limit=100");

	ck_assert_uint_eq(g.entry_reserve, 100);
	kvp_geometry_release(&g);
	g = geometry_of("entry_limit=0");
	ck_assert_uint_eq(g.entry_reserve, 0);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(without_rows_row_sizes_are_zero)
{
	struct kvp_geometry g = geometry_of("snapshot_rows=0;"
					    "execution_rows=0");

	ck_assert_uint_eq(g.row_bytes, 0);
	ck_assert_uint_eq(g.row_stride, 0);
	kvp_geometry_release(&g);
	g = geometry_of("snapshot_rows=0;execution_rows=0;row_bytes=;"
			"row_stride=");
	ck_assert_uint_eq(g.row_bytes, 0);
	ck_assert_uint_eq(g.row_stride, 0);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(the_longest_names_are_taken)
{
	char changes[1024], name[129];
	struct kvp_geometry g;

	memset(name, 'n', 128);
	name[128] = '\0';
	g = geometry_of("planes=[{'name':'AZaz09_-.','bytes_per_page':1}]");
	check_plane(g.planes, "AZaz09_-.", 1, true);
	kvp_geometry_release(&g);
	/* ".10" brings the last of them to 64. */
	snprintf(changes, sizeof(changes), "name='%s';row_bytes=1;row_stride=1;"
		 "planes=[{'name':'%.64s','bytes_per_page':4096},{'name':"
		 "'%.60s-','count':11,'bytes_per_page':1}]", name, name, name);
	g = geometry_of(changes);
	ck_assert_str_eq(g.name, name);
	ck_assert_uint_eq(strlen(g.planes[0].name), 64);
	ck_assert_uint_eq(strlen(g.planes[11].name), 64);
	kvp_geometry_release(&g);
}
END_TEST

/* Characters are counted, not bytes. */
START_TEST(a_name_of_128_wide_characters_is_taken)
{
	char changes[600] = "name='";
	struct kvp_geometry g;
	size_t i;

	for (i = 0; i < 128; i++)
		strcat(changes, "\xf0\x9f\x98\x80");
	strcat(changes, "'");
	g = geometry_of(changes);
	ck_assert_uint_eq(strlen(g.name), 512);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(the_text_need_not_be_terminated)
{
	char *text = geometry_text(""), *exact;
	size_t len = strlen(text);
	struct kvp_geometry g;

	while (text[len - 1] != '}')
		len--;
	exact = malloc(len);
	ck_assert_ptr_nonnull(exact);
	memcpy(exact, text, len);
	ck_assert_int_eq(kvp_geometry_read(&g, "g", exact, len, NULL), KVP_OK);
	kvp_geometry_release(&g);
	free(exact);
	free(text);
}
END_TEST

/* read(write(read(x))) writes what read(x) writes. */
static void check_round_trip(struct kvp_geometry g)
{
	char *first = written(&g), *second;
	struct kvp_geometry again = read_text(first);

	second = written(&again);
	ck_assert_str_eq(first, second);
	ck_assert_uint_eq(kvp_geometry_compare(&g, &again, NULL, NULL), 0);
	kvp_geometry_release(&g);
	kvp_geometry_release(&again);
	free(first);
	free(second);
}

START_TEST(the_normalized_form_reads_back_to_itself)
{
	check_round_trip(geometry_of(""));
	check_round_trip(read_everything());
	check_round_trip(geometry_of(published_dcp16));
	check_round_trip(geometry_of("snapshot_rows=0;execution_rows=0"));
	check_round_trip(geometry_of("entry_limit=0;"
		"headroom={'free_bytes':7,'cap_bytes':0}"));
	check_round_trip(geometry_of("pages=1;snapshot_rows=0;"
		"planes=[{'name':'a','bytes_per_page':4096}];base_chunks=[{"
		"'arena':null,'plane':0,'offset':0,'bytes':4096}]"));
}
END_TEST

START_TEST(the_normalized_form_is_spelled_out)
{
	static const char expected[] = "{\n'format':'kvplan/geometry/1',\n"
		"'name':'small',\n'granularity':4096,\n'tile_granules':1,\n"
		"'pages':8,\n'page_tokens':16,\n'snapshot_rows':2,\n"
		"'execution_rows':1,\n'row_bytes':8192,\n'row_stride':10240,\n"
		"'ranks':4,\n'ranks_per_node':4,\n'dcp_group_size':2,\n"
		"'planes':[\n"
		"{'name':'a','bytes_per_page':4096,'alias':true},\n"
		"{'name':'b.0','bytes_per_page':2048,'alias':true},\n"
		"{'name':'b.1','bytes_per_page':2048,'alias':true}\n],\n"
		"'access':{\n'declared_readers':[\n[0,1,2,3],\n[0,1,2,3],\n"
		"[0,1,2,3],\n[0,1,2,3]\n],\n'imports':[\n[0,1],\n[0,1],\n"
		"[2,3],\n[2,3]\n],\n'importer_mode':'read'\n},\n"
		"'static':[],\n'static_entries':0,\n'entry_limit':524288,\n"
		"'entry_reserve':4096,\n'page_overhead_bytes':0\n}\n";
	struct kvp_geometry g = geometry_of("");
	char *text = written(&g), *quoted = json(expected);

	ck_assert_str_eq(text, quoted);
	free(text);
	free(quoted);
	kvp_geometry_release(&g);
}
END_TEST

START_TEST(recorded_chunks_are_sorted_by_place)
{
	struct kvp_geometry g = geometry_of("execution_rows=0;snapshot_rows=1;"
		"pages=2;planes=[{'name':'a','count':2,'bytes_per_page':8192}]"
		";base_chunks=[{'plane':1,'offset':4096,'bytes':12288,"
		"'arena':null},{'plane':1,'offset':0,'bytes':4096,'arena':8192"
		"},{'plane':0,'offset':12288,'bytes':4096,'arena':null},"
		"{'plane':0,'offset':4096,'bytes':8192,'arena':0},"
		"{'plane':0,'offset':0,'bytes':4096,'arena':null}]");
	static const struct kvp_chunk expected[] = {
		{ 4096, 8192, 0, 0 }, { 0, 4096, 8192, 1 },
		{ 0, 4096, KVP_UNALIASED, 0 },
		{ 12288, 4096, KVP_UNALIASED, 0 },
		{ 4096, 12288, KVP_UNALIASED, 1 },
	};
	size_t i;

	ck_assert_uint_eq(g.nbase_chunks, 5);
	for (i = 0; i < 5; i++) {
		ck_assert_uint_eq(g.base_chunks[i].plane, expected[i].plane);
		ck_assert_uint_eq(g.base_chunks[i].offset, expected[i].offset);
		ck_assert_uint_eq(g.base_chunks[i].bytes, expected[i].bytes);
		ck_assert_uint_eq(g.base_chunks[i].arena, expected[i].arena);
	}
	kvp_geometry_release(&g);
}
END_TEST

static void check_copy(struct kvp_geometry g)
{
	char *text = written(&g), *copied;
	struct kvp_geometry copy;

	ck_assert_int_eq(kvp_geometry_copy(&copy, &g, NULL), KVP_OK);
	ck_assert_uint_eq(kvp_geometry_compare(&g, &copy, NULL, NULL), 0);
	ck_assert_ptr_ne(copy.name, g.name);
	ck_assert_ptr_ne(copy.planes, g.planes);
	kvp_geometry_release(&g);
	copied = written(&copy);	/* the copy owns what it has */
	ck_assert_str_eq(copied, text);
	kvp_geometry_release(&copy);
	free(copied);
	free(text);
}

START_TEST(a_copy_equals_and_outlives_its_source)
{
	check_copy(geometry_of(""));
	check_copy(read_everything());
	check_copy(geometry_of("pages=1;snapshot_rows=0;"
		"planes=[{'name':'a','bytes_per_page':4096}];base_chunks=[{"
		"'arena':null,'plane':0,'offset':0,'bytes':4096}]"));
}
END_TEST

START_TEST(releasing_leaves_a_geometry_empty_and_is_safe_twice)
{
	struct kvp_geometry g = read_everything();
	struct kvp_geometry zeroed = { 0 };

	kvp_geometry_release(&g);
	check_empty(&g);
	kvp_geometry_release(&g);
	kvp_geometry_release(&zeroed);
}
END_TEST

/* Cut everywhere, so that every stage of reading fails once. */
START_TEST(a_failed_read_leaves_the_geometry_empty)
{
	static const char *const faults[] = {
		"name=", "pages=0", "row_bytes=0", "ranks=0", "entry_limit=-1",
		"planes=[]", "access=[]", "static=[{'name':'a'}]",
		"headroom=1", "base_chunks=[]", "pages=9e15",
	};
	struct kvp_geometry g;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		memset(&g, 0xa5, sizeof(g));
		text = geometry_text(faults[i]);
		ck_assert_int_ne(kvp_geometry_read(&g, "g", text, strlen(text),
						   NULL), KVP_OK);
		check_empty(&g);
		free(text);
	}
	memset(&g, 0xa5, sizeof(g));
	ck_assert_int_eq(kvp_geometry_read(&g, "g", "{", 1, NULL),
			 KVP_ESYNTAX);
	check_empty(&g);
}
END_TEST

Suite *geometry_suite(void)
{
	Suite *suite = suite_create("geometry");
	TCase *tests = tcase_create("geometry");

	tcase_add_test(tests, defaults_are_filled_in);
	tcase_add_test(tests, everything_that_is_given_is_kept);
	tcase_add_test(tests, planes_are_expanded_by_name);
	tcase_add_test(tests, rank_lists_ascend_and_hold_their_owner);
	tcase_add_test(tests, a_tiny_table_keeps_all_of_itself_in_reserve);
	tcase_add_test(tests, without_rows_row_sizes_are_zero);
	tcase_add_test(tests, the_longest_names_are_taken);
	tcase_add_test(tests, a_name_of_128_wide_characters_is_taken);
	tcase_add_test(tests, the_text_need_not_be_terminated);
	tcase_add_test(tests, the_normalized_form_reads_back_to_itself);
	tcase_add_test(tests, the_normalized_form_is_spelled_out);
	tcase_add_test(tests, recorded_chunks_are_sorted_by_place);
	tcase_add_test(tests, a_copy_equals_and_outlives_its_source);
	tcase_add_test(tests,
		       releasing_leaves_a_geometry_empty_and_is_safe_twice);
	tcase_add_test(tests, a_failed_read_leaves_the_geometry_empty);
	suite_add_tcase(suite, tests);
	return suite;
}
