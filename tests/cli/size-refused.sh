#!/bin/sh
# A budget that does not suffice: every term, and the nearest setting that
# fits.
small_with execution_rows 256 | sed '/"pages"/d; /"snapshot_rows"/d' \
	>"$TMP/256.json"
small_with static '[{"name": "s", "bytes": 5000, "importers": "all"}]' |
	sed '/"pages"/d; /"snapshot_rows"/d' >"$TMP/static.json"
run kvplan size --free=545KiB "$TMP/256.json"
run kvplan size --free=545KiB --memory-limit=-600K "$TMP/256.json"
run kvplan size --free=2MiB --reserve-cache=32K "$TMP/256.json"
run kvplan size --free=23KiB "$TMP/static.json"
run kvplan size --free=4095 "$TMP/static.json"
run kvplan size --free=0 "$TMP/static.json"
run kvplan size --free=100KiB --pages=50 "$TMP/static.json"
run kvplan size --free=100KiB --tokens=401 "$TMP/static.json"
run kvplan size --free=1GiB,10KiB,1GiB,10KiB "$TMP/static.json"
# What no memory helps with.
run kvplan size --pages=9007199254740991 "$TMP/static.json"
run kvplan size --free=1MiB --pages=9007199254740991 "$TMP/static.json"
run kvplan size --free=0 --pages=9007199254740991 "$TMP/static.json"
run kvplan size --free=9007199254740991 layouts/kimi-k3.1-pro-tp16-dcp16.json
small_with base_chunks '[
{"plane": 0, "offset": 0, "bytes": 32768, "arena": 8192},
{"plane": 1, "offset": 0, "bytes": 32768, "arena": null}]' >"$TMP/chunks.json"
run kvplan size --free=1MiB "$TMP/chunks.json"
run kvplan size --free=1MiB "$TMP/missing.json"
