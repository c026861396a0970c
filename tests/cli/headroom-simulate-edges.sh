#!/bin/sh
# The smallest numbers and the largest, and memory that runs out before
# anything has run.
unset KVPLAN_ALLOC_CACHE_MAX_MB
simulate() {
	run kvplan headroom simulate "$@"
}
simulate --free=0
simulate --free=0 --live-bytes=0
simulate --free=1 --live-bytes=0 --step-bytes=1 --sizes=1 --steps=1
simulate --free=1 --live-bytes=1 --step-bytes=1 --sizes=1 --steps=1
simulate --free=10MiB --live-bytes=0 --step-bytes=1MiB --sizes=1 --steps=2 \
	--grow --preallocate --cap=1
simulate --free=24MiB --preallocate
simulate --free=9007199254740991 --live-bytes=9007199254740991 --steps=2
simulate --free=1GiB --step-bytes=4096 --sizes=4096 --steps=4 --every=1
simulate --free 100MiB --cap 16MiB --steps 5 --grow --every 1000000
# Less than fits is printed in bytes.
simulate --free=1000 --live-bytes=10 --step-bytes=980 --sizes=1 --grow \
	--cap=100
