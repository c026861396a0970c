#!/bin/sh
# What tensors grow by, and what their sizes are rounded up to.
unset KVPLAN_ALLOC_CACHE_MAX_MB
simulate() {
	run kvplan headroom simulate --free=262MiB --steps=100 --every=50 "$@"
}
# The default growth is 16 bytes times the sizes.
kvplan headroom simulate --free=262MiB --grow --json >"$TMP/default"
kvplan headroom simulate --free=262MiB --grow --growth=160 --grain=1 --json |
	sed 's/"assumed":false/"assumed":true/' | cmp - "$TMP/default"
jq -c '.settings | [.growth_bytes, .grain_bytes, .assumed]' "$TMP/default"
simulate --grow --growth=1000000
simulate --grow --growth=1
# Sizes that are rounded up are asked for again.
simulate --grow --grain=512
simulate --grow --grain=2MiB
simulate --grain=1MiB --sizes=3
simulate --grow --grain=4096 --growth=100 --preallocate --json
# What cannot be.
simulate --growth=100
simulate --grow --growth=0
simulate --grain=0
simulate --grow --growth=x
simulate --live-growth=-1
simulate --grain=8191TiB
simulate --grow --growth=8191TiB
