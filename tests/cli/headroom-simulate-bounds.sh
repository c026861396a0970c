#!/bin/sh
# However large the numbers are, a simulation takes less than 512 MiB of
# memory, or is refused with what is possible.
unset KVPLAN_ALLOC_CACHE_MAX_MB
[ "$SAN" ] || ulimit -v 524288
simulate() {
	echo "$*"
	kvplan headroom simulate "$@" >"$TMP/out" 2>"$TMP/err"
	echo "  exit $?: $(tail -n 1 "$TMP/out")"
	grep error "$TMP/err" | sed 's/^/  /'
}
most=9007199254740991
# Growing tensors that are all held, with as much live memory as there can be.
simulate --free=8191TiB --sizes=4000 --steps=5000 --grow --cap=unbounded
simulate --free=8191TiB --sizes=4000 --steps=262 --grow --cap=unbounded
simulate --free=8191TiB --sizes=4000 --steps=263 --grow --cap=8000TiB
simulate --free=8191TiB --sizes=4000 --steps=263 --grow --cap=32TiB
simulate --free=8191TiB --sizes=1 --step-bytes=1 --growth=1 --grow \
	--steps=1000000 --cap=unbounded --live-growth=1 --live-bytes=1
set -- --sizes=2 --step-bytes=2 --growth=2 --grow --steps=1000000 \
	--live-growth=1 --live-bytes=1
simulate --free=549756338176 --cap=unbounded "$@"
simulate --free=549756338177 --cap=unbounded "$@"
simulate --free=8191TiB --cap=549756338176 "$@"
simulate --free=8191TiB --cap=549756338177 "$@"
KVPLAN_ALLOC_CACHE_MAX_MB=0 kvplan headroom simulate --free=8191TiB \
	--sizes=4096 --steps=4882 --grow
# The most steps, tensors and rows.
simulate --free=$most --sizes=2 --steps=1000000 --cap=$most --live-growth=1
simulate --free=$most --sizes=4096 --step-bytes=4096 --steps=1000 --grow \
	--growth=4096 --cap=off
simulate --free=$most --sizes=4096 --step-bytes=4096 --steps=1000 \
	--live-growth=1GiB --preallocate --every=1
simulate --free=$most --sizes=1 --step-bytes=1 --steps=1000000 --every=1 --json
# Each number at its end.
simulate --free=$most --live-bytes=$most
simulate --free=$most --live-growth=$most
simulate --free=$most --step-bytes=$most --sizes=1 --steps=1
simulate --free=$most --step-bytes=$most --sizes=1 --steps=1 --live-bytes=0
simulate --free=$most --grain=$most --sizes=1 --steps=1
simulate --free=$most --grow --growth=$most --sizes=1 --steps=2
simulate --free=$most --grow --growth=$most --sizes=1 --steps=1
simulate --free=$most --cap=$most --every=1000000
