#!/bin/sh
# The same bytes for the same geometry, and for the geometry in a plan.
# Modes differ in three keys only.
for file in layouts/example.json layouts/kimi-linear-48b-tp8-dcp8.json; do
	kvplan plan -q -o "$TMP/a" "$file"
	kvplan plan -q -o "$TMP/b" "$file"
	cmp "$TMP/a" "$TMP/b"
	jq .geometry "$TMP/a" >"$TMP/geometry"
	kvplan plan -q -o "$TMP/b" "$TMP/geometry"
	cmp "$TMP/a" "$TMP/b"
	kvplan plan -q --merge=span -o "$TMP/b" "$file"
	for plan in a b; do
		jq 'del(.merge, .chunks, .summary)' "$TMP/$plan" >"$TMP/$plan.rest"
	done
	cmp "$TMP/a.rest" "$TMP/b.rest"
	echo "$file"
done
