#!/bin/sh
# The node that exceeds the limit is named; the summary is that node's.
small | sed 's/^"ranks".*/& "entry_limit": 31, "entry_reserve": 1,/
s/^"dcp.*/& "access": { "imports": [[], [], [3], [2]] },/' >"$TMP/geometry"
run kvplan plan -o "$TMP/plan" --merge=none "$TMP/geometry"
jq -c .summary.entries "$TMP/plan"
run kvplan verify "$TMP/plan"
run kvplan verify --warn=entry-limit "$TMP/plan"
