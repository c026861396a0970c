#!/bin/sh
# What is still allowed at a limit, and the ways to write a number.
allowed() {
	small_with "$1" "$2" >"$TMP/geometry"
	kvplan plan -q -o "$TMP/plan" "$TMP/geometry"
	echo "$1: $(echo "$2" | cut -c 1-60): exit $?"
	kvplan verify "$TMP/plan"
}
allowed name "\"$(repeat 128 x)\""
allowed name "\"$(repeat 128 '\u00e9')\""
allowed name "\"$(repeat 128 '\ud83d\ude00')\""
allowed planes "[{\"name\": \"$(repeat 62 x)\", \"count\": 2,
	\"bytes_per_page\": 4096}]"
allowed planes "[{\"name\": \"$(repeat 64 x)\", \"bytes_per_page\": 8192}]"
allowed ranks '1024, "static": []'
allowed page_tokens 562949953421311
allowed entry_limit 1125899906842624
allowed static_entries 0
allowed granularity '"4096 B"'
allowed granularity 4.096e3
allowed pages 8.000
allowed pages 80e-1
allowed pages 0.8E+1
allowed pages 0.00000000000000000000000000000000000000008e41
allowed row_bytes '"8KiB"'
allowed row_bytes '"0008 KiB"'
allowed snapshot_rows 0
allowed snapshot_rows -0
allowed snapshot_rows 0e999
allowed tile_granules 2199023255551
allowed access '{ "imports": [[], [1, 0], [3], []] }'
allowed access '{ "declared_readers": [[1], [0], [3], [2]] }'
allowed headroom '{ "free_bytes": "262 MiB", "cap_bytes": "64 MiB" }'
allowed headroom '{ "free_bytes": "262 MiB", "cap_bytes": null }'
allowed headroom '{ "free_bytes": "262 MiB", "cap_bytes": "1 GiB" }'
# Keys may be escaped.
small | sed 's/"pages"/"p\\u0061g\\u0065s"/' | kvplan plan -q - | kvcheck -
