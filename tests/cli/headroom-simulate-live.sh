#!/bin/sh
# Live memory that grows, published as 0.19 MiB a token, takes free memory
# away from the cache, and every 64 steps the cap follows it.  Everything else
# is reconstructed.
unset KVPLAN_ALLOC_CACHE_MAX_MB
growing() {
	kvplan headroom simulate --free=262MiB --grow --live-growth=0.19MiB \
		"$@"
	echo "exit $?"
}
# Published: with the cache off 1,000 tokens live.
growing --cap=off --steps=1000
# The policy's cap falls from 64 MiB to 17.8 MiB, and the process lives.
growing --steps=1000 --every=64
# The cap that was right at the beginning is too large later.
growing --steps=1000 --every=64 --cap=64MiB
# The cap is planned anew every 64 steps and at no other time.
growing --steps=1000 --every=1 --json | sed '$d' |
	jq -c '[.rows[1:] as $now | .rows[:-1] as $before |
		range($now | length) | select($now[.].cap_bytes !=
		$before[.].cap_bytes) | [$now[.].step, $now[.].cap_bytes]][]'
# Live memory itself runs out in the end.
growing --steps=2000 | tail -n 2
growing --steps=2000 --json | sed '$d' |
	jq -c '[.settings.live_growth_bytes, .settings.sizes, .tensor,
		.wanted_bytes, .free_bytes, .rows[-1].live_bytes]'
growing --free=25MiB --preallocate --sizes=1 --step-bytes=1 --live-bytes=0 \
	--steps=200 --live-growth=1MiB
growing --live-growth=1GiB --live-bytes=0 --cap=off
growing --live-growth=0 --steps=3
growing --live-growth=1 --steps=3
