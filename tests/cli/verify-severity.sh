#!/bin/sh
# --warn and --error in order: the last one for a rule counts.
kvplan plan -q layouts/example.json | sed 's/"kv_tokens":65536/"kv_tokens":1/
	s/"lower_bound":33/"lower_bound":34/' >"$TMP/plan"
run kvplan verify "$TMP/plan"
run kvplan verify --warn=capacity "$TMP/plan"
run kvplan verify --warn=capacity --warn bound "$TMP/plan"
run kvplan verify --warn=capacity --warn=bound --error=bound "$TMP/plan"
run kvplan verify --error=bound --warn=bound --warn=capacity "$TMP/plan"
run kvplan verify --format=json --warn=capacity --warn=bound "$TMP/plan"
