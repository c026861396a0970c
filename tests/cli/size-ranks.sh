#!/bin/sh
# Ranks with different free memory: the least decides and is named.
small | sed '/"pages"/d; /"snapshot_rows"/d' >"$TMP/open.json"
who() {
	jq -c '.[] | [.rank, .free_bytes, .pages]'
}
kvplan size --json --free=200KiB "$TMP/open.json" | who
kvplan size --json --free=300KiB,210KiB,200KiB,200KiB "$TMP/open.json" | who
kvplan size --json --free=300KiB,210KiB,200KiB,204799 "$TMP/open.json" | who
kvplan size --json --free=100K,210KiB,200KiB,204799 "$TMP/open.json" | who
run kvplan size --free=300KiB,210KiB,200KiB,200KiB "$TMP/open.json"
run kvplan size --free=300KiB,210KiB,200KiB "$TMP/open.json"
# However long it is written.
kvplan size --json --free="$(repeat 70 0)200KiB,$(repeat 70 0)210KiB,1G,1G" \
	"$TMP/open.json" | who
run kvplan size --free="1G,$(repeat 70 0)200 GB,1G,1G" "$TMP/open.json"
