#!/bin/sh
# The published failure: a constant cap of 1 GiB with 262 MiB free is never
# reached.  Memory runs out in step 19, and nothing was ever evicted.
run kvplan headroom simulate --free=262MiB --grow --cap=1GiB
run kvplan headroom simulate --free=262MiB --grow --cap=unbounded
