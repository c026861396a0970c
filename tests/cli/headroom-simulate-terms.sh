#!/bin/sh
# Every term of the policy where it decides.  Where half of what is free is
# the cap, 64 MiB would be too much; where 64 MiB is, half would be.  An eighth
# follows what is free when it is planned anew, 1 GiB stays.
unset KVPLAN_ALLOC_CACHE_MAX_MB
simulate() {
	run kvplan headroom simulate --grow "$@"
}
simulate --free=60MiB --step-bytes=4MiB --live-bytes=16MiB --every=256
simulate --free=60MiB --step-bytes=4MiB --live-bytes=16MiB --every=256 \
	--cap=64MiB
simulate --free=180MiB --live-bytes=92MiB --every=256
simulate --free=180MiB --live-bytes=92MiB --every=256 --cap=90MiB
# What was evicted in a step is free after it, which may be too late.
simulate --free=180MiB --live-bytes=106MiB --every=256
simulate --free=844MiB --every=64
simulate --free=9GiB --every=256
