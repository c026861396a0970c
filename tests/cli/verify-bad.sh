#!/bin/sh
# Every finding of every plan; status 1 when one of several is bad.
kvplan plan -q -o "$TMP/good" layouts/example.json
edit() { sed "$2" "$TMP/good" >"$TMP/$1"; }
edit tokens 's/"kv_tokens":65536/"kv_tokens":65537/'
edit bound 's/"lower_bound":33/"lower_bound":34/'
edit optimal 's/"optimal":true/"optimal":false/'
edit reader 's/{"rank":1,"readers":\[0,1\]}/{"rank":1,"readers":[0,1,2]}/'
edit entries 's/"per_node":\[392\]/"per_node":[391]/'
edit dedicated 's/"dedicated_bytes":20971520/"dedicated_bytes":0/'
jq -c '.chunks[3].offset += 1' "$TMP/good" >"$TMP/offset"
jq -c '.chunks[3].plane = 99' "$TMP/good" >"$TMP/plane"
jq -c '.chunks |= .[1:]' "$TMP/good" >"$TMP/chunk"
jq -c '.chunks = []' "$TMP/good" >"$TMP/chunks"
jq -c '.rows[2].pages[0][0] += 1' "$TMP/good" >"$TMP/row"
jq -c '.access[1].readers = [0, 1, 4]' "$TMP/good" >"$TMP/ranks"
jq -c '.access = []' "$TMP/good" >"$TMP/access"
jq -c '.summary.entries.per_rank = []' "$TMP/good" >"$TMP/per_rank"
jq -c '.headroom = { free_bytes: 1, cap_bytes: 0 }' "$TMP/good" \
	>"$TMP/headroom"
jq -c '.rows = []' "$TMP/good" >"$TMP/rows"
jq -c '.merge = "none"' "$TMP/good" >"$TMP/merge"
for bad in tokens bound optimal reader entries dedicated offset plane chunk \
	chunks row rows merge ranks access per_rank headroom; do
	cmp -s "$TMP/good" "$TMP/$bad" && echo "$bad is not edited"
	run kvplan verify "$TMP/$bad"
done
run kvplan verify "$TMP/good" "$TMP/tokens" "$TMP/good"
run kvplan verify "$TMP/tokens" "$TMP/bound"
