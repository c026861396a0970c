#!/bin/sh
# Rows that do not fit: status 1, by how much, and how many fit.  That many do.
for rows in 14 15 100; do
	sed "s/\"snapshot_rows\": 6/\"snapshot_rows\": $rows/" \
		layouts/example.json >"$TMP/geometry"
	run kvplan plan -q -o "$TMP/$rows" "$TMP/geometry"
	run kvplan verify "$TMP/geometry"
done
# Not one row fits: at least 0 is said.
small_with planes '[{"name": "kv", "bytes_per_page": 1, "alias": false}]' \
	>"$TMP/geometry"
run kvplan plan "$TMP/geometry"
# A bad plan stays what it was.
echo old >"$TMP/old"
kvplan plan -o "$TMP/old" "$TMP/geometry" 2>/dev/null
cat "$TMP/old"
left_behind
