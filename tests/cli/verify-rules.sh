#!/bin/sh
# Every rule that is listed can be lowered and raised.
kvplan plan -q -o "$TMP/plan" layouts/example.json
run kvplan verify --list-rules
kvplan verify --list-rules | while read -r rule _; do
	kvplan verify --warn="$rule" --error="$rule" "$TMP/plan"
	kvcheck --warn="$rule" "$TMP/plan"
done | sort | uniq -c | awk '{ $1 = $1; print }'
