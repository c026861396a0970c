#!/bin/sh
# kvplan realize as a user runs it: on this machine's memory and on the
# stand-in driver.  Run from the top directory; B is the build directory, SAN
# the sanitizers in it.
B=${B:-build}
kvplan=$B/kvplan
SAN=${SAN:-}
. tests/shell.sh

# run WHAT EXIT ARG...: kvplan realize ARG...; GPUS of the stand-in if set
run()
{
	told=$1 exit=$2
	shift 2
	rm -f "$tmp/report"
	if [ "${gpus:-}" ]; then
		LD_LIBRARY_PATH=$B/fake FAKE_CUDA_DEVICES=$gpus \
			FAKE_CUDA_REPORT=$tmp/report \
			"$kvplan" realize "$@" >"$tmp/out" 2>"$tmp/err"
	else
		"$kvplan" realize "$@" >"$tmp/out" 2>"$tmp/err"
	fi
	code=$?
	if [ "$code" -eq "$exit" ]; then
		pass
	else
		fail "$told: exit $code, not $exit: $(cat "$tmp/err")"
	fi
	[ -z "${gpus:-}" ] || [ "$exit" -eq 4 ] || nothing_left "$told"
}

clean='{"reservations":0,"handles":0,"mappings":0,"entries":0,"contexts":0,"streams":0,"host":0,"errors":[]}'

# nothing_left WHAT: the stand-in has nothing alive and saw no wrong order
nothing_left()
{
	same "$1: the stand-in's report" "$clean" "$(cat "$tmp/report" 2>&1)"
}

# plan NAME MERGE GEOMETRY [JQ-CHANGE]: $tmp/NAME.json
plan()
{
	changed "$3" "${4:-}" | "$kvplan" plan -q --merge="$2" - \
		>"$tmp/$1.json" 2>"$tmp/err"
	[ -s "$tmp/$1.json" ] || fail "plan $1: $(cat "$tmp/err")"
}

# --- a capacity file ---

# check_capacity WHAT FILE PLAN RANKS
check_capacity()
{
	query "$1: ranks" "$4" "$2" '.ranks | length'
	same "$1: every number is the plan's" '[]' "$(jq -c -n \
		--slurpfile c "$2" --slurpfile p "$3" '
		$p[0] as $p | $c[0] as $c | $p.geometry as $g
		| [ ($p.chunks | map(.bytes) | add) + $p.dedicated_bytes
		    + ($g.static | map((.bytes / $g.granularity | ceil)
				       * $g.granularity) | add // 0) ] as [$bytes]
		| [ if $c.format != "kvplan/capacity/1" then "format"
		    else empty end,
		    if $c.name != $g.name then "name" else empty end,
		    if $c.merge != $p.merge then "merge" else empty end,
		    if $c.ranks_total != $g.ranks then "ranks_total"
		    else empty end,
		    if $c.complete != (($c.ranks | length) == $g.ranks)
		    then "complete" else empty end,
		    if ($c | has("capacity")) != $c.complete then "capacity"
		    else empty end,
		    if ([$c.driver, $c.version, $c.backend]
			| any(type != "string" or . == "")) then "driver"
		    else empty end,
		    if $c.complete and ($c.capacity | .pages != $g.pages or
			.snapshot_rows != $g.snapshot_rows or
			.execution_rows != $g.execution_rows or
			.kv_tokens != $p.summary.kv_tokens or
			.bytes != $bytes * $g.ranks or
			.entries != $p.summary.entries.per_node[0])
		    then "capacity numbers" else empty end,
		    ($c.ranks[] | . as $r
		     | if .pages != $g.pages or .bytes != $bytes or
			  .snapshot_rows != $g.snapshot_rows or
			  .execution_rows != $g.execution_rows or
			  .chunks != ($p.chunks | length) then
			  "rank \($r.rank)" else empty end,
		       if $c.backend == "cuda" and
			  (.uuid | test("^GPU-[0-9a-f-]{36}$") | not) then
			  "uuid" else empty end,
		       if .uuid == null or .device_name == "" then
			  "device name" else empty end,
		       if (.planes | map(.name)) != ($g.planes | map(.name))
			then "plane names" else empty end,
		       if (.planes | map(.stride)) !=
			  ($g.planes | map(.bytes_per_page)) then
			  "strides" else empty end,
		       if ([.planes[].address] + [.arena.address // 1]
			   | any(. <= 0)) then "addresses" else empty end,
		       if has("arena") and .arena.stride != $g.row_stride then
			  "row stride" else empty end,
		       if .headroom.cap_bytes != (.headroom.free_bytes
			  | [1073741824, (. / 2 | floor),
			     ([67108864, (. / 8 | floor)] | max)] | min) then
			  "cap of rank \($r.rank)" else empty end),
		    if $c.complete and $c.capacity.headroom !=
			([$c.ranks[].headroom] | min_by(.free_bytes)) then
			"least headroom" else empty end,
		    if ([$c.ranks[] | .planes[].address, .arena.address // empty]
			| length != (unique | length)) then
			"addresses twice" else empty end ]' 2>&1)"
}

# --- on this machine's memory ---

small_kimi='.pages = 64 | .snapshot_rows = 2 | .execution_rows = 1'

host_checks()
{
	for merge in none row span; do
		plan "example.$merge" $merge layouts/example.json
		for check in quick full; do
			run "host, example, $merge, $check" 0 \
				"--check=$check" "$tmp/example.$merge.json"
			says "host, example, $merge" "checked $check" \
				"REALIZED 4 of 4 ranks, mode $merge" \
				"exactly 2 readers"
		done
		plan "kimi.$merge" $merge \
			layouts/kimi-k3.1-pro-tp16-dcp16.json "$small_kimi"
	done
	for merge in none row span; do
		run "host, two ranks of a smaller layout, $merge, full" 0 \
			--check=full --ranks=3-4 --json "$tmp/kimi.$merge.json"
		check_capacity "two ranks, $merge" "$tmp/out" \
			"$tmp/kimi.$merge.json" 2
		query "two ranks, $merge: checked" '"full"' "$tmp/out" .checked
	done
	run "host, checks quickly" 0 --check "$tmp/kimi.row.json"
	says "host, --check" "checked quick"
}

# One rank of every layout, quickly: as many chunks as they come.
host_layouts()
{
	for layout in layouts/*.json; do
		name=${layout##*/}
		for merge in none row; do
			# Unmerged ones with rows: the published and the widest.
			case $merge.$SAN.$name in
			row.*|none..kimi-k3*|none..zamba*) ;;
			*) continue ;;
			esac
			plan layout $merge "$layout"
			run "host, $name, $merge" 0 --ranks=0 --check=quick \
				"$tmp/layout.json"
		done
	done
}

host_refusals()
{
	run "no such rank" 2 --ranks=4 "$tmp/example.row.json"
	run "more ranks than there are" 2 --ranks=0-4 "$tmp/example.row.json"
	run "ranks the wrong way" 2 --ranks=2-1 "$tmp/example.row.json"
	run "both host and GPUs" 2 --host --gpus "$tmp/example.row.json"
	run "no such check" 2 --check=most "$tmp/example.row.json"
	run "no plan" 3 "$tmp/none.json"
	run "a geometry" 2 layouts/example.json
	jq '.chunks[0].arena += 2097152' "$tmp/example.row.json" \
		>"$tmp/bad.json"
	run "a bad plan" 1 --trace="$tmp/trace" "$tmp/bad.json"
	says "a bad plan" "not verified, nothing was allocated"
	same "a bad plan: no trace" no "$([ -e "$tmp/trace" ] || echo no)"
	plan nodes row layouts/deepseek-v3.2-tp16-dcp8.json '.pages = 64'
	run "two nodes at once" 1 --trace="$tmp/trace" "$tmp/nodes.json"
	says "two nodes at once" "such as ranks 0 to 7"
	same "two nodes at once: acquiring calls" 0 "$(acquired)"
	run "the first node" 0 --ranks=0-7 "$tmp/nodes.json"
	run "the second node" 0 --ranks=8-15 "$tmp/nodes.json"
	run "across nodes" 1 --ranks=7-8 "$tmp/nodes.json"
	(ulimit -n 24; "$kvplan" realize "$tmp/kimi.row.json") >"$tmp/out" \
		2>"$tmp/err"
	same "too few descriptors" 1 $?
	says "too few descriptors" "ulimit -n"
}

# Advisory rules can be lowered.  All others are refused, however many are
# named, before the plan is read and a driver is looked for.
lowered_rules()
{
	devices=$1
	shift
	for rule in $("$kvplan" verify --list-rules | awk '{ print $1 }'); do
		plan=tests/rules/$rule.json
		case $rule in
		entry-limit | bound | headroom) exit=0 ;;
		address-space) exit=1 ;;	# preflight's, too
		*) exit=2 ;;
		esac
		gpus=
		if [ "$exit" != 2 ] && [ "$devices" ]; then
			gpus=$devices exit=1	# granules of 4 KiB
		fi
		run "lowered, $rule" "$exit" "$@" --ranks=0-1 \
			--warn="$rule" "$plan"
		[ "$exit" != 0 ] || [ "$rule" = entry-limit ] || {
			run "not lowered, $rule" 1 "$@" --ranks=0-1 "$plan"
			says "not lowered, $rule" "nothing was allocated; \
to realize it all the same, add --warn=$rule"
		}
		[ "$exit" = 2 ] && says "lowered, $rule" "--warn=$rule: " \
			"only these rules may be warnings here: entry-limit, bound, headroom, address-space"
	done
	gpus=
	run "lowered, two rules" 2 "$@" --warn=bound --warn=access "$plan"
	"$kvplan" plan -q layouts/example.json | jq '.access = []' \
		>"$tmp/bad.json"
	run "no access, lowered" 2 "$@" --ranks=0-1 --warn=access \
		--warn=entries "$tmp/bad.json"
	run "no access" 1 "$@" --ranks=0-1 "$tmp/bad.json"
}

# --- publishing ---

publish()
{
	target=$tmp/dir/capacity
	mkdir -p "$tmp/dir"
	run "publish" 0 --publish="$target" "$tmp/example.row.json"
	check_capacity "publish" "$target" "$tmp/example.row.json" 4
	query "publish: nothing of access" false "$target" 'has("access")'
	cp "$target" "$tmp/before"
	run "publish again" 0 --publish="$target" --ranks=1-2 \
		"$tmp/example.row.json"
	check_capacity "publish again" "$target" "$tmp/example.row.json" 2
	same "publish: files beside it" capacity "$(ls -A "$tmp/dir")"
	mode=$(umask 027 && run "publish by umask" 0 \
		--publish="$tmp/dir/mode" "$tmp/example.row.json" >/dev/null
		stat -c %a "$tmp/dir/mode")
	same "publish: mode by umask" 640 "$mode"
	rm "$tmp/dir/mode"
	mkfifo "$tmp/dir/pipe"
	cat "$tmp/dir/pipe" >"$tmp/piped" &
	run "publish through a pipe" 0 --publish="$tmp/dir/pipe" \
		"$tmp/example.row.json"
	wait
	query "publish through a pipe" 4 "$tmp/piped" '.ranks | length'
	rm "$tmp/dir/pipe"
	run "publish nowhere" 3 --publish="$tmp/none/capacity" \
		--trace="$tmp/trace" "$tmp/example.row.json"
	says "publish nowhere" "$tmp/none/capacity"
	same "publish nowhere: acquiring calls" 0 "$(acquired)"
	run "publish to a full device" 3 --publish=/dev/full \
		--trace="$tmp/trace" "$tmp/example.row.json"
	says "publish to a full device" /dev/full
	same "publish to a full device: model" '' "$(model false)"
}

# milliseconds COMMAND...: how long it takes
milliseconds()
{
	begun=$(date +%s%N)
	"$@" >/dev/null 2>&1
	echo $((($(date +%s%N) - begun) / 1000000 + 1))
}

# Old file or none before a signal that cannot be caught, whole after: at 20
# times spread over a run and what comes after it.
publish_killed()
{
	target=$tmp/dir/killed
	long=$(milliseconds "$kvplan" realize --publish="$target" \
		"$tmp/kimi.row.json")
	i=0 bad=0 new=0
	while [ $i -lt 20 ]; do
		if [ $((i % 2)) -eq 0 ]; then
			rm -f "$target"
		else
			echo '{"old":true}' >"$target"
		fi
		"$kvplan" realize --publish="$target" "$tmp/kimi.row.json" \
			>/dev/null 2>&1 &
		pid=$!
		sleep "$(awk -v i=$i -v ms="$long" -v seed=$$ 'BEGIN {
			srand(seed + i)
			printf "%.4f", (i + rand()) * ms * 1.5 / 20 / 1000 }')"
		kill -9 $pid 2>/dev/null
		wait $pid 2>/dev/null
		rm -f "$tmp"/dir/.kvplan-*	# the one it was writing
		if jq -e '.ranks | length == 16' "$target" >/dev/null 2>&1
		then
			new=$((new + 1))
		elif [ $((i % 2)) -eq 0 ]; then
			[ ! -e "$target" ] || bad=$((bad + 1))
		else
			[ "$(cat "$target")" = '{"old":true}' ] ||
				bad=$((bad + 1))
		fi
		i=$((i + 1))
	done
	same "killed while publishing, $new of 20 too late" 0 $bad
	rm -f "$tmp/dir"/killed*
}

# --- the trace ---

# model CHECK: what is wrong with the trace, or nothing
model()
{
	jq -n -r -f tests/realize/model.jq --argjson check "$1" \
		"$tmp/trace" 2>&1
}

# states: how often each state is reached, by name
states()
{
	jq -r 'select(.event == "state") | .state' "$tmp/trace" | sort |
		uniq -c | awk '{ printf "%s%s %s", (NR > 1 ? ", " : ""), $1, $2 }'
}

trace()
{
	run "trace" 0 --trace="$tmp/trace" "$tmp/example.row.json"
	same "trace: model" '' "$(model false)"
	same "trace: states" \
		"4 CREATED, 4 GRANTED, 4 MAPPED, 4 RESERVED, 4 UNWOUND" \
		"$(states)"
	run "trace of all" 0 --trace="$tmp/trace" --check=quick \
		--publish="$tmp/dir/traced" "$tmp/example.none.json"
	same "trace of all: model" '' "$(model true)"
	same "trace of all: states" "4 CHECKED, 4 CREATED, 4 GRANTED, \
4 MAPPED, 4 PUBLISHED, 4 RESERVED, 4 UNWOUND" "$(states)"
	same "trace of all: keys" \
		'["event","rank","state","undo","call","outcome","address","bytes","entries"]' \
		"$(jq -c 'select(.call == "map") | keys_unsorted' \
			"$tmp/trace" | sort -u)"
	same "trace: every rank is named" '0 1 2 3' "$(jq -r \
		'select(.call == "device") | .rank' "$tmp/trace" | xargs)"
	same "trace: entries at the end" 0 \
		"$(tail -n 1 "$tmp/trace" | jq .entries)"
	cp "$tmp/example.row.json" "$tmp/plan"
	run "a trace over the plan" 2 --trace="$tmp/plan" "$tmp/plan"
	run "capacities over the plan" 2 --publish="$tmp/plan" "$tmp/plan"
	same "the plan stands" '' "$(cmp "$tmp/plan" "$tmp/example.row.json")"
	run "one file for both" 2 --trace="$tmp/dir/not" \
		--publish="$tmp/dir/not" "$tmp/plan"
	run "no name to publish to" 3 --publish= "$tmp/plan"
	run "a trace that cannot be opened" 3 --trace="$tmp/none/trace" \
		--publish="$tmp/dir/not" "$tmp/example.row.json"
	same "a trace that cannot be opened: published" no \
		"$([ -e "$tmp/dir/not" ] || echo no)"
	run "a trace that cannot be written" 3 --trace=/dev/full \
		"$tmp/example.row.json"
	says "a trace that cannot be written" "/dev/full: cannot write"
	rm -f "$tmp/dir/traced"
}

# --- signals ---

# begin ARG...: in the background, with the stand-in; $pid
begin()
{
	rm -f "$tmp/report"
	LD_LIBRARY_PATH=$B/fake FAKE_CUDA_DEVICES=16 \
		FAKE_CUDA_REPORT=$tmp/report \
		"$kvplan" realize "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
}

# wait_for TEXT FILE
wait_for()
{
	i=0
	until grep -qF -e "$1" "$2" 2>/dev/null; do
		i=$((i + 1))
		[ $i -lt 500 ] || return 1
		sleep 0.02
	done
}

# hold SIGNAL ARG...
hold()
{
	signal=$1
	shift
	rm -f "$tmp/dir/held" "$tmp/err"
	begin --hold --publish="$tmp/dir/held" "$@" "$tmp/example.row.json"
	wait_for holding "$tmp/err" || fail "hold: does not say so"
	query "hold $*: published meanwhile" 4 "$tmp/dir/held" '.ranks | length'
	kill "-$signal" $pid
	wait $pid
	same "hold $*, $signal: exit" 0 $?
	case $* in *--gpus*) nothing_left "hold $*, $signal" ;; esac
}

# Read a trace to its end; at the first line with TEXT, send SIGNAL.
stop_at()
{
	awk -v text="$1" -v kill="kill -$2 $3" '
		index($0, text) && !done { system(kill); done = 1 }
		{ print }' "$tmp/fifo" >"$tmp/trace"
}

# interrupted STATE-TEXT SIGNAL EXIT BACKEND...
interrupted()
{
	text=$1 signal=$2 expected=$3
	shift 3
	what="$signal at $text, $*"
	rm -f "$tmp/fifo" "$tmp/dir/interrupted"
	mkfifo "$tmp/fifo"
	begin --trace="$tmp/fifo" --publish="$tmp/dir/interrupted" \
		--check=quick "$@"
	stop_at "$text" "$signal" $pid
	wait $pid
	same "$what: exit" "$expected" $?
	says "$what" "interrupted by signal"
	same "$what: nothing published" no \
		"$([ -e "$tmp/dir/interrupted" ] || echo no)"
	same "$what: model" '' "$(model true)"
	same "$what: files" '' "$(ls -A "$tmp/dir" | grep -e "^interrupted" -e "^\.kvplan-")"
	case $* in *--gpus*) nothing_left "$what" ;; esac
}

# A trace is told in blocks of 4 KiB through a pipe of 64 KiB, so ranks have
# to be long enough that a signal still comes in time.
signals()
{
	plan long none layouts/kimi-k3.1-pro-tp16-dcp16.json
	for text in '"call":"device"' '"state":"RESERVED"' \
		'"state":"CREATED"' '"state":"MAPPED"' '"state":"GRANTED"' \
		'"state":"CHECKED"'; do
		interrupted "$text" INT 130 --ranks=0-1 "$tmp/long.json"
		[ "$fake" ] || continue
		interrupted "$text" TERM 143 --ranks=0-1 --gpus "$tmp/long.json"
	done
	for signal in HUP:129 USR1:138 ALRM:142; do
		interrupted '"state":"MAPPED"' ${signal%:*} ${signal#*:} \
			--ranks=0-1 "$tmp/long.json"
	done
	hold INT
	hold TERM
	hold HUP
}

# --- on the stand-in ---

published_row()
{
	gpus=16
	plan dcp16.row row layouts/kimi-k3.1-pro-tp16-dcp16.json
	plan dcp16.none none layouts/kimi-k3.1-pro-tp16-dcp16.json
	plan dcp8 row layouts/kimi-k3.1-pro-tp16-dcp8.json
	FAKE_CUDA_ENTRIES_USED=2869
	export FAKE_CUDA_ENTRIES_USED
	run "published, row" 0 --gpus --json "$tmp/dcp16.row.json"
	query "published, row: access records" 384 "$tmp/out" '.access | length'
	query "published, row: readers" '[16]' "$tmp/out" \
		'.access | map(.readers | length) | unique'
	query "published, row: owner first, no one twice" true "$tmp/out" \
		'.access | all(.readers[0] == .rank and
			       (.readers | length == (unique | length)))'
	query "published, row: one free memory per reader" true "$tmp/out" \
		'.access | all((.free_before | length) == 16 and
			       (.free_after | length) == 16)'
	query "published, row: one record per rank and plane" 384 "$tmp/out" \
		'.access | unique_by([.rank, .plane]) | length'
	query "published, row: entries" 442661 "$tmp/out" .capacity.entries
	query "published, row: tokens" 4575232 "$tmp/out" .capacity.kv_tokens
	query "published, row: entries by records" 413952 "$tmp/out" \
		'.access | map(.entries) | add'
	check_capacity "published, row" "$tmp/out" "$tmp/dcp16.row.json" 16
	run "published, row, in words" 0 --gpus "$tmp/dcp16.row.json"
	says "published, row, in words" "REALIZED 16 of 16 ranks, mode row" \
		"439,792 table entries beside 2,869 of others" \
		"384 access records with exactly 16 readers"
	run "published, DCP8" 0 --gpus --json "$tmp/dcp8.json"
	query "published, DCP8: access records" 384 "$tmp/out" \
		'.access | length'
	query "published, DCP8: readers" '[8]' "$tmp/out" \
		'.access | map(.readers | length) | unique'
	query "published, DCP8: readers are the group" true "$tmp/out" \
		'.access | all(.rank as $r |
			.readers | all(. / 8 | floor == ($r / 8 | floor)))'
	check_capacity "published, DCP8" "$tmp/out" "$tmp/dcp8.json" 16
}

# acquired: how many acquiring calls the trace has
acquired()
{
	grep -c '"call":"\(reserve\|create\|map\|grant\)"' "$tmp/trace"
}

published_none()
{
	title="published, none, not warned"
	run "$title" 1 --gpus --trace="$tmp/trace" \
		--publish="$tmp/dir/not" "$tmp/dcp16.none.json"
	says "$title" "525077 of 520192 table entries" \
		"mode row needs 442,661 of 520,192"
	same "$title: acquiring calls" 0 "$(acquired)"
	same "$title: nothing published" '' "$(ls -A "$tmp/dir" | grep -e not -e "^\.kvplan-")"
	title="published, none"
	run "$title" 3 --gpus --warn=entry-limit --publish="$tmp/dir/not" \
		"$tmp/dcp16.none.json"
	says "$title" "table of mappings is full" "rank 15, GPU 15" \
		"plane 1 (mla.1), chunk 1129" "rows 65 to 66" cuMemSetAccess \
		CUDA_ERROR_OUT_OF_MEMORY "; after 1129" " calls, with " \
		" of 525077 table entries held" "; free bytes: rank 0 " \
		", rank 11 " "mode row needs 442,661 of 520,192"
	same "$title: nothing published" '' "$(ls -A "$tmp/dir" | grep -e not -e "^\.kvplan-")"
	unset FAKE_CUDA_ENTRIES_USED
}

standin_refusals()
{
	gpus=2
	run "fewer GPUs than ranks" 1 --gpus --trace="$tmp/trace" \
		"$tmp/example.row.json"
	says "fewer GPUs than ranks" "4 ranks need a GPU each, 2 are visible" \
		"--ranks=0-1"
	run "as many ranks as GPUs" 0 --gpus --ranks=0-1 \
		"$tmp/example.row.json"
	run "fewer listed than ranks" 1 --gpus=0,1 "$tmp/example.row.json"
	says "fewer listed than ranks" "2 are listed" "--ranks=0-1"
	run "a GPU twice" 2 --gpus=0,0 --ranks=0-1 "$tmp/example.row.json"
	says "a GPU twice" "GPU 0 is given twice"
	run "an unknown GPU" 2 --gpus=0,7 --ranks=0-1 "$tmp/example.row.json"
	says "an unknown GPU" "no GPU 7"
	gpus=4
	run "GPUs in another order" 0 --gpus=3,1,0,2 --json --check=full \
		"$tmp/example.row.json"
	query "GPUs in another order: uuids" '["03","01","00","02"]' \
		"$tmp/out" '.ranks | map(.uuid[-2:])'
	FAKE_CUDA_NO_PEER=0-1
	export FAKE_CUDA_NO_PEER
	run "no peer access" 1 --gpus "$tmp/example.row.json"
	says "no peer access" "rank 1 (GPU 1)" "rank 0 (GPU 0)"
	run "no peer access, other GPUs" 0 --gpus=0,2 --ranks=0-1 \
		"$tmp/example.row.json"
	FAKE_CUDA_NO_PEER=1-2
	plan nostatic row layouts/example.json 'del(.static)'
	run "no peer access where none reads" 0 --gpus "$tmp/nostatic.json"
	unset FAKE_CUDA_NO_PEER
	need=$(jq '(.chunks | map(.bytes) | add) + .dedicated_bytes +
		   16777216 + 2097152' "$tmp/example.row.json")
	export FAKE_CUDA_MEMORY
	FAKE_CUDA_MEMORY=$((need - 1))
	run "a byte too little memory" 1 --gpus "$tmp/example.row.json"
	says "a byte too little memory" "$need" "$FAKE_CUDA_MEMORY"
	FAKE_CUDA_MEMORY=$need
	run "just enough memory" 0 --gpus "$tmp/example.row.json"
	unset FAKE_CUDA_MEMORY
	FAKE_CUDA_ENTRIES=$((410 + 391))
	export FAKE_CUDA_ENTRIES
	run "an entry too few" 3 --gpus "$tmp/example.row.json"
	says "an entry too few" "table of mappings is full"
	FAKE_CUDA_ENTRIES=$((410 + 392))
	run "just enough entries" 0 --gpus "$tmp/example.row.json"
	unset FAKE_CUDA_ENTRIES
	plan fine row layouts/example.json '.granularity = 4096'
	run "a finer granularity" 1 --gpus "$tmp/fine.json"
	says "a finer granularity" 4096 "plan with granularity 2097152"
	gpus=0
	run "no GPU" 3 --gpus "$tmp/example.row.json"
	says "no GPU" CUDA_ERROR_NO_DEVICE
	gpus=
	run "no driver" 3 --gpus "$tmp/example.row.json"
	says "no driver" libcuda.so.1
}

# Addresses that are recorded: got before anything else lies there, or
# refused, or not to be had.
standin_addresses()
{
	gpus=2
	plan placed row layouts/example.json \
		'.arena_address = 35184372088832 |
		 .planes[2].address = 35734127902720'
	run "recorded addresses" 0 --gpus --ranks=0 --json "$tmp/placed.json"
	query "recorded addresses: arena" 35184372088832 "$tmp/out" \
		'.ranks[0].arena.address'
	query "recorded addresses: plane" 35734127902720 "$tmp/out" \
		'.ranks[0].planes[-1].address'
	run "recorded addresses of two ranks" 1 --gpus --ranks=0-1 \
		--trace="$tmp/trace" "$tmp/placed.json"
	same "recorded addresses of two ranks: acquiring calls" 0 "$(acquired)"
	# Static storage would get this one.
	plan first row layouts/example.json \
		'.planes[2].address = 139637959950336'
	run "recorded before static" 0 --gpus --ranks=0 --json \
		"$tmp/first.json"
	query "recorded before static: plane" 139637959950336 "$tmp/out" \
		'.ranks[0].planes[-1].address'
	# A driver that never gives what is asked for.
	FAKE_CUDA_HINTS_FROM=140737488355328
	export FAKE_CUDA_HINTS_FROM
	run "an address not free" 3 --gpus --ranks=0 \
		--publish="$tmp/dir/taken" "$tmp/placed.json"
	says "an address not free" draft "0x208000000000 is not free"
	# Nor can what the driver offers instead be given back.
	FAKE_CUDA_FAIL=cuMemAddressFree:1
	export FAKE_CUDA_FAIL
	run "an address not free, stuck" 4 --gpus --ranks=0 \
		--publish="$tmp/dir/taken" "$tmp/placed.json"
	says "an address not free, stuck" "cannot give back 0x"
	same "an address not free: what is left" "0 0 1" "$(jq -r \
		'"\(.mappings) \(.handles) \(.reservations)"' \
		"$tmp/report")"
	unset FAKE_CUDA_FAIL FAKE_CUDA_HINTS_FROM
	same "an address not free: published" '' "$(ls -A "$tmp/dir" | grep -e taken -e "^\.kvplan-")"
}

# Ranks of which readers are elsewhere.
standin_some_ranks()
{
	gpus=4
	run "some ranks" 0 --gpus --ranks=1-2 --json \
		--publish="$tmp/dir/some" "$tmp/example.row.json"
	says "some ranks" "get no grant: ranks 0,3"
	query "some ranks: complete" false "$tmp/dir/some" .complete
	query "some ranks: capacity" false "$tmp/dir/some" 'has("capacity")'
	query "some ranks: readers" '[[1],[2]]' "$tmp/out" \
		'.access | map(.readers) | unique'
	query "some ranks: ranks" '[[1,0],[2,1]]' "$tmp/dir/some" \
		'.ranks | map([.rank, .device])'
	run "a whole group of ranks" 0 --gpus --ranks=2-3 --json \
		"$tmp/example.row.json"
	query "a whole group: readers" '[[2,3],[3,2]]' "$tmp/out" \
		'.access | map(.readers) | unique'
	rm -f "$tmp/dir/some"
}

# What the driver says is left once everything is granted sets the cap.
standin_headroom()
{
	gpus=4
	run "headroom" 0 --gpus --json "$tmp/example.row.json"
	bytes=$(jq '.ranks[0].bytes' "$tmp/out")
	for left in 274726912 884998144 100000000 9663676416; do
		FAKE_CUDA_MEMORY=$((bytes + left))
		export FAKE_CUDA_MEMORY
		run "headroom, $left left" 0 --gpus --json \
			--publish="$tmp/dir/headroom" "$tmp/example.row.json"
		query "headroom, $left left: of every rank" "[$left]" \
			"$tmp/out" '.ranks | map(.headroom.free_bytes) | unique'
		check_capacity "headroom, $left left" "$tmp/dir/headroom" \
			"$tmp/example.row.json" 4
	done
	FAKE_CUDA_MEMORY=$((bytes + 274726912))
	run "headroom, in words" 0 --gpus "$tmp/example.row.json"
	says "headroom, in words" "HEADROOM 274,726,912 bytes free beside" \
		"may hold 67,108,864 bytes (floor)"
	plan stated row layouts/example.json \
		'.headroom = {free_bytes: 8589934592, cap_bytes: 1073741824}'
	run "headroom, a plan that states more" 0 --gpus "$tmp/stated.json"
	says "headroom, a plan that states more" \
		"warning: the plan states a cap of 1,073,741,824 bytes" \
		"274,726,912 bytes are free beside rank 0"
	KVPLAN_ALLOC_CACHE_MAX_MB=16
	export KVPLAN_ALLOC_CACHE_MAX_MB
	run "headroom, override" 0 --gpus --json "$tmp/example.row.json"
	same "headroom, override that can be reached: no warning" '' \
		"$(grep warning "$tmp/err")"
	query "headroom, override" \
		'{"free_bytes":274726912,"cap_bytes":16777216,"term":"override"}' \
		"$tmp/out" .capacity.headroom
	KVPLAN_ALLOC_CACHE_MAX_MB=0
	run "headroom, no cap" 0 --gpus "$tmp/example.row.json"
	says "headroom, no cap" "may hold any number of bytes (override)" \
		"warning: without a cap the cache grows until memory runs out"
	run "headroom, no cap, JSON" 0 --gpus --json "$tmp/example.row.json"
	query "headroom, no cap, JSON" null "$tmp/out" \
		.capacity.headroom.cap_bytes
	KVPLAN_ALLOC_CACHE_MAX_MB=64M
	gpus= run "headroom, unreadable" 2 --gpus "$tmp/example.row.json"
	says "headroom, unreadable" "KVPLAN_ALLOC_CACHE_MAX_MB is '64M'"
	unset KVPLAN_ALLOC_CACHE_MAX_MB FAKE_CUDA_MEMORY
	rm -f "$tmp/dir/headroom"
}

standin_checks()
{
	gpus=4
	for merge in none row span; do
		run "stand-in, two ranks, $merge, full" 0 --gpus --check=full \
			--ranks=0-1 --trace="$tmp/trace" \
			"$tmp/example.$merge.json"
		same "stand-in, two ranks, $merge: model" '' "$(model true)"
	done
	run "stand-in, all ranks, quick" 0 --gpus --check \
		--publish="$tmp/dir/checked" "$tmp/example.row.json"
	query "stand-in, all ranks: checked" '"quick"' "$tmp/dir/checked" \
		.checked
	rm -f "$tmp/dir/checked"
	gpus=1
	run "stand-in, published, one rank, quick" 0 --gpus --ranks=7 \
		--check=quick "$tmp/dcp16.row.json"
	run "stand-in, published unmerged, one rank, quick" 0 --gpus \
		--ranks=7 --check=quick "$tmp/dcp16.none.json"
	gpus=
}

# left: mappings, allocations, reservations that the error says are left
left()
{
	sed -n 's/.*left behind are //p' "$tmp/err" |
		sed 's/mappings: \([0-9]*\), allocations: \([0-9]*\), reservations: \([0-9]*\).*/\1 \2 \3/'
}

# fault CALL N [MORE]: the published size with that call failing
fault()
{
	FAKE_CUDA_FAIL=$1:$2${3:-}
	export FAKE_CUDA_FAIL
	what="published, $FAKE_CUDA_FAIL"
	undo=3
	case $FAKE_CUDA_FAIL in
	*AddressFree*|*MemRelease*|*MemUnmap*) undo=4 ;;
	esac
	echo old >"$tmp/dir/fault"
	run "$what" $undo --gpus --publish="$tmp/dir/fault" \
		"$tmp/dcp16.row.json"
	if [ $undo -eq 3 ] || [ "$1" = cuMemSetAccess ]; then
		same "$what: old file" old "$(cat "$tmp/dir/fault")"
		says "$what" "$1" "rank "
	fi
	if [ $undo -eq 4 ]; then
		same "$what: what is left" "$(jq -r \
			'"\(.mappings) \(.handles) \(.reservations)"' \
			"$tmp/report")" "$(left)"
	fi
}

# faults CALL COUNT: its first, middle and last call, once and for ever
faults()
{
	for n in 1 $(($2 / 2)) "$2"; do
		[ -z "$SAN" ] || [ "$n" -ne 1 ] || continue
		fault "$1" $n
		[ "$SAN" ] || fault "$1" $n :for-ever
	done
}

standin_faults()
{
	gpus=16
	mappings=$((16 * (1617 + 1614 + 1)))
	faults cuMemAddressReserve $((16 * 25))
	faults cuMemCreate $((16 * 1618))
	faults cuMemMap $mappings
	faults cuMemSetAccess $mappings
	faults cuMemGetAccess $((mappings * 16))
	faults cuMemUnmap $mappings
	faults cuMemRelease $((16 * 1618))
	faults cuMemAddressFree $((16 * 25))
	fault cuMemSetAccess 40000 ,cuMemUnmap:5
	fault cuMemSetAccess 40000 ,cuMemRelease:7:for-ever
	fault cuMemSetAccess 40000 ,cuMemUnmap:1:for-ever
	fault cuMemGetInfo 17
	fault cuMemGetInfo $((16 + 16 * 16 * 25))
	unset FAKE_CUDA_FAIL
	rm -f "$tmp/dir/fault"
	gpus=
}

fake=
[ -r "$B/fake/libcuda.so.1" ] && fake=yes
host_checks
host_layouts
host_refusals
lowered_rules '' --host
publish
publish_killed
trace
if [ "$fake" ]; then
	published_row
	published_none
	standin_refusals
	lowered_rules 4 --gpus
	standin_addresses
	standin_some_ranks
	standin_headroom
	standin_checks
	standin_faults
	hold TERM --gpus
	hold INT --gpus
else
	echo "SKIP realize/stand-in: no $B/fake/libcuda.so.1"
	skipped=$((skipped + 1))
fi
signals
close
