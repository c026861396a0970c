#!/bin/sh
# --geometry: the plan's geometry against a file's, key by key.
kvplan plan -q -o "$TMP/plan" layouts/example.json
run kvplan verify --geometry=layouts/example.json "$TMP/plan"
run kvplan verify --geometry layouts/example.json "$TMP/plan" "$TMP/plan"
sed 's/"pages": 512/"pages": 513/; s/"read"/"readwrite"/; s/example:/sample:/
	s/"wide"/"broad"/; s/\[3\]/[]/' layouts/example.json >"$TMP/other"
run kvplan verify --geometry="$TMP/other" "$TMP/plan"
run kvplan verify --geometry="$TMP/other" --format=json "$TMP/plan"
run kvplan verify --geometry="$TMP/other" "$TMP/other" "$TMP/plan"
# Other words for the same geometry.
jq .geometry "$TMP/plan" >"$TMP/normal"
run kvplan verify --geometry="$TMP/normal" "$TMP/plan"
run kvplan verify --geometry="$TMP/plan" "$TMP/plan"
run kvplan verify --geometry="$TMP/nosuch" "$TMP/plan"
run kvplan verify --geometry="$TMP/other" --geometry=layouts/example.json \
	"$TMP/plan"
