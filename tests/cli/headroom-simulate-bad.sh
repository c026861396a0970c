#!/bin/sh
# What simulate refuses: one error, exit 2, no answer.
bad() {
	kvplan headroom simulate "$@"
	echo "$*: exit $?"
}
bad
bad --cap=off
bad --free=
bad --free=x
bad --free=-1
bad --free=9007199254740992
bad --free=1GiB file
bad --free=1GiB --step-bytes=1.2.3
bad --free=1GiB --step-bytes=9
bad --free=1GiB --sizes=0
bad --free=1GiB --sizes=4097
bad --free=1GiB --sizes=ten
bad --free=1GiB --live-bytes=
bad --free=1GiB --steps=0
bad --free=1GiB --steps=1000001
bad --free=1GiB --steps=1000000 --sizes=21
bad --free=1GiB --step-bytes=9007199254740991
bad --free=1GiB --cap=
bad --free=1GiB --cap=0
bad --free=1GiB --cap=0MiB
bad --free=1GiB --cap=full
bad --free=1GiB --cap=-1
bad --free=1GiB --cap=1X
bad --free=1GiB --every=0
bad --free=1GiB --every=1000001
bad --free=1GiB --grow=yes
bad --free=1GiB --gpus
bad -q
kvplan headroom simulate --help
echo "help: exit $?"
