/*
 * What a geometry is refused for: code, place and message of every check.
 * All are found on the small geometry of support.c: 4 ranks, groups of 2, 8
 * pages, planes a (4096 bytes a page), b.0 and b.1 (2048), one execution
 * row and two snapshot rows of 8192 bytes, 10240 apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/fields.h"
#include "unit/unit.h"

#define KNOWN "unknown key; known here: "
#define TWICE "given twice; remove one"
#define UNSIZED "missing; state it, or let kvplan size compute it"
#define MISSING "missing; this key is required"
#define NO_FORMAT "missing, must be \"kvplan/geometry/1\" or " \
	"\"kvplan/plan/1\""
#define NO_NUMBER "is a string, must be a whole number"
#define NO_BYTES "must be a whole number of bytes or text such as " \
	"\"2 MiB\" (B, KiB, MiB, GiB, TiB)"
#define TOO_LARGE " is more than 9007199254740991 (2^53 - 1)"

START_TEST(what_is_no_geometry_is_refused)
{
	static const struct {
		const char *text;
		int code;
		const char *message;
	} texts[] = {
		{ "", KVP_ESYNTAX, "g:1:1: empty text" },
		{ "{}", KVP_EINPUT, "g: /format: " NO_FORMAT },
		{ "[]", KVP_EINPUT, "g: /: is a list, must be an object" },
		{ "7", KVP_EINPUT, "g: /: is a number, must be an object" },
		{ "{\"format\":}", KVP_ESYNTAX, "g:1:11: expected a value" },
	};
	struct kvp_error err;
	struct kvp_geometry g;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		ck_assert_int_eq(kvp_geometry_read(&g, "g", texts[i].text,
			strlen(texts[i].text), &err), texts[i].code);
		ck_assert_str_eq(err.text, texts[i].message);
	}
}
END_TEST

START_TEST(unknown_keys_are_refused)
{
	char known[512] = "/page: " KNOWN;
	const struct fault faults[] = {
		{ "page=8", KVP_EINPUT, known },
		{ "planes=[{'name':'a','bytes_per_page':1},{'size':1}]",
		  KVP_EINPUT, "/planes/1/size: " KNOWN "name, count, "
		  "bytes_per_page, alias, address" },
		{ "access={'readers':[]}", KVP_EINPUT, "/access/readers: "
		  KNOWN "declared_readers, imports, importer_mode" },
		{ "static=[{'size':1}]", KVP_EINPUT, "/static/0/size: "
		  KNOWN "name, bytes, importers" },
		{ "headroom={'cap':1}", KVP_EINPUT, "/headroom/cap: "
		  KNOWN "free_bytes, cap_bytes" },
		{ "base_chunks=[{'at':1}]", KVP_EINPUT, "/base_chunks/0/at: "
		  KNOWN "plane, offset, bytes, arena" },
	};
	size_t i;

	for (i = 0; i < geometry_record.nfields; i++) {
		strcat(known, i ? ", " : "");
		strcat(known, geometry_record.fields[i].key.name);
	}
	CHECK_FAULTS(faults);
}
END_TEST

START_TEST(duplicate_keys_are_refused_however_they_are_spelled)
{
	static const struct fault faults[] = {
		{ "pages=8,'pages':8", KVP_EINPUT, "/pages: " TWICE },
		{ "p\\u0061ges=8", KVP_EINPUT, "/pages: " TWICE },
		{ "base_chunks=[],'b\\u0061se_chunks':[]", KVP_EINPUT,
		  "/base_chunks: " TWICE },
		{ "planes=[{'name':'a','bytes_per_page':1,'n\\u0061me':'b'}]",
		  KVP_EINPUT, "/planes/0/name: " TWICE },
		{ "access={'imports':'group','imports':'group'}", KVP_EINPUT,
		  "/access/imports: " TWICE },
		{ "static=[{'bytes':1,'bytes':1}]", KVP_EINPUT,
		  "/static/0/bytes: " TWICE },
		{ "headroom={'free_bytes':1,'free_bytes':1}", KVP_EINPUT,
		  "/headroom/free_bytes: " TWICE },
		{ "base_chunks=[{'plane':0,'plane':0}]", KVP_EINPUT,
		  "/base_chunks/0/plane: " TWICE },
	};

	CHECK_FAULTS(faults);
}
END_TEST

START_TEST(missing_keys_are_named)
{
	static const struct fault faults[] = {
		{ "format=", KVP_EINPUT, "/format: " NO_FORMAT },
		{ "name=", KVP_EINPUT, "/name: " MISSING },
		{ "pages=", KVP_EINPUT, "/pages: " UNSIZED },
		{ "page_tokens=", KVP_EINPUT, "/page_tokens: " MISSING },
		{ "snapshot_rows=", KVP_EINPUT, "/snapshot_rows: " UNSIZED },
		{ "execution_rows=", KVP_EINPUT, "/execution_rows: " MISSING },
		{ "row_bytes=", KVP_EINPUT, "/row_bytes: missing; there are 3 "
		  "rows, say how many bytes each has" },
		{ "ranks=", KVP_EINPUT, "/ranks: " MISSING },
		{ "dcp_group_size=", KVP_EINPUT, "/dcp_group_size: " MISSING },
		{ "planes=", KVP_EINPUT, "/planes: " MISSING },
		{ "planes=[{'bytes_per_page':1}]", KVP_EINPUT,
		  "/planes/0/name: " MISSING },
		{ "planes=[{'name':'a'}]", KVP_EINPUT,
		  "/planes/0/bytes_per_page: " MISSING },
		{ "static=[{'bytes':1,'importers':'all'}]", KVP_EINPUT,
		  "/static/0/name: " MISSING },
		{ "static=[{'name':'a','importers':'all'}]", KVP_EINPUT,
		  "/static/0/bytes: " MISSING },
		{ "static=[{'name':'a','bytes':1}]", KVP_EINPUT,
		  "/static/0/importers: " MISSING },
		{ "headroom={'cap_bytes':1}", KVP_EINPUT,
		  "/headroom/free_bytes: " MISSING },
		{ "headroom={'free_bytes':1}", KVP_EINPUT,
		  "/headroom/cap_bytes: " MISSING },
		{ "base_chunks=[{'plane':0,'offset':0,'bytes':4096}]",
		  KVP_EINPUT, "/base_chunks/0/arena: " MISSING },
	};

	CHECK_FAULTS(faults);
}
END_TEST

/* Every whole number and every size refuses what is neither. */
START_TEST(numbers_and_sizes_have_their_type)
{
	static const char *const numbers[] = {
		"tile_granules", "pages", "page_tokens", "snapshot_rows",
		"execution_rows", "ranks", "ranks_per_node", "dcp_group_size",
		"static_entries", "entry_limit", "entry_reserve",
	};
	static const char *const sizes[] = {
		"granularity", "row_bytes", "row_stride",
		"page_overhead_bytes", "arena_address",
	};
	static const char *const wrong[] = { "true", "null", "[8]", "{}",
					     "'8'" };
	static const char *const is[] = { "true or false", "null", "a list",
					  "an object", "a string" };
	char changes[64], message[160];
	size_t i, j;

	for (j = 0; j < sizeof(wrong) / sizeof(*wrong); j++) {
		for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
			snprintf(changes, sizeof(changes), "%s=%s",
				 numbers[i], wrong[j]);
			snprintf(message, sizeof(message),
				 "/%s: is %s, must be a whole number",
				 numbers[i], is[j]);
			check_geometry_fault(changes, KVP_EINPUT, message);
		}
		for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			snprintf(changes, sizeof(changes), "%s=%s", sizes[i],
				 wrong[j]);
			snprintf(message, sizeof(message), "/%s: " NO_BYTES,
				 sizes[i]);
			check_geometry_fault(changes, KVP_EINPUT, message);
		}
	}
}
END_TEST

START_TEST(other_keys_have_their_type)
{
	static const struct fault faults[] = {
		{ "format=1", KVP_EINPUT,
		  "/format: is a number, must be a string" },
		{ "name=null", KVP_EINPUT,
		  "/name: is null, must be a string" },
		{ "planes={}", KVP_EINPUT,
		  "/planes: is an object, must be a list" },
		{ "planes=[7]", KVP_EINPUT,
		  "/planes/0: is a number, must be an object" },
		{ "planes=[{'name':1,'bytes_per_page':1}]", KVP_EINPUT,
		  "/planes/0/name: is a number, must be a string" },
		{ "planes=[{'name':'a','bytes_per_page':true}]", KVP_EINPUT,
		  "/planes/0/bytes_per_page: " NO_BYTES },
		{ "planes=[{'name':'a','bytes_per_page':1,'count':'2'}]",
		  KVP_EINPUT, "/planes/0/count: " NO_NUMBER },
		{ "planes=[{'name':'a','bytes_per_page':1,'alias':1}]",
		  KVP_EINPUT,
		  "/planes/0/alias: is a number, must be true or false" },
		{ "planes=[{'name':'a','bytes_per_page':1,'address':null}]",
		  KVP_EINPUT, "/planes/0/address: " NO_BYTES },
		{ "access=null", KVP_EINPUT,
		  "/access: is null, must be an object" },
		{ "access={'declared_readers':7}", KVP_EINPUT,
		  "/access/declared_readers: must be \"all\" or a list with "
		  "one list of ranks per rank" },
		{ "access={'imports':{}}", KVP_EINPUT,
		  "/access/imports: must be \"group\" or a list with one list "
		  "of ranks per rank" },
		{ "access={'imports':[0,1,2,3]}", KVP_EINPUT,
		  "/access/imports/0: is a number, must be a list" },
		{ "access={'imports':[['1'],[],[],[]]}", KVP_EINPUT,
		  "/access/imports/0/0: " NO_NUMBER },
		{ "access={'importer_mode':false}", KVP_EINPUT,
		  "/access/importer_mode: is true or false, must be a "
		  "string" },
		{ "static={}", KVP_EINPUT,
		  "/static: is an object, must be a list" },
		{ "static=[[]]", KVP_EINPUT,
		  "/static/0: is a list, must be an object" },
		{ "headroom=[]", KVP_EINPUT,
		  "/headroom: is a list, must be an object" },
		{ "headroom={'free_bytes':null,'cap_bytes':1}", KVP_EINPUT,
		  "/headroom/free_bytes: " NO_BYTES },
		{ "headroom={'free_bytes':1,'cap_bytes':true}", KVP_EINPUT,
		  "/headroom/cap_bytes: " NO_BYTES },
		{ "base_chunks=null", KVP_EINPUT,
		  "/base_chunks: is null, must be a list" },
		{ "base_chunks=[{'plane':0,'offset':'0','bytes':1,'arena':0}]",
		  KVP_EINPUT, "/base_chunks/0/offset: " NO_NUMBER },
		{ "base_chunks=[{'plane':0,'offset':0,'bytes':1,'arena':''}]",
		  KVP_EINPUT, "/base_chunks/0/arena: " NO_NUMBER },
	};

	CHECK_FAULTS(faults);
}
END_TEST

START_TEST(words_are_chosen_from_the_known_ones)
{
	static const struct fault faults[] = {
		{ "format='kvplan/geometry/2'", KVP_EINPUT,
		  "/format: is \"kvplan/geometry/2\", must be one of "
		  "\"kvplan/geometry/1\", \"kvplan/plan/1\"" },
		{ "format='kvplan/plan/1'", KVP_EINPUT, "/format: is "
		  "\"kvplan/plan/1\", must be \"kvplan/geometry/1\"; a "
		  "plan has its geometry under the key geometry" },
		{ "access={'declared_readers':'group'}", KVP_EINPUT,
		  "/access/declared_readers: is \"group\", must be one of "
		  "\"all\"" },
		{ "access={'imports':'all'}", KVP_EINPUT,
		  "/access/imports: is \"all\", must be one of \"group\"" },
		{ "access={'importer_mode':'write'}", KVP_EINPUT,
		  "/access/importer_mode: is \"write\", must be one of "
		  "\"read\", \"readwrite\"" },
		{ "static=[{'name':'a','bytes':1,'importers':'node'}]",
		  KVP_EINPUT, "/static/0/importers: is \"node\", must be one "
		  "of \"none\", \"group\", \"all\"" },
	};

	CHECK_FAULTS(faults);
}
END_TEST

START_TEST(values_too_small_are_refused)
{
	static const struct fault faults[] = {
		{ "granularity=2048", KVP_EINPUT,
		  "/granularity: is 2048, must be at least 4096" },
		{ "granularity='4095 B'", KVP_EINPUT,
		  "/granularity: is 4095, must be at least 4096" },
		{ "tile_granules=0", KVP_EINPUT,
		  "/tile_granules: is 0, must be at least 1" },
		{ "pages=0", KVP_EINPUT, "/pages: is 0, must be at least 1" },
		{ "pages=-1", KVP_EINPUT,
		  "/pages: is -1, must not be negative" },
		{ "pages=1.5", KVP_EINPUT,
		  "/pages: is 1.5, must be a whole number" },
		{ "page_tokens=0", KVP_EINPUT,
		  "/page_tokens: is 0, must be at least 1" },
		{ "row_bytes=0", KVP_EINPUT,
		  "/row_bytes: is 0, must be at least 1" },
		{ "ranks=0", KVP_EINPUT, "/ranks: is 0, must be at least 1" },
		{ "ranks_per_node=0", KVP_EINPUT,
		  "/ranks_per_node: is 0, must be at least 1" },
		{ "dcp_group_size=0", KVP_EINPUT,
		  "/dcp_group_size: is 0, must be at least 1" },
		{ "planes=[{'name':'a','bytes_per_page':0}]", KVP_EINPUT,
		  "/planes/0/bytes_per_page: is 0, must be at least 1" },
		{ "planes=[{'name':'a','bytes_per_page':1,'count':0}]",
		  KVP_EINPUT, "/planes/0/count: is 0, must be at least 1" },
		{ "planes=[{'name':'a','bytes_per_page':1,'address':0}]",
		  KVP_EINPUT, "/planes/0/address: is 0, must be at least 1" },
		{ "static=[{'name':'a','bytes':0,'importers':'all'}]",
		  KVP_EINPUT, "/static/0/bytes: is 0, must be at least 1" },
		{ "arena_address=0", KVP_EINPUT,
		  "/arena_address: is 0, must be at least 1" },
	};

	CHECK_FAULTS(faults);
}
END_TEST

START_TEST(values_beyond_a_limit_are_refused)
{
	static const struct fault faults[] = {
		{ "pages=9007199254740992", KVP_EINPUT, "/pages: is "
		  "9007199254740992, must be at most 9007199254740991 "
		  "(2^53 - 1)" },
		{ "row_bytes='8192 TiB'", KVP_EINPUT, "/row_bytes: is more "
		  "than 9007199254740991 bytes (2^53 - 1)" },
		{ "snapshot_rows=2097153", KVP_ELIMIT,
		  "/snapshot_rows: is 2097153, must be at most 2097152" },
		{ "execution_rows=2097153", KVP_ELIMIT,
		  "/execution_rows: is 2097153, must be at most 2097152" },
		{ "snapshot_rows=2097152", KVP_ELIMIT, "/: execution_rows + "
		  "snapshot_rows = 2097153, must be at most 2097152" },
		{ "ranks=1025", KVP_ELIMIT,
		  "/ranks: is 1025, must be at most 1024" },
		{ "static_entries=1125899906842625", KVP_ELIMIT,
		  "/static_entries: is 1125899906842625, must be at most "
		  "1125899906842624" },
		{ "entry_limit=1125899906842625", KVP_ELIMIT,
		  "/entry_limit: is 1125899906842625, must be at most "
		  "1125899906842624" },
		{ "planes=[{'name':'a','bytes_per_page':1,'count':2097153}]",
		  KVP_ELIMIT, "/planes/0/count: is 2097153, must be at most "
		  "2097152" },
		{ "planes=[{'name':'a','bytes_per_page':1},"
		  "{'name':'b','bytes_per_page':1,'count':2097152}]",
		  KVP_ELIMIT, "/planes/1: makes 2097153 planes, must be at "
		  "most 2097152" },
		{ "planes=[{'name':'a','bytes_per_page':1,"
		  "'count':9007199254740991}]", KVP_ELIMIT,
		  "/planes/0/count: is 9007199254740991, must be at most "
		  "2097152" },
	};

	CHECK_FAULTS(faults);
}
END_TEST

START_TEST(keys_that_contradict_are_refused)
{
	static const struct fault faults[] = {
		{ "granularity=6144", KVP_EINPUT, "/granularity: is 6144, "
		  "must be a power of two such as 2097152" },
		{ "granularity=4097", KVP_EINPUT, "/granularity: is 4097, "
		  "must be a power of two such as 2097152" },
		{ "row_stride=8191", KVP_EINPUT,
		  "/row_stride: is 8191, must be at least row_bytes, 8192" },
		{ "ranks_per_node=3", KVP_EINPUT,
		  "/ranks_per_node: is 3, must divide ranks, 4" },
		{ "ranks_per_node=8", KVP_EINPUT,
		  "/ranks_per_node: is 8, must divide ranks, 4" },
		{ "dcp_group_size=3", KVP_EINPUT,
		  "/dcp_group_size: is 3, must divide ranks, 4" },
		{ "entry_limit=10;entry_reserve=11", KVP_EINPUT,
		  "/entry_reserve: is 11, must be at most entry_limit, 10" },
		{ "arena_address=4097", KVP_EINPUT, "/arena_address: is 4097, "
		  "must be a multiple of the granularity, 4096" },
		{ "planes=[{'name':'a','bytes_per_page':1,'address':2048}]",
		  KVP_EINPUT, "/planes/0/address: is 2048, must be a multiple "
		  "of the granularity, 4096" },
		{ "planes=[{'name':'a','count':2,'bytes_per_page':1,"
		  "'address':4096}]", KVP_EINPUT, "/planes/0/address: is one "
		  "address for 2 planes; list each plane with its own" },
		{ "ranks=6;ranks_per_node=2;dcp_group_size=3;"
		  "access={'imports':[[],[],[],[],[],[]]};"
		  "static=[{'name':'a','bytes':1,'importers':'none'},"
		  "{'name':'b','bytes':1,'importers':'group'}]", KVP_EINPUT,
		  "/static: item 1 is for the DCP group, but groups of 3 "
		  "ranks do not fit nodes of 2" },
	};

	CHECK_FAULTS(faults);
}
END_TEST

/* Three planes at addresses; each has a backing of 4096 bytes. */
#define AT(a, b, c) "pages=1;snapshot_rows=0;execution_rows=3;row_bytes=4096" \
	";row_stride=4096;planes=[{'name':'a','bytes_per_page':1,'address':" \
	a "},{'name':'b','bytes_per_page':4096,'address':" b "},{'name':'c'," \
	"'bytes_per_page':1},{'name':'d','bytes_per_page':1,'address':" c "}]"

START_TEST(recorded_addresses_do_not_overlap)
{
	static const struct fault faults[] = {
		{ AT("8192", "8192", "4096"), KVP_EINPUT, "/planes: plane 1 "
		  "(b) is recorded at 8192, within plane 0 (a), which ends "
		  "at 12288" },
		{ AT("12288", "4096", "12288"), KVP_EINPUT, "/planes: plane 3 "
		  "(d) is recorded at 12288, within plane 0 (a), which ends "
		  "at 16384" },
		{ AT("4096", "8192", "12288") ";arena_address=12288",
		  KVP_EINPUT, "/arena_address: the arena is recorded at "
		  "12288, within plane 3 (d), which ends at 16384" },
		{ AT("4096", "8192", "24576") ";arena_address=16384",
		  KVP_EINPUT, "/planes: plane 3 (d) is recorded at 24576, "
		  "within the arena, which ends at 28672" },
		/* Two pages of 4096 bytes, and the next plane in the second. */
		{ "pages=2;planes=[{'name':'a','bytes_per_page':4096,"
		  "'address':4096},{'name':'b','bytes_per_page':4096,"
		  "'address':8192}]", KVP_EINPUT, "/planes: plane 1 (b) is "
		  "recorded at 8192, within plane 0 (a), which ends at 12288" },
		/* Numbers at the end of what is exact. */
		{ "planes=[{'name':'a','bytes_per_page':1,'address':"
		  "9007199254736896},{'name':'b','bytes_per_page':1,'address':"
		  "9007199254736896}]", KVP_EINPUT, "/planes: plane 1 (b) is "
		  "recorded at 9007199254736896, within plane 0 (a), which "
		  "ends at 9007199254740992" },
		/* A recorded layout places more behind the rows. */
		{ "pages=4;snapshot_rows=1;execution_rows=0;row_bytes=4096;"
		  "row_stride=4096;arena_address=4096;planes=[{'name':'a',"
		  "'bytes_per_page':4096,'address':8192}];base_chunks=["
		  "{'plane':0,'offset':0,'bytes':16384,'arena':0}]",
		  KVP_EINPUT, "/planes: plane 0 (a) is recorded at 8192, "
		  "within the arena, which ends at 20480" },
	};
	static const char *const sound[] = {
		AT("4096", "8192", "12288"),
		AT("12288", "8192", "4096") ";arena_address=16384",
		AT("4096", "8192", "28672") ";arena_address=16384",
		/* No rows, no arena. */
		AT("4096", "8192", "12288")
			";execution_rows=0;arena_address=8192",
	};
	size_t i;

	CHECK_FAULTS(faults);
	for (i = 0; i < sizeof(sound) / sizeof(*sound); i++) {
		struct kvp_geometry g = geometry_of(sound[i]);

		kvp_geometry_release(&g);
	}
}
END_TEST

START_TEST(names_are_checked)
{
	static const struct fault faults[] = {
		{ "name=''", KVP_EINPUT,
		  "/name: has 0 characters, must have 1 to 128" },
		{ "name='a\\u0007'", KVP_EINPUT, "/name: holds a control "
		  "character, must be printable" },
		{ "planes=[{'name':'','bytes_per_page':1}]", KVP_EINPUT,
		  "/planes/0/name: has 0 characters, must have 1 to 64" },
		{ "planes=[{'name':'a b','bytes_per_page':1}]", KVP_EINPUT,
		  "/planes/0/name: is \"a b\", must be of A-Z a-z 0-9 _ - ." },
		{ "planes=[{'name':'a/b','bytes_per_page':1}]", KVP_EINPUT,
		  "/planes/0/name: is \"a/b\", must be of A-Z a-z 0-9 _ - ." },
		{ "planes=[{'name':'\xc3\xa4','bytes_per_page':1}]",
		  KVP_EINPUT, "/planes/0/name: is \"\xc3\xa4\", must be of "
		  "A-Z a-z 0-9 _ - ." },
		{ "planes=[{'name':'a','bytes_per_page':1},{'name':'b',"
		  "'bytes_per_page':1},{'name':'a','bytes_per_page':1}]",
		  KVP_EINPUT, "/planes: planes 0 and 2 are both called \"a\", "
		  "names must differ" },
		{ "planes=[{'name':'a','count':3,'bytes_per_page':1},"
		  "{'name':'a.1','bytes_per_page':1}]", KVP_EINPUT,
		  "/planes: planes 1 and 3 are both called \"a.1\", names "
		  "must differ" },
		{ "planes=[]", KVP_EINPUT,
		  "/planes: is empty, must hold at least one plane" },
		{ "static=[{'name':'','bytes':1,'importers':'all'}]",
		  KVP_EINPUT,
		  "/static/0/name: has 0 characters, must have 1 to 128" },
	};
	char changes[256];

	CHECK_FAULTS(faults);
	snprintf(changes, sizeof(changes), "name='%0129d'", 0);
	check_geometry_fault(changes, KVP_EINPUT,
		    "/name: has 129 characters, must have 1 to 128");
	snprintf(changes, sizeof(changes),
		 "planes=[{'name':'%065d','bytes_per_page':1}]", 0);
	check_geometry_fault(changes, KVP_EINPUT,
		    "/planes/0/name: has 65 characters, must have 1 to 64");
	snprintf(changes, sizeof(changes), "planes=[{'name':'%062d',"
		 "'bytes_per_page':1,'count':11}]", 0);
	check_geometry_fault(changes, KVP_EINPUT, "/planes/0: has names of 65 "
		    "characters after expansion, must have at most 64");
}
END_TEST

START_TEST(rank_lists_are_checked)
{
	static const struct fault faults[] = {
		{ "access={'imports':[[0,1,1],[],[],[]]}", KVP_EINPUT,
		  "/access/imports/0/2: rank 1 is listed twice" },
		{ "access={'declared_readers':[[],[2,3,2],[],[]]}", KVP_EINPUT,
		  "/access/declared_readers/1/2: rank 2 is listed twice" },
		{ "access={'imports':[[4],[],[],[]]}", KVP_ELIMIT,
		  "/access/imports/0/0: is 4, must be at most 3" },
		{ "access={'imports':[[],[],[]]}", KVP_EINPUT,
		  "/access/imports: has 3 lists, must have one for each of "
		  "the 4 ranks" },
		{ "access={'declared_readers':[]}", KVP_EINPUT,
		  "/access/declared_readers: has 0 lists, must have one for "
		  "each of the 4 ranks" },
		{ "access={'declared_readers':[[],[0],[0,3],[2]]}",
		  KVP_EINPUT, "/dcp_group_size: rank 1 imports from rank 0, "
		  "whose declared_readers do not list it; declare it or drop "
		  "the import" },
		{ "access={'declared_readers':[[1],[0],[],[2]],"
		  "'imports':[[1],[0],[3],[2]]}", KVP_EINPUT,
		  "/access/imports: rank 3 imports from rank 2, whose "
		  "declared_readers do not list it; declare it or drop the "
		  "import" },
		{ "ranks_per_node=2;access={'imports':[[],[0],[],[1]]}",
		  KVP_EINPUT, "/access/imports: rank 3 on node 1 imports from "
		  "rank 1 on node 0; memory is granted within a node of "
		  "ranks_per_node = 2 ranks only" },
		{ "ranks_per_node=2;dcp_group_size=4", KVP_EINPUT,
		  "/dcp_group_size: rank 0 on node 0 imports from rank 2 on "
		  "node 1; memory is granted within a node of ranks_per_node "
		  "= 2 ranks only" },
	};

	CHECK_FAULTS(faults);
}
END_TEST

START_TEST(too_many_lists_are_told_as_too_few_are)
{
	check_geometry_fault("access={'imports':[[],[],[],[],[]]}", KVP_EINPUT,
		    "/access/imports: has 5 lists, must have one for each of "
		    "the 4 ranks");
}
END_TEST

START_TEST(a_rank_listed_twice_is_told_in_a_full_list_too)
{
	check_geometry_fault("access={'imports':[[0,1,2,3,1],[],[],[]]}",
		    KVP_EINPUT,
		    "/access/imports/0/4: rank 1 is listed twice");
}
END_TEST

START_TEST(products_that_overflow_are_refused)
{
	static const struct fault faults[] = {
		{ "pages=9007199254740991", KVP_EINPUT, "/planes: plane 0 (a): "
		  "pages * bytes_per_page = 9007199254740991 * 4096, summed "
		  "over the planes," TOO_LARGE },
		/* The first two planes fit, the third does not. */
		{ "pages=1099511627776", KVP_EINPUT, "/planes: plane 2 (b.1): "
		  "pages * bytes_per_page = 1099511627776 * 2048, summed "
		  "over the planes," TOO_LARGE },
		/* Only rounding up to the granularity goes too far. */
		{ "pages=9007199254740991;page_tokens=1;dcp_group_size=1;"
		  "planes=[{'name':'a','bytes_per_page':1}]", KVP_EINPUT,
		  "/planes: plane 0 (a): pages * bytes_per_page = "
		  "9007199254740991 * 1, summed over the planes," TOO_LARGE },
		{ "row_stride=9007199254740991", KVP_EINPUT,
		  "/row_stride: rows * row_stride" TOO_LARGE },
		{ "row_bytes=9007199254740991;row_stride=", KVP_EINPUT,
		  "/row_bytes: rows * row_stride" TOO_LARGE },
		{ "execution_rows=0;snapshot_rows=1;"
		  "row_stride=9007199254740991", KVP_EINPUT,
		  "/row_stride: rows * row_stride" TOO_LARGE },
		{ "tile_granules=9007199254740991", KVP_EINPUT,
		  "/: tile_granules * granularity" TOO_LARGE },
		{ "tile_granules=2199023255552", KVP_EINPUT,
		  "/: tile_granules * granularity" TOO_LARGE },
		{ "page_tokens=9007199254740991", KVP_EINPUT,
		  "/: pages * page_tokens * dcp_group_size" TOO_LARGE },
		{ "page_tokens=562949953421312;dcp_group_size=4", KVP_EINPUT,
		  "/: pages * page_tokens * dcp_group_size" TOO_LARGE },
		{ "page_overhead_bytes=9007199254740991", KVP_EINPUT,
		  "/: pages * page_overhead_bytes" TOO_LARGE },
		{ "static=[{'name':'a','bytes':1,'importers':'all'},{'name':"
		  "'b','bytes':9007199254740991,'importers':'all'}]",
		  KVP_EINPUT, "/static: the sum of all bytes" TOO_LARGE },
	};

	CHECK_FAULTS(faults);
}
END_TEST

START_TEST(products_that_just_fit_are_taken)
{
	static const char *const changes[] = {
		"snapshot_rows=0;execution_rows=0;page_tokens=1;"
		"dcp_group_size=1;pages=9007199254736896;"
		"planes=[{'name':'a','bytes_per_page':1}]",
		"tile_granules=2199023255551",
		"page_tokens=281474976710655;dcp_group_size=4",
		"page_overhead_bytes=1125899906842623",
		"snapshot_rows=2097151;row_stride=",
		"execution_rows=0;snapshot_rows=1;row_stride=9007199254736896",
		"static_entries=1125899906842624;entry_limit=1125899906842624",
		"ranks=1024;ranks_per_node=;dcp_group_size=1024",
	};
	struct kvp_geometry g;
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		g = geometry_of(changes[i]);
		kvp_geometry_release(&g);
	}
}
END_TEST

Suite *geometry_error_suite(void)
{
	Suite *suite = suite_create("geometry_error");
	TCase *tests = tcase_create("geometry_error");

	tcase_add_test(tests, what_is_no_geometry_is_refused);
	tcase_add_test(tests, unknown_keys_are_refused);
	tcase_add_test(tests,
		       duplicate_keys_are_refused_however_they_are_spelled);
	tcase_add_test(tests, missing_keys_are_named);
	tcase_add_test(tests, numbers_and_sizes_have_their_type);
	tcase_add_test(tests, other_keys_have_their_type);
	tcase_add_test(tests, words_are_chosen_from_the_known_ones);
	tcase_add_test(tests, values_too_small_are_refused);
	tcase_add_test(tests, values_beyond_a_limit_are_refused);
	tcase_add_test(tests, keys_that_contradict_are_refused);
	tcase_add_test(tests, recorded_addresses_do_not_overlap);
	tcase_add_test(tests, names_are_checked);
	tcase_add_test(tests, rank_lists_are_checked);
	tcase_add_test(tests, too_many_lists_are_told_as_too_few_are);
	tcase_add_test(tests, a_rank_listed_twice_is_told_in_a_full_list_too);
	tcase_add_test(tests, products_that_overflow_are_refused);
	tcase_add_test(tests, products_that_just_fit_are_taken);
	suite_add_tcase(suite, tests);
	return suite;
}
