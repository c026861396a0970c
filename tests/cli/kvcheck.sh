#!/bin/sh
# The separate checker: e, w and s lines.
kvplan plan -q -o "$TMP/good" layouts/example.json
sed 's/"kv_tokens":65536/"kv_tokens":1/; s/"lower_bound":33/"lower_bound":34/' \
	"$TMP/good" >"$TMP/bad"
run kvcheck "$TMP/good"
run kvcheck - <"$TMP/good"
run kvcheck "$TMP/bad"
run kvcheck --warn=capacity "$TMP/bad"
run kvcheck --warn=capacity --warn bound "$TMP/bad"
run kvcheck layouts/example.json
jq -c '.geometry.snapshot_rows = 60' "$TMP/good" >"$TMP/rows"
run kvcheck "$TMP/rows"
run kvplan verify "$TMP/rows"
run kvcheck --warn=entry-limit --help
run kvcheck -h
