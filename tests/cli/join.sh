#!/bin/sh
# Four parts of two nodes, in tests/parts, as one document; and all.json, the
# part of a process that has all ranks.
parts=tests/parts
run kvplan join $parts/0.json $parts/1.json $parts/2.json $parts/3.json
# Their order does not matter, nor where they come from and go to.
kvplan join --access $parts/[0-3].json >"$TMP/access"
run grep -c . "$TMP/access"
run grep '"plane":1' "$TMP/access"
run sh -c "kvplan join -o '$TMP/file' $parts/3.json $parts/1.json - \
	$parts/0.json --access <$parts/2.json"
cmp "$TMP/file" "$TMP/access"
run sh -c "kvplan join --access -o - $parts/[0-3].json | cmp - '$TMP/access'"
kvplan join $parts/all.json | jq -c '[.complete, .capacity.entries, keys]'
