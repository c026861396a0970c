#!/bin/sh
# One object: the settings, the rows and the outcome.
unset KVPLAN_ALLOC_CACHE_MAX_MB
run kvplan headroom simulate --free=262MiB --grow --cap=1GiB --json
run kvplan headroom simulate --free=262MiB --grow --steps=8 --json
run kvplan headroom simulate --free=262MiB --cap=unbounded --steps=2 --json \
	--step-bytes=1MiB --sizes=2 --live-bytes=0
run kvplan headroom simulate --free=262MiB --cap=off --steps=2 --json
run kvplan headroom simulate --free=10MiB --steps=2 --json
# Some 20 rows, of round numbers.
for steps in 1 13 14 26 28 65 70 130 140 256 999 1000000; do
	kvplan headroom simulate --free=262MiB --preallocate --steps=$steps \
		--json | jq -c '[.settings.steps, .settings.every,
				 (.rows | length)]'
done
# All of it is read again, however many rows there are.
for every in 1 7 3000; do
	kvplan headroom simulate --free=262MiB --grow --steps=3000 \
		--every=$every --json >"$TMP/json"
	jq -c '[.format, .outcome, (.rows | length), .rows[-1].step,
		([.rows[].held_bytes] | max) <= .held_most_bytes,
		.held_most_bytes <= 67108864]' "$TMP/json"
done
kvplan headroom simulate --free=262MiB --grow --steps=3000 --every=1 --json |
	jq -c '([.rows[].freed_bytes] | add) == .freed_bytes,
		[.rows[].step] == [range(1; 3001)]'
