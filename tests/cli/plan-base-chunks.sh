#!/bin/sh
# A recorded layout: the chunks of an unmerged plan, taken as base_chunks, give
# the same plans as the computed layout.
small >"$TMP/geometry"
kvplan plan -q --merge=none -o "$TMP/none" "$TMP/geometry"
jq '.geometry + {base_chunks: .chunks}' "$TMP/none" >"$TMP/recorded"
for mode in none row span; do
	kvplan plan -q --merge="$mode" "$TMP/geometry" |
		jq -c '.chunks, .rows, .summary' >"$TMP/a"
	kvplan plan -q --merge="$mode" -o "$TMP/plan" "$TMP/recorded"
	jq -c '.chunks, .rows, .summary' "$TMP/plan" >"$TMP/b"
	cmp "$TMP/a" "$TMP/b" && cat "$TMP/b"
	kvcheck "$TMP/plan"
done
jq -c '.geometry.base_chunks | length' "$TMP/plan"
