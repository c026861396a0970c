#!/bin/sh
# What the hardware says: realizing and checking every byte, peers, the
# table that runs out, speed, and that nothing leaks.  Needs a GPU and its
# driver, and tens of GiB of it; without them it is skipped by name.  Figures
# of real runs are kept in RESULTS.md.  kvplan, libkvplan.so, tests/gpu/gpu and
# tests/bench/realize load libcjson.so.1: on a machine without it, carry the file
# along and name its folder in LD_LIBRARY_PATH.
# shellcheck disable=SC2317,SC2086  # steps are called by name
# usage: KVP_GPU=1 run.sh [STEP]...   (from the top directory, B names the
# build directory); make gpu runs all steps
B=${B:-build}
passed=0 failed=0 skipped=0
steps=${*:-layouts table full edge speed rounds peers probe addresses engine pools headroom chain share}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
kimi=layouts/kimi-k3.1-pro-tp16-dcp16.json

close() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

skip() {
	for step in $steps; do
		echo "SKIP gpu/$step: $1"
		skipped=$((skipped + 1))
	done
	close
}

[ -n "${KVP_GPU:-}" ] || skip 'takes tens of GiB of a GPU; run make gpu'
nvidia-smi -L >"$work/gpus" 2>&1 || skip 'no GPU here'
gpus=$(grep -c '^GPU' "$work/gpus")
cat "$work/gpus"
nvidia-smi --query-gpu=name,driver_version,memory.total,memory.free --format=csv,noheader

# judge NAME WANTED COMMAND...: run it, print its output and time; the exit
# status has to be WANTED.
judge() {
	name=$1 wanted=$2
	shift 2
	start=$(date +%s.%N)
	"$@" >"$work/out" 2>&1
	code=$?
	end=$(date +%s.%N)
	if [ "$code" -eq "$wanted" ]; then
		passed=$((passed + 1)) verdict=ok
	else
		failed=$((failed + 1)) verdict="FAIL exit $code"
	fi
	printf '%s %s: %.2f s\n' "$verdict" "$name" \
		"$(echo "$end $start" | awk '{ print $1 - $2 }')"
	sed 's/^/     /' "$work/out"
}

plan() {	# MODE LAYOUT OUTPUT
	"$B/kvplan" plan -q --merge="$1" -o "$3" "$2" 2>/dev/null
}

# One rank, every byte, in every mode.
layouts() {
	for layout in kimi-k3.1-pro-tp16-dcp16 minimax-m1-tp8 zamba2-7b-tp1; do
		for mode in none row span; do
			plan $mode "layouts/$layout.json" "$work/plan"
			judge "$layout $mode realize" 0 "$B/kvplan" realize \
				--gpus=0 --ranks=0 "$work/plan"
			judge "$layout $mode check=full" 0 "$B/kvplan" realize \
				--gpus=0 --ranks=0 --check=full "$work/plan"
		done
	done
}

# fill LEFT: another process holds the table but for LEFT entries, until empty
fill() {
	rm -f "$work/hold"
	mkfifo "$work/hold"
	"$B/tests/gpu/gpu" fill "$1" <"$work/hold" >"$work/fill" 2>&1 &
	filler=$!
	exec 9>"$work/hold"
	for _ in $(seq 120); do
		grep -q '^ready' "$work/fill" && break
		sleep 1
	done
	cat "$work/fill"
}

empty() {
	exec 9>&-
	wait $filler
}

# told TEXT: the last message has it
told() {
	grep -qF -e "$1" "$work/out" && return
	echo "FAIL the message does not say '$1'"
	failed=$((failed + 1))
}

# What the last message recommends, planned and started.
follow() {
	mode=$(sed -n 's/.*mode \(row\|span\) needs .*/\1/p' "$work/out")
	tile=$(sed -n 's/.*with tile_granules \([0-9]*\) .*/\1/p' "$work/out")
	sed "s/\"ranks\"/\"tile_granules\": ${tile:-1}, &/" $kimi >"$work/advised"
	plan "${mode:-none}" "$work/advised" "$work/plan"
	judge "as recommended: mode ${mode:-none}, tile_granules ${tile:-1}" 0 \
		"$B/kvplan" realize --gpus=0 --ranks=0 "$work/plan"
}

# The published failure: another process holds the table but for some
# entries; one rank unmerged needs 3,838, in mode row 3,232, in span 3,074.
table() {
	plan none $kimi "$work/none"
	plan row $kimi "$work/row"
	for left in 3500 3300 2000; do
		fill $left
		judge "unmerged, $left entries free" 3 "$B/kvplan" realize --gpus=0 --ranks=0 "$work/none"
		told "the driver's table of mappings is full"
		told NV_ERR_INSUFFICIENT_RESOURCES
		follow
		[ $left != 3500 ] || judge 'mode row, 3500 entries free' 0 \
			"$B/kvplan" realize --gpus=0 --ranks=0 "$work/row"
		empty
	done
	judge 'unmerged, all given back' 0 "$B/kvplan" realize --gpus=0 --ranks=0 "$work/none"
}

# A plan that takes the whole card but 2 MiB and more entries than are free:
# counted as static_entries it is the table; uncounted it may be either.
full() {
	"$B/kvplan" import -q --tp=1 --kv-dtype=bf16 --execution-rows=8 \
		-o "$work/open" tests/import/configs/kimi-linear-48b-a3b.json
	fill 100000
	nvidia-smi -i 0 --query-gpu=memory.free --format=csv,noheader
	"$B/kvplan" size --gpus=0 --memory-limit=-2M -o "$work/geometry" \
		"$work/open" >"$work/sizing" 2>&1
	for others in 0 424418; do
		sed "s/\"static_entries\":0/\"static_entries\":$others/" \
			"$work/geometry" >"$work/counted"
		plan none "$work/counted" "$work/plan"
		judge "a full card and a full table, $others counted" 3 \
			"$B/kvplan" realize --gpus=0 --warn=entry-limit "$work/plan"
		told NV_ERR_INSUFFICIENT_RESOURCES
	done
	told "the driver's table of mappings is full"
	nvidia-smi -i 0 --query-gpu=memory.free --format=csv,noheader
	empty
	sed 's/"page_tokens"/"arena_address": 140737488355328, &/' $kimi \
		>"$work/far"
	plan row "$work/far" "$work/plan"
	judge 'an arena where addresses end' 1 "$B/kvplan" realize --gpus=0 \
		--ranks=0 "$work/plan"
	told '(2^47 - 4096)'
	plan row $kimi "$work/plan"
	judge 'a closed standard output' 3 sh -c '"$0" realize --gpus=0 \
		--ranks=0 --check=full "$1" 2>&1 >&-' "$B/kvplan" "$work/plan"
}

# What the driver keeps of a full card.
edge() {
	judge 'a card filled to the last byte' 0 "${PYTHON:-python3}" tests/gpu/edge.py
}

# Against a bare loop of the same driver calls, and the check's rate.
speed() {
	for mode in none row span; do
		plan $mode $kimi "$work/plan"
		judge "speed, mode $mode" 0 "$B/tests/bench/realize" cuda "$work/plan" 1
	done
	for mode in none row span; do
		plan $mode $kimi "$work/$mode"
	done
	judge 'modes in turn' 0 "$B/tests/bench/realize" cuda "$work/none" 1 \
		than "$work/row" "$work/span"
	judge 'speed of check=full' 0 "$B/tests/bench/realize" cuda "$work/plan" 1 check
}

rounds() {
	plan row $kimi "$work/plan"
	judge 'ten rounds of realize, fail, interrupt' 0 "$B/tests/gpu/gpu" rounds "$work/plan" 10
}

# Two ranks that read each other, and two that do not.
peers() {
	if [ "$gpus" -lt 2 ]; then
		echo 'SKIP gpu/peers: needs two GPUs'
		skipped=$((skipped + 1))
		return
	fi
	for group in 2 1; do
		cat >"$work/geometry" <<-END
		{"format": "kvplan/geometry/1",
		 "name": "two ranks of the published layout, DCP$group",
		 "pages": 2234, "page_tokens": 128, "snapshot_rows": 112,
		 "execution_rows": 5, "row_bytes": 35889152, "ranks": 2,
		 "dcp_group_size": $group,
		 "planes": [{"name": "mla", "count": 24, "bytes_per_page": 74240}]}
		END
		for mode in none row; do
			plan $mode "$work/geometry" "$work/plan"
			judge "DCP$group, mode $mode, check=full" 0 "$B/kvplan" \
				realize --gpus=0,1 --check=full "$work/plan"
		done
		judge "DCP$group, what the other GPU may do" 0 \
			"$B/tests/gpu/gpu" peers "$work/plan"
		judge "DCP$group, speed" 0 "$B/tests/bench/realize" cuda "$work/plan" 2
	done
}

# Blocks that are given back are free memory at the next synchronize.
pools() {
	judge 'pools' 0 "$B/tests/gpu/gpu" pools
}

# The card really full but for 262 MiB, and the cache beside it.
headroom() {
	judge 'headroom, the measured legs' 0 "$B/tests/gpu/headroom"
	judge 'headroom of the GPUs' 0 "$B/kvplan" headroom --gpus
	judge 'headroom as JSON' 0 "$B/kvplan" headroom --gpus=0 --json
	judge 'size by what is free' 0 "$B/kvplan" size --gpus=0 \
		--memory-limit=-0G --memory-limit=-1G --memory-limit=90% \
		--length=131072 $kimi
}

# From a config to all of the card but LIMIT: what size says fits is started
# on the card it was read from, and what it warns of is refused there.
sized() {	# CONFIG LIMIT IMPORT-OPTION...
	config=$1 limit=$2
	shift 2
	"$B/kvplan" import -q --tp=1 --kv-dtype=bf16 "$@" \
		-o "$work/open" "tests/import/configs/$config.json" &&
		"$B/kvplan" size --gpus=0 --memory-limit="$limit" --json \
			-o "$work/geometry" "$work/open" >"$work/sizing" \
			2>"$work/warned" &&
		plan span "$work/geometry" "$work/plan" || {
		echo "FAIL $config, $limit: no plan"
		failed=$((failed + 1))
		return
	}
	grep -o '"\(budget_bytes\|used_bytes\|left_bytes\|pages\|snapshot_rows\|row\)":[0-9]*' \
		"$work/sizing" | tr '\n' ' '
	echo
	sed 's/^/     /' "$work/warned"
	wanted=0
	grep -q 'leaves that much' "$work/warned" && wanted=1
	judge "$config, limit $limit, exit $wanted" $wanted "$B/kvplan" \
		realize --gpus=0 "$work/plan"
}

chain() {
	for limit in -0G -2M -1G 90%; do
		sized kimi-linear-48b-a3b $limit --execution-rows=8
		sized jamba-1.5-mini $limit --state-dtype=fp32 \
			--execution-rows=8
	done
	sized deepseek-v3 -2M
}

# What this node can really do, twice: a second count of the same free
# entries shows that the first gave all back.
probe() {
	judge 'probe' 0 "$B/kvplan" probe --gpus
	for round in 1 2; do
		judge "probe, entries counted, round $round" 0 "$B/kvplan" probe \
			--gpus=0 --entries --json -o "$work/limits.$round"
		sed 's/^/     /' "$work/limits.$round"
	done
	plan row $kimi "$work/plan"
	judge 'judged by the limits' 0 "$B/kvplan" verify \
		--limits="$work/limits.1" "$work/plan"
}

# Ranks in processes of their own on one GPU.  Four take 32,332 entries.
share() {
	for ranks in 2 3 4; do
		judge "$ranks processes share" 0 "$B/tests/gpu/share" whole $ranks
	done
	judge 'ten rounds of two processes' 0 "$B/tests/gpu/share" rounds 10
	judge 'owners killed while published' 0 "$B/tests/gpu/share" owner
	judge 'a process killed in the exchange' 0 "$B/tests/gpu/share" victim
	fill 40000
	judge 'entries, counted by another process' 0 "$B/tests/gpu/share" \
		entries 60000
	empty
}

# A second process gets the addresses of the first.
addresses() {
	plan row $kimi "$work/plan"
	judge 'publish addresses' 0 "$B/kvplan" realize --gpus=0 --ranks=0 \
		--publish="$work/first" "$work/plan"
	judge 'the same addresses again' 0 "$B/kvplan" realize --gpus=0 --ranks=0 \
		--addresses="$work/first" --publish="$work/second" "$work/plan"
	judge 'both files are the same' 0 cmp "$work/first" "$work/second"
}

# In PyTorch's own process, through ctypes.
engine() {
	python=${PYTHON:-python3}
	if ! "$python" -c 'import torch' 2>/dev/null; then
		echo "SKIP gpu/engine: $python has no torch"
		skipped=$((skipped + 1))
		return
	fi
	for layout in example kimi-k3.1-pro-tp16-dcp16 zamba2-7b-tp1; do
		judge "engine, $layout" 0 "$python" tests/gpu/engine_example.py \
			--lib="$B/libkvplan.so" "layouts/$layout.json"
	done
}

for step in $steps; do
	"$step"
done
close
