#!/bin/sh
# Published: without a cap, 6.04 MiB a step retained about 15.3 GiB in 2,600
# steps.  The options that show it are reconstructed: ten sizes a step, 5.79
# MiB at first and 6.04 on average, that are never asked for again.
unset KVPLAN_ALLOC_CACHE_MAX_MB
published() {
	kvplan headroom simulate --free=64262MiB --step-bytes=5.79MiB --grow \
		--growth=20 --steps=2600 "$@" 2>"$TMP/talk"
	echo "exit $?: $(cat "$TMP/talk")"
}
published --cap=unbounded
published --cap=unbounded --json >"$TMP/json"
sed '$d' "$TMP/json" | jq -c '[.held_most_bytes / 1073741824, .sizes_most,
	.hits, .freed_bytes, .held_most_bytes / 1048576 / .steps_ended]'
# The policy's cap is the ceiling there, and bounds it.
published
# With less free than is retained the process dies.
kvplan headroom simulate --free=15GiB --step-bytes=5.79MiB --grow --growth=20 \
	--steps=2600 --cap=unbounded 2>/dev/null | tail -n 2
