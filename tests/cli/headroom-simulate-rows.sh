#!/bin/sh
# Rows are written as they come: a hundred bytes of each of 500,000 would not
# fit.
if [ "$SAN" ]; then
	echo 'sanitizers need more memory than the limit'
	exit 77
fi
unset KVPLAN_ALLOC_CACHE_MAX_MB
ulimit -v 30000
for format in --json --grow; do
	kvplan headroom simulate --free=1GiB --preallocate --steps=500000 \
		--sizes=2 --every=1 $format | tail -n 2
done
