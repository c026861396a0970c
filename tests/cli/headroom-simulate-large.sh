#!/bin/sh
# With 64,262 MiB free a constant cap of 1 GiB is reached, and 256 steps live.
# The policy's cap is the same there.
unset KVPLAN_ALLOC_CACHE_MAX_MB
run kvplan headroom simulate --free=64262MiB --grow --cap=1GiB --steps=256
run kvplan headroom simulate --free=64262MiB --grow --steps=256 --every=256
