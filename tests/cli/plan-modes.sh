#!/bin/sh
# Every mode is called by name and stated in the plan.
for mode in none row span; do
	kvplan plan --merge="$mode" layouts/example.json >"$TMP/plan"
	jq -c '[.merge, .summary]' "$TMP/plan"
	kvcheck "$TMP/plan"
done
echo 'span chunks:'
jq -c '.chunks[]' "$TMP/plan"
