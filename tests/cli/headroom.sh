#!/bin/sh
# The cap for what is free, its term, and what stays free.
show()
{
	echo "$ kvplan headroom $*"
	kvplan headroom "$@"
	echo "exit $?"
}
show
show --json
for free in 0 1 100MiB 127.999999MiB 128MiB 262MiB 511MiB 512MiB 884998144 \
	8GiB 64262MiB 9007199254740991; do
	show --free=$free
done
show --free=262MiB --json
show --free 262MiB --override=0 --json
show --free=262MiB --override=16
show --free=262MiB --override=200
show --override=64 --json
# The environment is read by its value; the option wins.
KVPLAN_ALLOC_CACHE_MAX_MB=0
export KVPLAN_ALLOC_CACHE_MAX_MB
show --free=262MiB
show --free=262MiB --override=32
KVPLAN_ALLOC_CACHE_MAX_MB=' 48 '
show --free=262MiB --json
