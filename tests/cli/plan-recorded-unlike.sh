#!/bin/sh
# A recorded layout whose planes are cut unalike: no mode has more chunks than
# the mode before it.
for mode in none row span; do
	kvplan plan -q --merge="$mode" -o "$TMP/plan" \
		tests/random/regr/span-above-row.json
	jq -c '.summary | [.chunks, .lower_bound, .optimal]' "$TMP/plan"
	kvcheck "$TMP/plan"
done
