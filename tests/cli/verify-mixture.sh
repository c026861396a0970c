#!/bin/sh
# Operands that cannot be judged do not keep the others from it: the report
# goes to stderr, but JSON to stdout; the highest status counts.
kvplan plan -q -o "$TMP/good" layouts/example.json
sed 's/"kv_tokens":65536/"kv_tokens":1/' "$TMP/good" >"$TMP/bad"
sed 's/"snapshot_rows": 6/"snapshot_rows": 60/' layouts/example.json \
	>"$TMP/rows"
echo '{' >"$TMP/broken"
run kvplan verify "$TMP/good" "$TMP/broken"
run kvplan verify "$TMP/broken" "$TMP/good" "$TMP/bad"
run kvplan verify "$TMP/broken" "$TMP/rows" "$TMP/good"
run kvplan verify "$TMP/nosuch" "$TMP/broken" "$TMP/good"
run kvplan verify "$TMP/broken" "$TMP/nosuch"
run kvplan verify "$TMP/rows" "$TMP/good" "$TMP/bad"
run kvplan verify --format=json "$TMP/good" "$TMP/broken"
