#!/bin/sh
# The published figures, on the reconstructed bytes of the layouts.
dcp16=layouts/kimi-k3.1-pro-tp16-dcp16.json
dcp8=layouts/kimi-k3.1-pro-tp16-dcp8.json
figures() {
	jq -c '.[] | [.memory_limit, .pages, .kv_tokens, .snapshot_rows]'
}
jq .page_overhead_bytes $dcp16 $dcp8
kvplan size --json --pages=2234 $dcp16 2>/dev/null | figures
kvplan size --json --pages=1735 $dcp16 2>/dev/null | figures
kvplan size --json --pages=3072 $dcp8 | figures
kvplan size --json --pages=2588 $dcp8 | figures
kvplan size --json --tokens=4575232 $dcp16 2>/dev/null | figures
kvplan size --json --tokens=2650112 $dcp8 | figures
# A budget that gives 2,234 pages gives 1,735 with 1 GiB reserved: from the
# first such budget over one in the middle to the last.
for free in 4957993832 4958161751 4958329671; do
	kvplan size --json --free=$free --memory-limit=-0G \
		--memory-limit=-1G $dcp16 2>/dev/null | figures
done
for free in 7050833920 7051059161 7051284403; do
	kvplan size --json --free=$free --memory-limit=-0G \
		--memory-limit=-1G $dcp8 2>/dev/null | figures
done
# One byte less or more, and one of both is another.
for free in 4957993831 4958329672; do
	kvplan size --json --free=$free --memory-limit=-0G \
		--memory-limit=-1G $dcp16 2>/dev/null | figures
done
# Nothing is reserved that was not asked for: the default is -0G, byte by
# byte.
for options in '' --memory-limit=-0G --memory-limit=100%; do
	# shellcheck disable=SC2086
	kvplan size --free=4958161751 $options -o "$TMP/sized$options" \
		$dcp16 >"$TMP/report$options" 2>/dev/null
	cmp "$TMP/sized" "$TMP/sized$options"
done
cmp "$TMP/report" "$TMP/report--memory-limit=-0G"
