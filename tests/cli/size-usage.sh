#!/bin/sh
# Bad usage: one line that says what is wrong and what to give, status 2.
g=layouts/example.json
run kvplan size
run kvplan size $g
run kvplan size --free=1G $g $g
run kvplan size --free 1G --gpus $g
run kvplan size --free=1G --tokens=5 --pages=6 $g
run kvplan size --pages=6 --memory-limit=-1G $g
run kvplan size --pages=6 --reserve-cache $g
run kvplan size --free=1G --memory-limit=-1G --memory-limit=-0G -o new $g
run kvplan size --free=1G --json -o - $g
run kvplan size --free=1G -o $g $g
run kvplan size --free= $g
run kvplan size --free=x $g
run kvplan size --free=1G,, $g
run kvplan size --free=9007199254740992 $g
kvplan size --free="$(repeat 1024 1,)1" $g
run kvplan size --free=1G,2G $g
run kvplan size --free=1G --memory-limit=1% --memory-limit=101% $g
run kvplan size --free=1G --memory-limit=-x $g
run kvplan size --free=1G --memory-limit=9007199254740992 $g
# shellcheck disable=SC2046
kvplan size --free=1G $(repeat 33 '--memory-limit=1% ') $g
run kvplan size --free=1G --reserve-cache=0 $g
run kvplan size --free=1G --reserve-cache=1.1G $g
run kvplan size --free=1G --reserve-cache=64QiB $g
run kvplan size --pages=0 $g
run kvplan size --pages=1e3 $g
run kvplan size --tokens=-1 $g
run kvplan size --tokens=9007199254740992 $g
run kvplan size --snapshots=2097153 --pages=1 $g
run kvplan size --length=0 --pages=1 $g
run kvplan size --gpus=x $g
run kvplan size --pages=1 --nosuch $g
run env KVPLAN_ALLOC_CACHE_MAX_MB=1G kvplan size --free=1G $g
run env KVPLAN_ALLOC_CACHE_MAX_MB=0 kvplan size --free=1G --reserve-cache $g
# The override is asked for only where it is used.
KVPLAN_ALLOC_CACHE_MAX_MB=1G kvplan size --pages=1 --snapshots=0 $g >/dev/null
left_behind
