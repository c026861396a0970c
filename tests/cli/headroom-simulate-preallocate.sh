#!/bin/sh
# Allocated once, no step allocates anything: sizes are flat.  Tensors that do
# not grow are found again in every step.
unset KVPLAN_ALLOC_CACHE_MAX_MB
run kvplan headroom simulate --free=262MiB --grow --preallocate
run kvplan headroom simulate --free=262MiB
