#!/bin/sh
# When writing fails halfway the old file stays as it was.
echo old >"$TMP/plan"
(
	trap '' XFSZ
	ulimit -f 1
	kvplan plan -q -o "$TMP/plan" layouts/kimi-k3.1-pro-tp16-dcp16.json
	echo "exit $?"
)
cat "$TMP/plan"
left_behind
