#!/bin/sh
# A memory limit that gives more than kvplan can plan keeps no other one from
# its answer, and nothing is written.
small | sed '/"pages"/d; /"snapshot_rows"/d' >"$TMP/open.json"
cd "$TMP" || exit
too_large='--free=1000TiB --memory-limit=500TiB'
# shellcheck disable=SC2086
{
	kvplan size --json $too_large --memory-limit=210KiB \
		--memory-limit=1KiB open.json >report
	echo "exit $?"
	jq -c '.[] | [.memory_limit, .pages, .error]' report
	kvplan size $too_large --memory-limit=210KiB open.json | tail -n 3
	kvplan size --json $too_large open.json | jq -c '.[] | keys'
	run kvplan size $too_large -o sized.json open.json
}
left_behind
