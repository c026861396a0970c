#!/bin/sh
# make bench: planning and verifying from 1,920 to a million chunks, against
# jq reading and writing the same plan in the same run.  Prints a table,
# judges nothing.
bin=$(cd "${B:-build}" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
PATH=$bin:$PATH LC_ALL=C
export PATH LC_ALL
bench=$bin/tests/bench/bench

# The published layout with more pages and more rows of the same bytes; no
# node has a table for the larger ones, so the limit is out of the way.
geometry() {
	cat <<-END
	{
	  "format": "kvplan/geometry/1",
	  "name": "bench: $1 pages, $2 snapshot rows",
	  "pages": $1,
	  "page_tokens": 128,
	  "snapshot_rows": $2,
	  "execution_rows": 5,
	  "row_bytes": 35889152,
	  "ranks": 16,
	  "dcp_group_size": 16,
	  "planes": [
	    {"name": "mla", "count": 24, "bytes_per_page": 74240}
	  ],
	  "entry_limit": 1125899906842624
	}
	END
}
geometry 2234 112 >"$work/1.json"
geometry 17872 887 >"$work/2.json"
geometry 178720 8872 >"$work/3.json"
geometry 1191468 59152 >"$work/4.json"

{
	echo 'base plan-row plan-span verify plan plan verify verify jq plan verify'
	echo 'chunks ns/chunk ns/chunk ns/chunk ms MiB ms MiB ms /jq /jq'
	for size in 1 2 3 4; do
		file=$work/$size.json plan=$work/$size.plan
		times=$((20 / (size * size) + 1))
		lib=$("$bench" lib "$file") || exit
		make=$("$bench" run $times kvplan plan -q -o "$plan" "$file") ||
			exit
		verify=$("$bench" run $times kvplan verify "$plan") || exit
		jq=$("$bench" run $times jq -c . "$plan") || exit
		echo "$lib $make $verify $jq"
	done | awk '{
		printf "%d %d %d %d %.1f %.0f %.1f %.0f %.1f %.2f %.2f\n", $1,
			$2, $3, $4, $5 * 1000, $6 / 1024, $7 * 1000, $8 / 1024,
			$9 * 1000, $5 / $9, $7 / $9
	}'
} | awk '{
	printf "%9s", $1
	for (i = 2; i <= NF; i++)
		printf " %9s", $i
	print ""
}'
# Realizing: one rank of the published layout on this machine's memory, all
# sixteen on the stand-in driver, and the alias check of every byte.
"$bin/kvplan" plan -q -o "$work/row.plan" layouts/kimi-k3.1-pro-tp16-dcp16.json || exit
echo
"$bin/tests/bench/realize" host "$work/row.plan" 1
if [ -f "$bin/fake/libcuda.so.1" ]; then
	LD_LIBRARY_PATH=$bin/fake FAKE_CUDA_DEVICES=16 \
		"$bin/tests/bench/realize" cuda "$work/row.plan" 16
else
	echo 'SKIP bench/stand-in: built without the CUDA headers'
fi
"$bin/tests/bench/realize" host "$work/row.plan" 1 check
echo
# Sharing: the rank's sizes in two processes, then all sixteen ranks.
kimi=layouts/kimi-k3.1-pro-tp16-dcp16.json
sized() {	# RANKS TILE
	sed "s/\"ranks\": *16/\"ranks\": $1/; s/\"dcp_group_size\": *16/\"dcp_group_size\": $1/
		s/\"page_tokens\"/\"tile_granules\": $2, &/" $kimi
}
table() {
	awk '{
		printf "%-8s", $1
		for (i = 2; i <= NF; i++)
			printf " %9s", $i
		print ""
	}'
}
share() {	# pair|node PLAN: on both backends
	"$bin/tests/bench/share" host "$1" "$2" || exit
	[ ! -f "$bin/fake/libcuda.so.1" ] ||
		LD_LIBRARY_PATH=$bin/fake FAKE_CUDA_DEVICES=16 \
			FAKE_CUDA_NODE=$work/node \
			"$bin/tests/bench/share" cuda "$1" "$2"
}
{
	echo '2-share mode calls ms bare-ms ratio cpu-ratio us/chunk bare-us'
	for mode in none row; do
		sized 2 1 >"$work/two.json"
		"$bin/kvplan" plan -q --merge=$mode -o "$work/two.plan" \
			"$work/two.json" && share pair "$work/two.plan"
	done
} | table
echo
{
	echo '16-share mode tile processes chunks entries s us/chunk'
	for tile in 1 4 8; do
		sized 16 $tile >"$work/all.json"
		"$bin/kvplan" plan -q --merge=row -o "$work/all.plan" \
			"$work/all.json" && share node "$work/all.plan"
	done
} | table
echo
"$bin/tests/bench/cache"

cat <<'END'

ns/chunk: the library alone, per chunk of the base layout, best of several
runs.  ms: the whole process in mode row, files included, best of several
runs; plan writes its file and waits for the disk.  MiB: the process's peak.
/jq: against jq -c . on the same plan.
2-share: two processes that share, against bare ones that make the same calls
and pass the same descriptors, median of 5 in turn; us/chunk: the exchange, per
chunk and importer.  16-share: s until all have published.
Wanted: planning below 150 ns/chunk, plan and verify at most 1.00 of jq, a
plan of 1,920 chunks below 10 ms, two that share at most 1.10 of bare ones.
END
exit 0
