#!/bin/sh
# Several limits are compared; one that does not fit keeps no other from it.
small | sed '/"pages"/d; /"snapshot_rows"/d' >"$TMP/open.json"
run kvplan size --free=200KiB --memory-limit=-0G --memory-limit=-100K \
	--memory-limit=50% --memory-limit=40KiB --memory-limit=1GiB \
	"$TMP/open.json"
run kvplan size --free=200KiB --memory-limit=-199K --memory-limit=-300K \
	--memory-limit=-100K "$TMP/open.json"
run kvplan size --free=200KiB --memory-limit=-199K --memory-limit=0% \
	"$TMP/open.json"
run kvplan size --free=200KiB --memory-limit 0 "$TMP/open.json"
# A warning of one of several says of which.
kvplan size --free=5G --memory-limit=-0G --memory-limit=-1G \
	layouts/kimi-k3.1-pro-tp16-dcp16.json >/dev/null
