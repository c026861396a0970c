#!/bin/sh
# Without a cache nothing is held, and 1,000 steps live.
run kvplan headroom simulate --free=262MiB --grow --cap=off --steps=1000
