#!/bin/sh
# What does not join: one message, status 2, no file.
parts=tests/parts
bad() {
	kvplan join -o "$TMP/out" "$@" 2>"$TMP/err"
	echo "exit $?"
	cut -c 1-400 "$TMP/err"
	[ ! -e "$TMP/out" ] || echo "a file is written"
}
# with PART FILTER: that part as jq changes it, with the others
with() {
	jq "$2" $parts/"$1".json >"$TMP/part.json"
	set -- "$1"
	for i in 0 1 2 3; do
		[ "$i" = "$1" ] && set -- "$@" "$TMP/part.json" ||
			set -- "$@" $parts/$i.json
	done
	shift
	bad "$@"
}
bad
bad --parts
bad - - </dev/null
bad - </dev/null
bad $parts/0.json nosuch.json
bad $parts/0.json
bad $parts/1.json $parts/3.json
bad $parts/[0-3].json $parts/2.json
bad $parts/[0-2].json $parts/all.json
kvplan join $parts/[0-3].json >"$TMP/joined"
bad "$TMP/joined"
bad layouts/example.json
with 1 '.plan = "0000000000000000"'
with 2 '.share = "0000000000000000"'
with 2 '.share = "joint"'
with 3 '.version = "0.0.9"'
with 3 '.driver = 6'
with 0 '.merge = "all"'
with 0 '.node = ""'
with 1 '.node = "elsewhere"'
with 1 '.entries = 0'
with 1 '.entries = 500000'
with 2 '.static_storage_entries = 1'
with 2 'del(.access[2, 3])'
with 2 '.ranks[0].readers = 1'
with 2 'del(.ranks[0].readers)'
with 1 '.ranks_total = 5'
with 1 '.static_entries = 51'
with 2 '.ranks[0].pages = 9'
with 2 '.ranks[0].chunks = 7'
with 2 '.ranks[0].entries += 1'
with 2 '.ranks[0].planes[1].stride = 8192'
with 2 'del(.ranks[0].arena)'
with 3 'del(.access)'
with 3 'del(.access[3])'
with 3 '.access += [.access[0]]'
with 3 '.access[0].entries += 1'
with 3 '.access[2].readers = [0]'
with 3 '.access[2].free_after = []'
with 3 '.access[2].free_before[0] = -1'
with 3 '.access[2].spare = 0'
