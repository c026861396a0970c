#!/bin/sh
# KVPLAN_ALLOC_CACHE_MAX_MB takes the policy's place, and no other's.
simulate() {
	echo "KVPLAN_ALLOC_CACHE_MAX_MB='$KVPLAN_ALLOC_CACHE_MAX_MB'"
	run kvplan headroom simulate --free=262MiB --grow --steps=20 \
		--every=20 "$@"
}
export KVPLAN_ALLOC_CACHE_MAX_MB
KVPLAN_ALLOC_CACHE_MAX_MB=16
simulate
simulate --json
simulate --cap=32MiB
simulate --cap=off
KVPLAN_ALLOC_CACHE_MAX_MB=0
simulate
KVPLAN_ALLOC_CACHE_MAX_MB=
simulate
KVPLAN_ALLOC_CACHE_MAX_MB=x
simulate
simulate --cap=unbounded
