#!/bin/sh
# shellcheck disable=SC1003,SC2016
# What breaks a geometry: one line that begins with the file's name and says
# where and why, status 2, nothing on stdout, and no need for much memory.
refused() {
	(
		# shellcheck disable=SC3045
		[ "$SAN" ] || ulimit -v 400000
		timeout 20 kvplan plan "$TMP/$1" >"$TMP/out" 2>"$TMP/err"
	)
	status=$?
	cut -c 1-400 "$TMP/err"
	[ "$status" -eq 2 ] || echo "$1: exit $status"
	[ ! -s "$TMP/out" ] || echo "$1: something on stdout"
	[ "$(wc -l <"$TMP/err")" -eq 1 ] || echo "$1: not one line"
	iconv -f UTF-8 -t UTF-8 "$TMP/err" >/dev/null 2>&1 || echo "$1: not UTF-8"
	tr -d '\n\040-\176\240-\377' <"$TMP/err" >"$TMP/control"
	[ ! -s "$TMP/control" ] || echo "$1: control characters"
	case $(cat "$TMP/err") in
	"kvplan: error: $TMP/$1:"*) ;;
	*) echo "$1: the file is not named" ;;
	esac
	rm -f "$TMP/$1"
}
# A text as printf has it.
text() {
	# shellcheck disable=SC2059
	printf "$2" >"$TMP/$1"
	refused "$1"
}
# The small geometry, edited.
edit() {
	small >"$TMP/small"
	sed "$2" "$TMP/small" >"$TMP/$1"
	cmp -s "$TMP/small" "$TMP/$1" && echo "$1: not edited"
	refused "$1"
}
# The small geometry with another value for a key, or with other planes.
value() {
	small_with "$2" "$3" >"$TMP/$1"
	refused "$1"
}
planes() { value "$1" planes "[$2]"; }

echo '== not JSON'
text empty ''
text blank ' \n\t\r\n'
text truncated '{"format": "kvplan/geometry/1",'
text truncated-key '{"for'
text truncated-string '{"format": "kvplan'
text truncated-escape '{"format": "kvplan\\'
text truncated-unicode '{"format": "\\u12'
text truncated-number '{"pages": 1'
text truncated-list '{"planes": [1, '
text truncated-word '{"planes": tru'
edit trailing '$s/$/ x/'
edit trailing-brace '$s/$/}/'
edit trailing-comma '$s/}/,}/'
edit two-objects '$s/$/{}/'
text nul '\0'
text nul-trailing '{}\0'
text nul-inside '{"format"\0: 1}'
text nul-string '{"format": "a\0b"}'
text nul-key '{"for\0mat": 1}'
text utf8-lone '{"name": "\351"}'
text utf8-cut '{"name": "\303"}'
text utf8-overlong '{"name": "\300\257"}'
text utf8-surrogate '{"name": "\355\240\200"}'
text utf8-beyond '{"name": "\364\220\200\200"}'
text utf8-outside '{\303\251: 1}'
text byte-order-mark '\357\273\277{}'
text control '\001{}'
text control-vertical-tab '\013{}'
text control-form-feed '\014{}'
text control-no-break-space '\302\240{}'
text control-string '{"name": "a\tb"}'
text control-newline '{"name": "a\nb"}'
text comment '{ // no\n}'
text single-quotes "{'format': 1}"
text bare-key '{format: 1}'
text no-colon '{"format" 1}'
text no-comma '{"a": 1 "b": 2}'
text list-brace '[1}'
text word-case '{"alias": True}'
text nan '{"pages": NaN}'
text infinity '{"pages": -Infinity}'
text hexadecimal '{"pages": 0x10}'
text plus '{"pages": +1}'
text point-first '{"pages": .5}'
text minus-alone '{"pages": -}'
value zero-first pages 01
value zero-minus pages -01
value point-last pages 1.
value exponent-last pages 1e
value exponent-sign pages 1e+
text escape '{"name": "\\x41"}'
text escape-nul '{"name": "a\\u0000b"}'
text escape-nul-key '{"for\\u0000mat": 1}'
text escape-half '{"name": "\\ud800"}'
text escape-half-low '{"name": "\\udc00"}'
text escape-half-pair '{"name": "\\ud800\\u0041"}'
text escape-digits '{"name": "\\u12g4"}'
repeat 100000 '[' >"$TMP/deep-lists"
refused deep-lists
repeat 100000 '{"a":' >"$TMP/deep-objects"
refused deep-objects
repeat 16 '[' >"$TMP/deep-16"
refused deep-16
repeat 17 '[' >"$TMP/deep-17"
refused deep-17
repeat 30000000 ' ' >"$TMP/long-blank"
refused long-blank
printf 'line\n\303\251 {' >"$TMP/place"
refused place
edit place-line '5s/8/08/'

echo '== not a geometry'
text number 1
text string '"kvplan/geometry/1"'
text word null
text list '[]'
text object '{}'
text format-only '{"format": "kvplan/geometry/1"}'
value format format '"kvplan/geometry/2"'
value plan format '"kvplan/plan/1"'
value number format 1
value escape format '"\u001b[31m"'
value c1 format '"\u009b31m"'
value cut format "\"x$(repeat 40 "$(printf '\303\251')")\""
kvplan plan -q -o "$TMP/plan" layouts/example.json
refused plan

echo '== keys'
value unknown page 8
value unknown-case Pages 8
value unknown-empty '' 8
value unknown-escaped 'p\u0001\u001b[31m' 8
value unknown-long "$(repeat 2000 x)" 8
value unknown-utf8 "$(printf '\303\251\302\233')" 8
value duplicate pages '8, "pages": 9'
value duplicate-escaped pages '8, "\u0070ages": 8'
for key in format name pages page_tokens snapshot_rows execution_rows \
	row_bytes ranks dcp_group_size; do
	edit "without-$key" "/^\"$key\"/d"
done
edit without-planes '/^"planes"/d; s/\("dcp_group_size": 2\),/\1/'

echo '== types and ranges'
for key in name granularity pages; do
	value null "$key" null
	value true "$key" true
	value list "$key" '[[]]'
	value object "$key" '{}'
	value fraction "$key" 1.5
done
planes null null
planes text '"kv"'
planes list '[]'
value empty name '""'
value control name '"a\u001bb"'
value delete name '"a\u007fb"'
value c1 name '"a\u009bb"'
value long name "\"$(repeat 129 x)\""
for number in -1 -0.5 1.5 1e-1 0.1e0 9007199254740990.6 9007199254740992 \
	9007199254740993 18446744073709551616 1e16 1e999 1e-999 \
	1e99999999999999999999 '"8"' "$(repeat 400 9)"; do
	value number pages "$number"
done
value zero granularity 0
value small granularity 2048
value odd granularity 6144
value tile-zero tile_granules '0'
value zero pages 0
value zero page_tokens 0
value zero row_bytes 0
value unit granularity '"4 KB"'
value unit row_bytes '"8 kib"'
value no-unit row_bytes '"8192"'
value two-blanks row_bytes '"8  KiB"'
value blank-first row_bytes '" 8 KiB"'
value blank-last row_bytes '"8 KiB "'
value fraction row_bytes '"1.5 KiB"'
value sign row_bytes '"-8 KiB"'
value plus row_bytes '"+8 KiB"'
value exponent row_bytes '"1e3 KiB"'
value empty row_bytes '""'
value only-unit row_bytes '"KiB"'
value escaped row_bytes '"8\u0020KiB"'
value large row_bytes '"8192 TiB"'
value huge row_bytes '"99999999999999999999999 B"'
value rows snapshot_rows 2097153
value rows execution_rows 2097153
value rows-together snapshot_rows 2097152
value stride row_stride '8191'
value zero ranks 0
value many ranks 1025
value zero ranks_per_node 0
value odd ranks_per_node 3
value many ranks_per_node 8
value zero dcp_group_size 0
value odd dcp_group_size 3
value many dcp_group_size 8
value reserve entry_limit '10, "entry_reserve": 11'
value limit-large entry_limit '1125899906842625'
value static-entries static_entries '-1'
value arena-odd arena_address '4097'
value arena-zero arena_address '0'
value headroom-key headroom '{ "free_bytes": 1 }'
value headroom-type headroom '{ "free_bytes": null, "cap_bytes": 1 }'
value headroom-list headroom '[]'

echo '== products'
value product pages 9007199254740991
value product page_tokens 9007199254740991
value product row_bytes 9007199254740991
value product granularity 4503599627370496
value product-tile tile_granules '9007199254740991'
value product-overhead page_overhead_bytes '"4096 TiB"'
value product-static static '[
{"name": "a", "bytes": 9007199254740991, "importers": "all"},
{"name": "b", "bytes": 1, "importers": "all"}]'
planes product-planes '{"name": "kv", "count": 2097152,
"bytes_per_page": 1099511627776}'

echo '== planes'
planes none ''
planes number 1
planes unknown '{"name": "kv", "bytes_per_page": 1, "page": 1}'
planes nameless '{"bytes_per_page": 4096}'
planes sizeless '{"name": "kv"}'
planes zero '{"name": "kv", "bytes_per_page": 0}'
planes count-zero '{"name": "kv", "count": 0, "bytes_per_page": 1}'
planes alias '{"name": "kv", "alias": 1, "bytes_per_page": 1}'
planes name-empty '{"name": "", "bytes_per_page": 1}'
planes name-blank '{"name": "k v", "bytes_per_page": 1}'
planes name-utf8 '{"name": "k\u00e9", "bytes_per_page": 1}'
planes name-long "{\"name\": \"$(repeat 65 x)\", \"bytes_per_page\": 1}"
planes name-expanded "{\"name\": \"$(repeat 63 x)\", \"count\": 2,
\"bytes_per_page\": 1}"
planes name-twice '{"name": "kv", "bytes_per_page": 1},
{"name": "kv", "bytes_per_page": 2}'
planes name-meets '{"name": "kv", "count": 2, "bytes_per_page": 1},
{"name": "kv.1", "bytes_per_page": 2}'
planes address-odd '{"name": "kv", "bytes_per_page": 1, "address": 1}'
planes address-zero '{"name": "kv", "bytes_per_page": 1, "address": 0}'
planes address-many '{"name": "kv", "count": 2, "bytes_per_page": 1,
"address": 4096}'

echo '== too many chunks'
planes planes '{"name": "kv", "count": 2097153, "bytes_per_page": 1}'
planes planes-together '{"name": "a", "count": 1100000, "bytes_per_page": 1},
{"name": "b", "count": 1100000, "bytes_per_page": 1}'
planes planes-huge '{"name": "kv", "count": 9007199254740991,
"bytes_per_page": 1}'
small | sed 's/"snapshot_rows": 2/"snapshot_rows": 2097151/
	s/"pages": 8/"pages": 3000000/' >"$TMP/tiles"
refused tiles
small | sed 's/"snapshot_rows": 2/"snapshot_rows": 1/
	s/"row_bytes": 8192/"row_bytes": "8 TiB"/
	s/"pages": 8/"pages": 2147483648/' >"$TMP/tiles-huge"
refused tiles-huge

echo '== access and static storage'
access() { value "$1" access "$2"; }
access list '[]'
access unknown '{ "readers": "all" }'
access mode '{ "importer_mode": "write" }'
access word '{ "imports": "all" }'
access declared-word '{ "declared_readers": "group" }'
access number '{ "imports": 1 }'
access lists-few '{ "imports": [[], [], []] }'
access lists-many '{ "imports": [[], [], [], [], []] }'
access lists-flat '{ "imports": [0, 1, 2, 3] }'
access rank '{ "imports": [[4], [], [], []] }'
access rank-negative '{ "imports": [[-1], [], [], []] }'
access rank-twice '{ "imports": [[1, 1], [], [], []] }'
access undeclared '{ "imports": [[1], [], [], []],
"declared_readers": [[], [], [], []] }'
access undeclared-group '{ "declared_readers": [[], [0], [3], [2]] }'
access node '{ "imports": [[2], [], [], []] }'
edit node-group 's/"dcp_group_size": 2/"dcp_group_size": 4/'
value static-object static '{}'
value static-name static '[{"bytes": 1, "importers": "all"}]'
value static-bytes static '[{"name": "a", "bytes": 0, "importers": "all"}]'
value static-word static '[{"name": "a", "bytes": 1, "importers": "some"}]'
value static-group dcp_group_size '4, "access": { "imports": [[],[],[],[]] },
"static": [{"name": "a", "bytes": 1, "importers": "group"}]'

echo '== recorded chunks'
# Two planes of 8 granules, dedicated 8192, rows up to 24576.
recorded() {
	value "recorded-$1" base_chunks "[$(echo "$2" | awk '{
		n = split($0, chunk, ";")
		for (i = 1; i <= n; i++) {
			split(chunk[i], c, " ")
			printf "%s{\"plane\":%s,\"offset\":%s,\"bytes\":%s,\"arena\":%s}",
				(i > 1 ? "," : ""), c[1], c[2], c[3], c[4]
		}
	}')]"
}
tail='0 8192 24576 null; 1 8192 24576 null'
recorded none ''
recorded gap-plane '0 0 8192 8192; 1 0 8192 16384; 0 12288 20480 null; 1 8192 24576 null'
recorded overlap-plane '0 0 8192 8192; 1 0 8192 16384; 0 4096 28672 null; 1 8192 24576 null'
recorded short-plane "0 0 8192 8192; 1 0 8192 16384; 0 8192 20480 null; 1 8192 24576 null"
recorded long-plane "0 0 8192 8192; 1 0 8192 16384; 0 8192 28672 null; 1 8192 24576 null"
recorded missing-plane '0 0 16384 8192; 0 16384 16384 null'
recorded twice "0 0 8192 8192; 0 0 8192 8192; 1 0 8192 16384; $tail"
recorded gap-arena "0 0 8192 8192; 1 0 8192 20480; $tail"
recorded overlap-arena "0 0 8192 8192; 1 0 8192 12288; $tail"
recorded early-arena "0 0 8192 4096; 1 0 8192 12288; $tail"
recorded short-arena "0 0 8192 8192; 1 0 8192 null; $tail"
recorded far-arena "0 0 8192 8192; 1 0 8192 16384; 0 8192 24576 24576; 1 8192 24576 null"
recorded odd-offset "0 1 8192 8192; 1 0 8192 16384; $tail"
recorded odd-bytes "0 0 8191 8192; 1 0 8192 16384; $tail"
recorded odd-arena "0 0 8192 8193; 1 0 8192 16384; $tail"
recorded zero-bytes "0 0 0 8192; 1 0 8192 16384; $tail"
recorded plane "2 0 8192 8192; 1 0 8192 16384; $tail"
recorded plane-huge "4294967296 0 8192 8192; $tail"
recorded arena-text '0 0 8192 "none"'
value recorded-key base_chunks '[{"plane": 0, "offset": 0, "bytes": 4096}]'
value recorded-object base_chunks '{}'
