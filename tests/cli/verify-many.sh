#!/bin/sh
# Many findings, none left out.
kvplan plan -q --merge=none layouts/kimi-k3.1-pro-tp16-dcp16.json |
	jq -c '.rows[].pages[0][0] += 1' >"$TMP/plan"
kvplan verify --warn=entry-limit "$TMP/plan" >"$TMP/out"
echo "exit $?"
grep -c '^error: rows: ' "$TMP/out"
sed -n '1,3p;$p' "$TMP/out"
kvcheck "$TMP/plan" >"$TMP/out"
echo "exit $?"
cut -c 1-8 "$TMP/out" | sort | uniq -c | awk '{ $1 = $1; print }'
