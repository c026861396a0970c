#!/bin/sh
# kvplan probe on the stand-in driver, and what its file changes: --limits of
# plan, verify and realize.  Run from the top directory; B is the build
# directory, SAN the sanitizers in it.
B=${B:-build}
kvplan=$B/kvplan
. tests/shell.sh

# run WHAT EXIT COMMAND ARG...: without the stand-in
run()
{
	what=$1 expected=$2
	shift 2
	"$kvplan" "$@" >"$tmp/out" 2>"$tmp/err"
	same "$what: exit" "$expected" $?
}

# probe WHAT EXIT ARG...: on the stand-in with $gpus
probe()
{
	what=$1 expected=$2
	shift 2
	rm -f "$tmp/report"
	LD_LIBRARY_PATH=$B/fake FAKE_CUDA_DEVICES=$gpus \
		FAKE_CUDA_REPORT=$tmp/report \
		"$kvplan" probe "$@" >"$tmp/out" 2>"$tmp/err"
	code=$?
	if [ "$code" -eq "$expected" ]; then
		pass
	else
		fail "$what: exit $code, not $expected: $(cat "$tmp/err")"
	fi
	[ "$expected" -eq 4 ] || nothing_left "$what"
}

# Nothing is alive.  The stand-in notes two calls as wrong: those that grant
# and unmap a part of a mapping are made to be refused.
nothing_left()
{
	query "$1: alive" '[0,0,0,0,0,0,0]' "$tmp/report" \
		'[.reservations, .handles, .mappings, .entries, .contexts,
		  .streams, .host]'
	query "$1: refused calls" '[]' "$tmp/report" \
		'[.errors[] | select(test("^cuMem(SetAccess|Unmap): .* is in the middle of a mapping$") | not)]'
}

# --- what it finds ---

findings()
{
	gpus=2
	probe "findings" 0 --gpus --json
	cp "$tmp/out" "$tmp/two"
	query "format" '"kvplan/limits/1"' "$tmp/out" .format
	query "granularity" '[[2097152,2097152],[2097152,2097152]]' \
		"$tmp/out" '[.devices[] |
			[.granularity, .recommended_granularity]]'
	query "peers" '[[true,true],[true,true]]' "$tmp/out" .peers
	query "labels" '["GPU 0","GPU 1"]' "$tmp/out" '[.devices[].label]'
	query "abilities" '{"offset_map":[false,"CUDA_ERROR_NOT_SUPPORTED"],"partial_map":[false,"CUDA_ERROR_NOT_SUPPORTED"],"part_grant":[false,"CUDA_ERROR_INVALID_VALUE"],"half_unmap":[false,"CUDA_ERROR_INVALID_VALUE"],"alias_coherent":[true,"CUDA_SUCCESS"],"read_only_peers":[true,"CUDA_ERROR_INVALID_VALUE"],"hint_honoured":[true,"CUDA_SUCCESS"],"hint_moves":[true,"CUDA_SUCCESS"]}' \
		"$tmp/out" '.abilities | map_values([.works, .answer])'
	query "every call is timed" true "$tmp/out" \
		'[.cost_ns[]] | length == 7 and all(type == "number")'
	query "not counted" null "$tmp/out" .entries
	probe "in words" 0 --gpus
	says "in words" "read-only peers read, cannot write     yes" \
		"CUDA_ERROR_NOT_SUPPORTED" "grant, 2 readers: 2 entries" \
		"free table entries on this node: not counted"
	gpus=1
	probe "one GPU" 0 --gpus=0 --json
	query "one GPU: what takes two" '[null,null,null]' "$tmp/out" \
		'[.abilities.read_only_peers, .cost_ns.grant_two,
		  .cost_ns.unmap_two]'
	gpus=3
	FAKE_CUDA_NO_PEER=0-1,0-2 probe "another pair" 0 --gpus --json
	query "another pair" '[[true,false,false],[false,true,true],[false,true,true]]' \
		"$tmp/out" .peers
	query "another pair: read-only" true "$tmp/out" \
		.abilities.read_only_peers.works
	FAKE_CUDA_NO_PEER=0-1 probe "no pair" 0 --gpus=1,0 --json
	query "no pair: in the order given" '["GPU 1","GPU 0"]' "$tmp/out" \
		'[.devices[].label]'
	query "no pair: read-only" null "$tmp/out" .abilities.read_only_peers
	gpus=1
	FAKE_CUDA_MEMORY=10485760 probe "little memory" 0 --gpus
	FAKE_CUDA_MEMORY=8388608 probe "too little memory" 3 --gpus
	says "too little memory" "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY"
}

# --- counting ---

counts()
{
	gpus=2
	FAKE_CUDA_ENTRIES=5000
	export FAKE_CUDA_ENTRIES
	probe "count" 0 --gpus --entries --json -o "$tmp/counted"
	query "count" '{"free":4590,"exact":true}' "$tmp/out" .entries
	same "count: the file is what is printed" '' \
		"$(cmp "$tmp/out" "$tmp/counted" 2>&1)"
	says "count: warns" "kvplan: warning: counting table entries"
	probe "count, all but one" 0 --gpus --entries --max=4591 --json
	query "count, all but one" '{"free":4590,"exact":true}' "$tmp/out" \
		.entries
	probe "count, just enough" 0 --gpus --entries --max=4590 --json
	query "count, just enough" '{"free":4590,"exact":false}' "$tmp/out" \
		.entries
	probe "count to 1" 0 --gpus --entries --max=1
	says "count to 1" "at least 1"
	probe "count in words" 0 --gpus --entries
	says "count in words" "free table entries on this node: 4,590"
	FAKE_CUDA_ENTRIES=410 probe "a full table" 3 --gpus --entries
	says "a full table" "GPU 0, " " bytes free: the driver's table of \
mappings is full (NV_ERR_INSUFFICIENT_RESOURCES, 0x1a, in the kernel log)"
	for free in 2 100 600; do
		FAKE_CUDA_ENTRIES=$((410 + free)) probe "a table nearly full" \
			0 --gpus --entries --json
		query "a table nearly full" "{\"free\":$free,\"exact\":true}" \
			"$tmp/out" .entries
	done
	FAKE_CUDA_MEMORY=16777216 probe "little memory" 3 --gpus --entries
	says "little memory" "too few to tell a full table from full memory"
	unset FAKE_CUDA_ENTRIES
	probe "the measured table" 0 --gpus --entries --json
	query "the measured table" '{"free":523878,"exact":true}' "$tmp/out" \
		.entries
}

# interrupted SIGNAL EXIT
interrupted()
{
	rm -f "$tmp/report" "$tmp/file" "$tmp/err"
	LD_LIBRARY_PATH=$B/fake FAKE_CUDA_DEVICES=1 \
		FAKE_CUDA_ENTRIES=20000000 FAKE_CUDA_REPORT=$tmp/report \
		"$kvplan" probe --gpus --entries --max=16777216 \
		-o "$tmp/file" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	i=0
	until grep -q counting "$tmp/err" 2>/dev/null || [ $i -eq 500 ]; do
		i=$((i + 1))
		sleep 0.02
	done
	kill "-$1" $pid
	wait $pid
	same "$1 while counting: exit" "$2" $?
	nothing_left "$1 while counting"
	says "$1 while counting" "interrupted by signal"
	same "$1 while counting: no file" '' "$(ls "$tmp/file"* 2>/dev/null)"
}

# --- failures ---

# fault CALL:N[...] EXIT
fault()
{
	rm -f "$tmp/fault"
	FAKE_CUDA_FAIL=$1
	export FAKE_CUDA_FAIL
	probe "$1" "$2" --gpus --entries --max=100 -o "$tmp/fault"
	same "$1: no file" '' "$(ls "$tmp/fault"* 2>/dev/null)"
	if [ "$2" -eq 4 ]; then
		query "$1: what is left" "$(sed -n 's/.*left behind are mappings: \([0-9]*\), allocations: \([0-9]*\), reservations: \([0-9]*\).*/[\1,\2,\3]/p' "$tmp/err")" \
			"$tmp/report" '[.mappings, .handles, .reservations]'
	fi
	unset FAKE_CUDA_FAIL
}

faults()
{
	gpus=2
	# Trials end with an answer that is no refusal, too.
	for call in cuMemAddressReserve cuMemCreate cuMemMap cuMemSetAccess \
		cuMemsetD32Async cuMemcpyDtoHAsync cuMemGetInfo \
		cuMemGetAllocationGranularity cuDeviceCanAccessPeer; do
		for n in 1 2 3 4; do
			case $call:$n in
			# Not called that often.
			cuMemGetInfo:4|cuDeviceCanAccessPeer:[34]) continue ;;
			esac
			fault $call:$n 3
		done
		fault $call:1:for-ever 3
	done
	fault cuMemCreate:600 3
	fault cuMemMap:700 3
	fault cuMemSetAccess:900 3
	fault cuMemMap:1130 3
	fault cuMemSetAccess:1140 3
	for n in 2 3 4 5 100 600 1100; do
		fault cuMemUnmap:$n 4
	done
	for n in 1 2 3 50 500; do
		fault cuMemRelease:$n 4
	done
	for n in 1 2 3 4 5 6; do
		fault cuMemAddressFree:$n 4
	done
	fault cuMemUnmap:1 3	# half of a mapping
	fault cuMemUnmap:1:for-ever 4
}

usage()
{
	run "no --gpus" 2 probe
	says "no --gpus" "give --gpus"
	run "an operand" 2 probe --gpus 0
	run "--max alone" 2 probe --gpus --max=5
	for max in 0 -1 x 5x 16777217 99999999999999999999 ''; do
		run "--max=$max" 2 probe --gpus --entries "--max=$max"
	done
	run "--host" 2 probe --host
	run "a GPU that is none" 2 probe --gpus=a
	run "no driver" 3 probe --gpus
	gpus=2
	probe "no such GPU" 2 --gpus=7 -o "$tmp/none"
	probe "a GPU twice" 2 --gpus=1,1 -o "$tmp/none"
	same "no file" '' "$(ls "$tmp/none"* 2>/dev/null)"
	run "no such directory" 3 probe --gpus -o "$tmp/no/file"
}

# --- what the file changes ---

# limits FREE: $tmp/limits.json with so many free
limits()
{
	jq ".entries = {free: $1, exact: true}" "$tmp/two" >"$tmp/limits.json"
}

judge_entries()
{
	# Four ranks need 392 entries, and others hold 10.
	jq '.entry_limit = 402 | .entry_reserve = 0 | .static_entries = 10' \
		layouts/example.json >"$tmp/fits.json"
	jq '.entry_limit = 401 | .entry_reserve = 0 | .static_entries = 10' \
		layouts/example.json >"$tmp/not.json"
	"$kvplan" plan -q -o "$tmp/fits.plan" "$tmp/fits.json" 2>/dev/null
	"$kvplan" plan -q -o "$tmp/not.plan" "$tmp/not.json" 2>/dev/null
	run "verify, fits" 0 verify "$tmp/fits.plan"
	run "verify, does not" 1 verify "$tmp/not.plan"
	limits 391
	run "plan, too few free" 0 plan --limits="$tmp/limits.json" \
		-o "$tmp/plan" "$tmp/fits.json"
	says "plan, too few free" "does not fit" "the limit is 401" \
		"entry limit      from $tmp/limits.json: 391 free, 10 held"
	query "plan, too few free" '[401,401]' "$tmp/plan" \
		'[.geometry.entry_limit, .summary.entries.limit]'
	run "the plan judged without the file" 1 verify "$tmp/plan"
	run "verify, too few free" 1 verify --limits="$tmp/limits.json" \
		"$tmp/fits.plan"
	says "verify, too few free" "NOT VERIFIED" \
		"entry-limit: nodes[0]: needs table entries 402, expected at most 401"
	same "verify: no other rule" 1 "$(grep -c ^error: "$tmp/out")"
	run "verify, a geometry" 1 verify --limits="$tmp/limits.json" \
		"$tmp/fits.json"
	run "realize, too few free" 1 realize --limits="$tmp/limits.json" \
		"$tmp/fits.plan"
	says "realize, too few free" "needs 402 of 401 table entries"
	run "realize, too few free, warned" 0 realize --warn=entry-limit \
		--limits="$tmp/limits.json" "$tmp/fits.plan"
	limits 392
	run "plan, enough free" 0 plan --limits="$tmp/limits.json" \
		-o "$tmp/plan" "$tmp/not.json"
	says "plan, enough free" "fits"
	run "the plan judged without the file" 0 verify "$tmp/plan"
	run "verify, enough free" 0 verify --limits="$tmp/limits.json" \
		"$tmp/not.plan"
	run "verify, a geometry" 0 verify --limits="$tmp/limits.json" \
		"$tmp/not.json"
	run "realize, enough free" 0 realize --limits="$tmp/limits.json" \
		"$tmp/not.plan"
	run "realize, without" 1 realize "$tmp/not.plan"
	jq '.entry_reserve = 401' "$tmp/not.json" >"$tmp/reserve.json"
	limits 0
	run "plan, less than the reserve" 0 plan --limits="$tmp/limits.json" \
		-o "$tmp/plan" "$tmp/reserve.json"
	says "plan, less than the reserve" "the limit is 0"
	run "it can be read again" 1 verify "$tmp/plan"
	run "plan, not counted" 0 plan --limits="$tmp/two" -o "$tmp/plan" \
		"$tmp/fits.json"
	says "plan, not counted" "the geometry's: $tmp/two has no count"
	query "plan, not counted" 402 "$tmp/plan" .geometry.entry_limit
	run "verify, not counted" 1 verify --limits="$tmp/two" "$tmp/not.plan"
}

judge_granularity()
{
	jq '.devices[1].granularity = 4194304' "$tmp/two" >"$tmp/coarse.json"
	for command in plan verify realize; do
		file=$tmp/fits.plan
		[ $command != plan ] || file=$tmp/fits.json
		run "$command, coarse" 1 $command --limits="$tmp/coarse.json" \
			"$file"
		says "$command, coarse" \
			"granularity is 2097152 bytes, but GPU 1 of the limits allocates in multiples of 4194304" \
			"plan with granularity 4194304"
	done
	run "verify, coarse, two plans" 1 verify --limits="$tmp/coarse.json" \
		"$tmp/fits.plan" "$tmp/fits.plan"
	says "verify, coarse" "NOT VERIFIED $tmp/fits.plan: the limits of the node do not allow it"
	run "verify, coarse, JSON" 1 verify --limits="$tmp/coarse.json" \
		--format=json "$tmp/fits.plan"
	query "verify, coarse, JSON" false "$tmp/out" .verified
	jq '.devices[].granularity = 4096' "$tmp/two" >"$tmp/fine.json"
	run "finer is fine" 0 plan -q --limits="$tmp/fine.json" "$tmp/fits.json"
}

# broken JQ POINTER: a limits file so changed is refused by all three
broken()
{
	jq "$1" "$tmp/two" >"$tmp/broken.json"
	run "$1" 2 verify --limits="$tmp/broken.json" "$tmp/fits.plan"
	says "$1" "broken.json: $2"
	run "$1" 2 plan --limits="$tmp/broken.json" "$tmp/fits.json"
	run "$1" 2 realize --limits="$tmp/broken.json" "$tmp/fits.plan"
}

broken_files()
{
	broken '.format = "kvplan/limits/2"' /format
	broken 'del(.format)' /format
	broken '.extra = 1' /extra
	broken 'del(.peers)' /peers
	broken '.peers[0] = [true]' /peers/0
	broken '.peers += [[true, true]]' /peers
	broken '.peers[1][0] = 1' /peers/1/0
	broken '.devices = []' /devices
	broken '.devices[0].granularity = 3000000' /devices/0/granularity
	broken '.devices[1].free_bytes = -1' /devices/1/free_bytes
	broken '.devices[1].label = "x" * 40' /devices/1/label
	broken '.abilities.part_grant = true' /abilities/part_grant
	broken '.abilities.half_unmap.works = null' /abilities/half_unmap/works
	broken 'del(.abilities.hint_moves)' /abilities/hint_moves
	broken '.cost_ns.map = 0.5' /cost_ns/map
	broken '.entries = 5000' /entries
	broken '.entries = {free: 5}' /entries/exact
	broken '.entries = {free: -5, exact: true}' /entries/free
	broken '.entries = {free: 4294967296, exact: true}' /entries/free
	head -c 100 "$tmp/two" >"$tmp/broken.json"
	run "cut" 2 verify --limits="$tmp/broken.json" "$tmp/fits.plan"
	run "a plan" 2 verify --limits="$tmp/fits.plan" "$tmp/fits.plan"
	says "a plan" '/format: is "kvplan/plan/1"'
	run "no file" 3 plan --limits="$tmp/nosuch" "$tmp/fits.json"
	run "a limits file for a plan" 2 verify "$tmp/two"
}

if [ ! -r "$B/fake/libcuda.so.1" ]; then
	echo "SKIP probe: no $B/fake/libcuda.so.1"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
findings
counts
interrupted INT 130
interrupted TERM 143
faults
usage
judge_entries
judge_granularity
broken_files
close
