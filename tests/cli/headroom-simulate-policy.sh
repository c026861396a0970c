#!/bin/sh
# The policy's cap for 262 MiB, 64 MiB: 256 steps and 1,000 live, evicting
# from the first steps on and never holding more.
unset KVPLAN_ALLOC_CACHE_MAX_MB
run kvplan headroom simulate --free=262MiB --grow
run kvplan headroom simulate --free=262MiB --grow --steps=1000 --cap=policy
