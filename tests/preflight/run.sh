#!/bin/sh
# What keeps a plan from being realized is told before anything is touched:
# all of it, with both numbers, and what helps.  On this machine's memory and
# on the stand-in driver.  Run from the top directory; B is the build
# directory.
B=${B:-build}
. tests/shell.sh
kvplan=$B/kvplan

# realize WHAT EXIT PLAN OPTION...; with --gpus on the stand-in.  Where it is
# refused, nothing was acquired.
realize()
{
	told=$1 expected=$2 plan=$3
	shift 3
	rm -f "$tmp/trace"
	LD_LIBRARY_PATH=$B/fake "$kvplan" realize --trace="$tmp/trace" "$@" \
		"$plan" >"$tmp/out" 2>"$tmp/err"
	code=$?
	if [ "$code" -eq "$expected" ]; then
		pass
	else
		fail "$told: exit $code, not $expected: $(cat "$tmp/err")"
	fi
	[ "$expected" -ne 1 ] || same "$told: acquiring calls" 0 "$(grep -c \
		'"call":"\(reserve\|create\|map\|grant\)"' "$tmp/trace")"
}

# plan NAME MERGE GEOMETRY [JQ-CHANGE]: $tmp/NAME.json
plan()
{
	changed "$3" "${4:-}" | "$kvplan" plan -q --merge="$2" - \
		>"$tmp/$1.json" 2>"$tmp/planned" ||
		fail "plan $1: $(cat "$tmp/planned")"
}

# in_order WHAT TEXT...: the texts follow each other in the one error
in_order()
{
	about=$1
	shift
	line=$(grep '^kvplan: error: ' "$tmp/err")
	rest=$line
	for words in "$@"; do
		case $rest in
		*"$words"*) rest=${rest#*"$words"} && pass ;;
		*) fail "$about: no '$words' in its place: $line" ;;
		esac
	done
}

# --- what the driver keeps free ---

# full MODEL LIMIT MEMORY: size by a card of so much memory, plan, realize.
# What size warns of is refused, and what it does not warn of starts.
full()
{
	what="$1, $2 of $3"
	export FAKE_CUDA_DEVICES=1 FAKE_CUDA_MEMORY=$3
	LD_LIBRARY_PATH=$B/fake "$kvplan" size --gpus ${2:+--memory-limit=$2} \
		-o "$tmp/sized" "$tmp/$1" >"$tmp/out" 2>"$tmp/sizing" ||
		fail "$what: $(cat "$tmp/sizing")"
	# The summary's mode row decides.
	"$kvplan" plan -q -o "$tmp/full.json" "$tmp/sized" 2>"$tmp/planned"
	if grep -q -e "--memory-limit=-2M leaves that much" "$tmp/sizing"; then
		refused=$((refused + 1))
		realize "$what: warned" 1 "$tmp/full.json" --gpus
		left=$(jq .headroom.free_bytes "$tmp/sized")
		same "$what: both numbers" "$(tr -d , <"$tmp/sizing" | sed -n \
			's/.*warning: \([0-9]*\) bytes are left the driver keeps \([0-9]*\) .*/\1 2097152/p')" \
			"$left $(sed -n 's/.* with the \([0-9]*\) that the driver .*/\1/p' "$tmp/err")"
		says "$what" "GPU 0 has $3 free, $((2097152 - left)) too few" \
			"(kvplan size --memory-limit=-2M)"
	else
		started=$((started + 1))
		realize "$what" 0 "$tmp/full.json" --gpus
	fi
}

full_cards()
{
	jq 'del(.pages, .snapshot_rows, .static, .access) | .ranks = 1 |
	    .dcp_group_size = 1' layouts/example.json >"$tmp/example"
	jq 'del(.pages, .snapshot_rows) | .ranks = 1 | .dcp_group_size = 1 |
	    .page_overhead_bytes = 0' layouts/kimi-k3.1-pro-tp16-dcp16.json \
		>"$tmp/kimi"
	for model in example kimi; do
		refused=0 started=0
		for more in 0 1 3 7 11 19 23; do
			for limit in "" -0G -1M -2M; do
				full $model "$limit" $((1073741824 +
					more * 2097152 - more * 100003))
			done
		done
		[ $refused -ge 3 ] && [ $started -ge 7 ] && pass ||
			fail "$model: $refused refused, $started started"
	done
	# One chunk is no other case.
	export FAKE_CUDA_MEMORY=104857600
	echo '{"format": "kvplan/geometry/1", "name": "few", "page_tokens": 1,
		"execution_rows": 0, "ranks": 1, "dcp_group_size": 1,
		"row_bytes": 4096, "planes":
		[{"name": "kv", "bytes_per_page": 2097152}]}' \
		>"$tmp/few"
	refused=0 started=0
	for limit in -0G -1M -2M; do
		full few $limit 104857600
	done
	# A page less than 1 MiB would need leaves 2 MiB.
	same "one chunk: refused and started" "1 2" "$refused $started"
	unset FAKE_CUDA_MEMORY
	# Where pages are asked for, a limit would leave too little for them.
	used=$("$kvplan" size --pages=480 --json "$tmp/kimi" 2>"$tmp/err" |
		jq '.[0].used_bytes')
	"$kvplan" size --free="$((used + 5))B" --pages=480 "$tmp/kimi" \
		>"$tmp/out" 2>"$tmp/err"
	says "so many pages" "warning: 5 bytes are left, the driver keeps \
2,097,152 free" "fewer pages leave more"
}

# --- an address space that no GPU has ---

huge='{"format": "kvplan/geometry/1", "name": "huge", "page_tokens": 16,
	"snapshot_rows": 0, "execution_rows": 0, "ranks": 1,
	"dcp_group_size": 1, "planes":
	[{"name": "kv", "count": 2, "bytes_per_page": 65536}]}'
# Addresses end a page below 2^47.
end=140737488355328
most=$((end - 4096))

# warned WHAT FINDING FILE: verify and kvcheck warn, and it is verified
warned()
{
	"$kvplan" verify "$3" >"$tmp/out" 2>"$tmp/err"
	same "$1: verify" 0 $?
	says "$1: verify" "warning: address-space: $2, expected at most $most" \
		"VERIFIED"
	"$B/kvcheck" "$3" >"$tmp/out" 2>"$tmp/err"
	same "$1: kvcheck" 0 $?
	says "$1: kvcheck" "w address-space: $2, expected at most $most" \
		"s VERIFIED"
	same "$1: as JSON" '["address-space","error"]' "$("$kvplan" verify \
		--json --error=address-space "$3" |
		jq -c '.plans[].findings[] | [.rule, .severity]')"
}

address_space()
{
	# 2 * 2^46 bytes are one page too many, so each plane has a granule less.
	echo "$huge" | jq '.pages = 1073741792' >"$tmp/geometry"
	plan huge row "$tmp/geometry"
	same "all addresses: no warning" '' "$(cat "$tmp/planned")"
	"$kvplan" verify "$tmp/huge.json" >"$tmp/out" 2>"$tmp/err"
	same "all addresses: verify" "0 0" "$? $(grep -c warning "$tmp/out")"
	echo "$huge" | jq '.pages = 4016668672' >"$tmp/geometry"
	plan huge row "$tmp/geometry"
	same "2 planes of 239 TiB: plan warns" "kvplan: warning: planes and \
arena take 526,472,796,176,384 bytes of addresses, no GPU has more than \
140,737,488,351,232 (2^47 - 4096): plan fewer pages" "$(cat "$tmp/planned")"
	warned "2 planes of 239 TiB" "plan: planes and arena take \
526472796176384 bytes of addresses" "$tmp/huge.json"
	realize "2 planes of 239 TiB, host" 1 "$tmp/huge.json"
	says "2 planes of 239 TiB, host" "1 rank needs 526472796176384 bytes \
of addresses, a process has $most (2^47 - 4096); plan fewer pages"
	"$kvplan" size --free=400TiB "$tmp/geometry" >"$tmp/out" 2>"$tmp/err"
	same "size of 400 TiB" 0 $?
	says "size of 400 TiB" "warning: planes and arena take \
439,804,651,110,400 bytes of addresses, no GPU has more than $(echo \
		140,737,488,351,232) (2^47 - 4096)"
	# Rows count as well: the arena is as long as a plane here.
	echo "$huge" | jq '.pages = 1073741824 | .row_bytes = 1099511627776 |
		.snapshot_rows = 1 | .tile_granules = 4194304' \
		>"$tmp/geometry"
	plan rows row "$tmp/geometry"
	warned "with an arena" "plan: planes and arena take \
$((end + 8796093022208)) bytes of addresses" "$tmp/rows.json"
}

recorded()
{
	# draft: 18 MiB, the last place it can have, and a granule behind.
	last=$((end - 20 * 1048576))
	plan last row layouts/example.json ".planes[2].address = $last"
	plan far row layouts/example.json \
		".planes[2].address = $((last + 2097152))"
	"$kvplan" verify "$tmp/last.json" >"$tmp/out" 2>"$tmp/err"
	same "the last address" "0 0" "$? $(grep -c warning "$tmp/out")"
	warned "behind the last address" \
		"planes[5]: is recorded to end at $end" \
		"$tmp/far.json"
	plan arena row layouts/example.json \
		".arena_address = $((end - 2097152))"
	warned "an arena behind it" "plan: arena is recorded to end at \
$((end + 39 * 2097152))" "$tmp/arena.json"
	realize "behind the last address, host" 1 "$tmp/far.json" --ranks=0
	says "behind the last address, host" "rank 0: plane draft is recorded \
at $((last + 2097152)) and ends at $end, addresses end at \
$most (2^47 - 4096); record $last at most, or no address"
	[ "$fake" ] || return
	export FAKE_CUDA_DEVICES=4
	realize "behind the last address" 1 "$tmp/far.json" --gpus --ranks=0
	says "behind the last address" "record $last at most, or no address"
	realize "the last address, realized" 0 "$tmp/last.json" --gpus \
		--ranks=0
	# As published, and moved.
	plan none row layouts/example.json
	realize "publish" 0 "$tmp/none.json" --gpus --publish="$tmp/published"
	jq ".ranks[2].planes[5].address = $((last + 2097152)) |
	    .ranks[3].arena.address = $end" "$tmp/published" >"$tmp/moved"
	realize "published too far" 1 "$tmp/none.json" --gpus \
		--addresses="$tmp/moved"
	says "published too far" "rank 2: plane draft is recorded at" \
		"record $last at most, or no address; 1 more end too far"
}

# --- all that stands in the way ---

everything()
{
	plan kimi none layouts/kimi-k3.1-pro-tp16-dcp16.json
	open=$(ulimit -S -n)
	ulimit -S -n 24
	realize "table and descriptors" 1 "$tmp/kimi.json"
	ulimit -S -n "$open"
	in_order "table and descriptors" \
		"mode none needs 525077 of 520192 table entries, 4885 too many" \
		"; mode row needs 442,661 of 520,192; also: 16 ranks need a" \
		"descriptor each, 24 may be open" "ulimit -n 32"
	# As many chunks as take all maps, and then some; everybody reads.
	maps=$(cat /proc/sys/vm/max_map_count)
	if [ "$maps" -gt 2000000 ]; then
		echo "SKIP preflight/maps: vm.max_map_count is $maps"
		skipped=$((skipped + 1))
		return
	fi
	rows=$((maps / 32 + 100))
	echo '{"format": "kvplan/geometry/1", "name": "maps",
		"granularity": 4096, "page_tokens": 1, "execution_rows": 0,
		"row_bytes": 4096, "ranks": 16, "dcp_group_size": 16,
		"planes": [{"name": "kv", "bytes_per_page": 4096}]}' |
		jq ".pages = $rows | .snapshot_rows = $rows |
		    .entry_limit = 100000" >"$tmp/geometry"
	plan maps row "$tmp/geometry"
	realize "table and maps" 1 "$tmp/maps.json"
	in_order "table and maps" "mode row needs $((rows * 272)) of 95904" \
		"; also: 16 ranks need about " \
		" kernel maps, vm.max_map_count is $maps; raise it (sysctl" \
		"or realize fewer ranks with --ranks"
	realize "maps alone" 1 "$tmp/maps.json" --warn=entry-limit
	in_order "maps alone" "kvplan: error: 16 ranks need about "
	ulimit -S -n 24
	realize "all three" 1 "$tmp/maps.json"
	ulimit -S -n "$open"
	in_order "all three" "mode row needs" " kernel maps" \
		"; also: 16 ranks need a descriptor each"
}

everything_on_gpus()
{
	export FAKE_CUDA_DEVICES=16 FAKE_CUDA_NO_PEER=3-5
	bytes=$(jq '(.chunks | map(.bytes) | add) + .dedicated_bytes' \
		"$tmp/kimi.json")
	FAKE_CUDA_MEMORY=$((bytes - 5)) realize "all of it, GPUs" 1 \
		"$tmp/kimi.json" --gpus
	in_order "all of it, GPUs" "mode none needs 525077 of 520192" \
		"; mode row needs 442,661 of 520,192; also: rank 0 needs \
$((bytes + 2097152)) bytes with the 2097152 that the driver keeps free, \
GPU 0 has $((bytes - 5)) free, 2097157 too few; free memory there or plan \
fewer pages; too few as well: rank 1 has $((bytes - 5)), rank 2 has" \
		" more; also: rank 5 (GPU 5) reads the KV of rank 3 (GPU 3)" \
		"; without access as well: rank 3 to rank 5"
	unset FAKE_CUDA_NO_PEER
	FAKE_CUDA_MEMORY=$bytes realize "the driver's own alone" 1 \
		"$tmp/kimi.json" --gpus --warn=entry-limit
	in_order "the driver's own alone" "error: rank 0 needs " \
		"2097152 too few; leave that much (kvplan size"
}

# --- lists ---

lists()
{
	jq '.ranks = 512 | .ranks_per_node = 512 | .static = [] |
	    .access.imports = [range(512) |
		if . % 2 == 1 then [0] else [] end]' layouts/example.json |
		jq '.dcp_group_size = 1' >"$tmp/geometry"
	plan ranks row "$tmp/geometry"
	realize "readers elsewhere" 0 "$tmp/ranks.json" --ranks=0
	shown=$(sed -n 's/.*get no grant: ranks \([0-9,]*\) and .*/\1/p' \
		"$tmp/err" | tr , '\n' | grep -c .)
	says "readers elsewhere" " and $((256 - shown)) more"
	# Two geometries that differ in a long list, and a long list of what
	# is legal.
	jq '.ranks = 128 | .dcp_group_size = 128 | .static = [] |
	    del(.access)' layouts/example.json >"$tmp/geometry"
	jq '.access.imports = [range(128) | [0]]' "$tmp/geometry" >"$tmp/other"
	plan group row "$tmp/geometry"
	"$kvplan" verify --geometry="$tmp/other" "$tmp/group.json" \
		>"$tmp/out" 2>"$tmp/err"
	says "lists that differ" "/access/imports/0: [0,1,2,3," \
		",44 and 83 more] in the plan, [0] in "
	jq '.num_attention_heads = 55440 | .num_key_value_heads = 55440' \
		tests/import/configs/qwen3-32b.json >"$tmp/config"
	"$kvplan" import --tp=13 --kv-dtype=bf16 "$tmp/config" >"$tmp/out" \
		2>"$tmp/err"
	says "what is legal" "legal: 1, 2, 3, 4, " " and 38 more"
	[ "$fake" ] || return
	# The free memory of 32 readers.
	jq '.ranks = 32 | .dcp_group_size = 32 | .static = [] | del(.access)' \
		layouts/example.json >"$tmp/geometry"
	plan readers row "$tmp/geometry"
	export FAKE_CUDA_DEVICES=32 FAKE_CUDA_ENTRIES_USED=520000
	realize "32 readers" 3 "$tmp/readers.json" --gpus
	shown=$(grep -o 'rank [0-9]* [0-9]\{12\}' "$tmp/err" | grep -c .)
	says "32 readers" " and $((32 - shown)) more; "
	[ "$shown" -ge 20 ] && pass || fail "32 readers: $shown shown"
	unset FAKE_CUDA_ENTRIES_USED
}

fake=
[ -r "$B/fake/libcuda.so.1" ] && fake=yes
address_space
recorded
everything
lists
if [ "$fake" ]; then
	everything_on_gpus
	full_cards
else
	echo "SKIP preflight/stand-in: no $B/fake/libcuda.so.1"
	skipped=$((skipped + 1))
fi
close
