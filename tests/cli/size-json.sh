#!/bin/sh
# Always a list, of the geometry's own words.
run kvplan size --free=200KiB --json layouts/example.json
small | sed '/"pages"/d; /"snapshot_rows"/d' >"$TMP/open.json"
run kvplan size --free=200KiB --json "$TMP/open.json"
run kvplan size --pages=20 --snapshots=99 --length=100 --json "$TMP/open.json"
run kvplan size --free=200KiB --memory-limit=-1G --memory-limit=' 50%' --json \
	"$TMP/open.json"
run kvplan size --free=200KiB --memory-limit=-1G --memory-limit=50% --json \
	"$TMP/open.json"
KVPLAN_ALLOC_CACHE_MAX_MB=0 kvplan size --free=1MiB --json "$TMP/open.json" |
	jq -c '.[].headroom'
KVPLAN_ALLOC_CACHE_MAX_MB=3 kvplan size --free=1MiB --json "$TMP/open.json" |
	jq -c '.[].headroom'
