#!/bin/sh
# The driver's table of mappings that runs out, on the stand-in driver: the
# failure is explained by what was counted, and what is recommended starts.
# Run from the top directory; B is the build directory.
B=${B:-build}
. tests/shell.sh
kvplan=$B/kvplan
word="NV_ERR_INSUFFICIENT_RESOURCES, 0x1a, in the kernel log"
full="the driver's table of mappings is full ($word)"

if [ ! -r "$B/fake/libcuda.so.1" ]; then
	echo "SKIP table: no $B/fake/libcuda.so.1"
	skipped=1
	close
fi

# start PLAN OPTION...: realize on the stand-in; the exit status
start()
{
	plan=$1
	shift
	LD_LIBRARY_PATH=$B/fake "$kvplan" realize --gpus "$@" "$plan" \
		>"$tmp/out" 2>"$tmp/err"
}

# run WHAT EXIT PLAN OPTION...
run()
{
	told=$1 expected=$2
	shift 2
	start "$@"
	code=$?
	if [ "$code" -eq "$expected" ]; then
		pass
	else
		fail "$told: exit $code, not $expected: $(cat "$tmp/err")"
	fi
}

# hides WHAT TEXT...: none of the texts is in what the last run said
hides()
{
	about=$1
	shift
	for words in "$@"; do
		if grep -qF -e "$words" "$tmp/err"; then
			fail "$about: says '$words': $(cat "$tmp/err")"
		else
			pass
		fi
	done
}

# plan NAME MERGE GEOMETRY [JQ-CHANGE]: $tmp/NAME.json
plan()
{
	changed "$3" "${4:-}" | "$kvplan" plan -q --merge="$2" - \
		>"$tmp/$1.json" 2>"$tmp/planned" ||
		fail "plan $1: $(cat "$tmp/planned")"
}

# need PLAN: bytes of one rank
need()
{
	jq '(.chunks | map(.bytes) | add) + .dedicated_bytes +
	    ([.geometry.static[].bytes] | add // 0)' "$1"
}

# --- what the failure is explained by ---

kimi=layouts/kimi-k3.1-pro-tp16-dcp16.json
driver=2097152

# Unmerged it needs 525,077 entries of 524,288, however little memory is left.
published()
{
	plan none none $kimi
	bytes=$(need "$tmp/none.json")
	export FAKE_CUDA_DEVICES=16 FAKE_CUDA_ENTRIES_USED=2869 FAKE_CUDA_MEMORY
	for left in $((4300000000 - bytes)) $driver; do
		FAKE_CUDA_MEMORY=$((bytes + left))
		run "published, $left left" 3 "$tmp/none.json" \
			--warn=entry-limit
		says "published, $left left" "memory is free, $full: 524288 of \
its 524288 entries are counted, this call asks for 1 more" \
			"with 524288 of 525077 table entries held" \
			"mode row needs 442,661 of 520,192"
		hides "published, $left left" "memory is short" \
			"memory may be short"
	done
	# Less than the driver keeps is free by then: both are possible.
	export FAKE_CUDA_KEEP=0 FAKE_CUDA_TAKE
	for taken in 1 $driver; do
		FAKE_CUDA_MEMORY=$((bytes + driver)) FAKE_CUDA_TAKE=$taken:1
		run "published, $taken taken" 3 "$tmp/none.json" \
			--warn=entry-limit
		says "published, $taken taken" "$full: 524288 of its 524288 \
entries are counted, this call asks for 1 more; memory may be short as well: \
rank 0 has $((driver - taken)) bytes free, of which the driver keeps $driver" \
			"mode row needs 442,661 of 520,192"
		hides "published, $taken taken" "memory is free"
	done
	unset FAKE_CUDA_ENTRIES_USED FAKE_CUDA_MEMORY FAKE_CUDA_KEEP \
		FAKE_CUDA_TAKE
}

# Others on the node hold the table, which nobody counted.
held_by_others()
{
	plan example row layouts/example.json
	export FAKE_CUDA_DEVICES=4 FAKE_CUDA_ENTRIES_USED=524000
	run "held by others" 3 "$tmp/example.json"
	says "held by others" "memory is free, $full: 288 of its 524288 \
entries are counted" "the plan needs 392 of 520,192, so other processes on this node \
hold the rest"
	# Taken after preflight, from the driver's own.
	FAKE_CUDA_MEMORY=$(($(need "$tmp/example.json") + driver)) \
		FAKE_CUDA_TAKE=1:1 FAKE_CUDA_KEEP=0 \
		run "held by others, memory full" 3 "$tmp/example.json"
	says "held by others, memory full" "memory is short: rank 2 has \
$((driver - 1)) bytes free, of which the driver keeps $driver; or \
others on this node fill the driver's table of mappings ($word then): 288 of \
its 524288 entries are counted"
	hides "held by others, memory full" "memory is free" "$full"
	unset FAKE_CUDA_ENTRIES_USED
}

# Memory that is short is no matter of the table.
memory_short()
{
	bytes=$(need "$tmp/none.json")
	export FAKE_CUDA_DEVICES=1
	FAKE_CUDA_MEMORY=$((bytes + driver)) FAKE_CUDA_TAKE=1:1900 \
		run "a byte taken since preflight" 3 "$tmp/none.json" --ranks=0
	says "a byte taken since preflight" "cuMemCreate" "memory is short: \
180355072 bytes are asked for, GPU 0 has $((180355072 + driver - 1)) free, of \
which the driver keeps $driver" "; free bytes: rank 0 "
	hides "a byte taken since preflight" "table of mappings"
	FAKE_CUDA_TAKE=300000000000:1000 run "all taken since preflight" 3 \
		"$tmp/none.json" --ranks=0
	says "all taken since preflight" "memory is short: 2097152 bytes are \
asked for, GPU 0 has 0 free"
	hides "all taken since preflight" "table of mappings"
	FAKE_CUDA_FAIL=cuMemCreate:9:2 run "no reason" 3 "$tmp/none.json" \
		--ranks=0
	hides "no reason" "memory is short" "table of mappings"
	FAKE_CUDA_FAIL=cuMemMap:9:2 run "a map" 3 "$tmp/none.json" --ranks=0
	hides "a map" "memory is short" "table of mappings"
}

# --- what is recommended ---

# replan NAME FROM MODE [TILE]
replan()
{
	jq ".geometry${4:+ | .tile_granules = $4}" "$2" >"$tmp/geometry"
	plan "$1" "$3" "$tmp/geometry"
}

# follow WHAT PLAN ELSE: do what the last run recommended; it starts.  Where
# nothing fits, the message says ELSE.
follow()
{
	advice=$(sed -n 's/.*; \(no mode fits, but larger tiles do: with tile_granules [0-9]* \)\{0,1\}mode \([a-z]*\) needs .*/\2/p' "$tmp/err")
	tile=$(sed -n 's/.* with tile_granules \([0-9]*\) mode .*, and a row .*/\1/p' "$tmp/err")
	ranks=$(sed -n 's/.*--ranks=\([0-9-]*\) needs .*/\1/p' "$tmp/err")
	if [ "$advice" ]; then
		replan advised "$2" "$advice" "$tile"
		run "$1, as advised: $advice $tile" 0 "$tmp/advised.json"
		followed="$followed $advice$tile"
		return
	fi
	says "$1" "no mode fits, nor do larger tiles" "$3"
	followed="$followed none"
	for mode in row span; do
		for tile in 1 2 8 64 1024; do
			replan tried "$2" $mode $tile
			start "$tmp/tried.json" &&
				fail "$1: $mode with tiles of $tile starts"
		done
	done
	[ "$ranks" ] || return
	run "$1, as advised: ranks $ranks" 0 "$2" --ranks="$ranks"
	followed="$followed+ranks"
}

# Every so many free entries, up to what the plan needs.
advice()
{
	export FAKE_CUDA_DEVICES=4 FAKE_CUDA_ENTRIES_USED
	for merge in none row; do
		plan base $merge layouts/example.json
		entries=$(jq '.summary.entries.per_node[0]' "$tmp/base.json")
		followed=
		for part in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			free=$((entries * part / 21))
			FAKE_CUDA_ENTRIES_USED=$((524288 - free))
			what="$merge, $free of $entries entries free"
			run "$what" 3 "$tmp/base.json"
			follow "$what" "$tmp/base.json" \
				"end other processes that hold entries on this node"
		done
		FAKE_CUDA_ENTRIES_USED=$((524288 - entries))
		run "$merge, all $entries entries free" 0 "$tmp/base.json"
		# Every kind of advice was given and followed.
		case $merge in
		none) kinds="row span" ;;
		*) kinds="span ranks" ;;
		esac
		for kind in $kinds 2 none; do
			case $followed in
			*$kind*) pass ;;
			*) fail "$merge: never advised $kind:$followed" ;;
			esac
		done
	done
	# Entries that the geometry counts are no one's to be had.
	plan base row layouts/example.json '.static_entries = 500000'
	FAKE_CUDA_ENTRIES_USED=524000
	run "counted as static_entries" 3 "$tmp/base.json"
	says "counted as static_entries" "500288 of its 524288 entries are \
counted"
	follow "counted as static_entries" "$tmp/base.json" ""
	unset FAKE_CUDA_ENTRIES_USED
}

# Refused before anything is tried: the limit is what there is.
refused()
{
	export FAKE_CUDA_DEVICES=4
	followed=
	for limit in 400 380 330 150 100 60; do
		plan base none layouts/example.json \
			".entry_limit = $limit | .entry_reserve = 0"
		run "limit $limit" 1 "$tmp/base.json"
		follow "limit $limit" "$tmp/base.json" \
			"plan fewer rows, lower dcp_group_size"
	done
	for kind in " row " " span " 2 16 none; do
		case "$followed " in
		*"$kind"*) pass ;;
		*) fail "limits: never advised $kind:$followed" ;;
		esac
	done
}

published
held_by_others
memory_short
advice
refused
close
