#!/bin/sh
# What headroom refuses: one error, exit 2, no answer.
bad()
{
	kvplan headroom "$@"
	echo "$*: exit $?"
}
bad --free=
bad --free=x
bad --free=-1
bad --free=1GB
bad --free=9007199254740992
bad --free=1GiB --gpus
bad --free=1GiB 0,1
bad --gpus=a
bad --override=
bad --override=64MiB --free=1GiB
bad --override=-1
bad --override=off
bad --override=8589934592
bad --cap=1
for value in '' x 1.5 0x10 '64 M' -1 unbounded; do
	KVPLAN_ALLOC_CACHE_MAX_MB=$value kvplan headroom --free=262MiB
	echo "environment '$value': exit $?"
done
KVPLAN_ALLOC_CACHE_MAX_MB=x kvplan headroom --help >/dev/null
echo "help: exit $?"
