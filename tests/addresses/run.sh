#!/bin/sh
# kvplan realize --addresses across processes, on this machine's memory and
# on the stand-in driver.  Run from the top directory; B is the build
# directory.
B=${B:-build}
kvplan=$B/kvplan
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
unset FAKE_CUDA_DEVICES FAKE_CUDA_MEMORY FAKE_CUDA_ENTRIES FAKE_CUDA_NO_PEER \
	FAKE_CUDA_NO_POOLS FAKE_CUDA_HINTS_FROM KVPLAN_ALLOC_CACHE_MAX_MB \
	FAKE_CUDA_ENTRIES_USED FAKE_CUDA_FAIL FAKE_CUDA_REPORT
LC_ALL=C
export LC_ALL

# placed FILE: its ranks, but for what is free, which changes
placed()
{
	jq -cS '.ranks | map(del(.headroom))' "$1"
}

pass() { passed=$((passed + 1)); }
fail() {
	echo "FAIL addresses: $*"
	failed=$((failed + 1))
}
close() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}
# realize ARG...: with --gpus=0,1 of the stand-in where $gpus is set
realize() {
	if [ "$gpus" ]; then
		LD_LIBRARY_PATH=$B/fake FAKE_CUDA_DEVICES=2 \
			FAKE_CUDA_REPORT=$work/report \
			"$kvplan" realize --gpus "$@" >"$work/out" 2>"$work/err"
	else
		"$kvplan" realize "$@" >"$work/out" 2>"$work/err"
	fi
}
clean='{"reservations":0,"handles":0,"mappings":0,"entries":0,"contexts":0,"streams":0,"host":0,"errors":[]}'
# run WHAT EXIT TEXT ARG...: the standard error has TEXT, the stand-in nothing
run() {
	what="$backend: $1" expected=$2 text=$3
	shift 3
	rm -f "$work/report"
	realize "$@"
	code=$?
	if [ "$code" -ne "$expected" ]; then
		fail "$what: exit $code, not $expected: $(cat "$work/err")"
	elif ! grep -qF -e "$text" "$work/err" && [ "$text" ]; then
		fail "$what: does not say '$text': $(cat "$work/err")"
	elif [ "$expected" -ne 0 ] && [ -s "$work/out" ]; then
		fail "$what: an answer: $(cat "$work/out")"
	elif [ -f "$work/report" ] &&
		[ "$(cat "$work/report")" != "$clean" ]; then
		fail "$what: left behind: $(cat "$work/report")"
	else
		pass
	fi
}
# nothing WHAT: nothing was published
nothing() {
	if [ -e "$work/no.json" ]; then
		fail "$backend: $1: published all the same"
		rm -f "$work/no.json"
	else
		pass
	fi
}
# change JQ: $work/changed, the published file changed
change() { jq -c "$1" "$work/first" >"$work/changed"; }
# refused WHAT EXIT TEXT FILE ARG...
refused() {
	what=$1 status=$2 says=$3 file=$4
	shift 4
	run "$what" "$status" "$says" --addresses="$file" \
		--publish="$work/no.json" "$@" "$plan"
	nothing "$what"
}

# Two ranks that read each other, some planes kept out, static storage.
jq '.ranks = 2 | .access.imports = [[1], [0]]' layouts/example.json |
	"$kvplan" plan -q -o "$work/plan" -
jq '.ranks = 2 | .access.imports = [[1], [0]] | .planes[1].name = "thin"' \
	layouts/example.json | "$kvplan" plan -q -o "$work/renamed" -
jq '.ranks = 2 | .access.imports = [[1], [0]] | .row_stride = "12 MiB"' \
	layouts/example.json | "$kvplan" plan -q -o "$work/strided" -

same_again() {
	realize --publish="$work/first" "$work/plan" &&
		realize --addresses="$work/first" --publish="$work/second" \
			"$work/plan" &&
		[ "$(placed "$work/first")" = "$(placed "$work/second")" ]
}

all_of_it() {
	backend=${gpus:+stand-in} backend=${backend:-host}
	plan=$work/plan
	rm -f "$work/first" "$work/second"
	# The kernel places libraries anew in every process.  One in a
	# thousand times they lie where the last one realized.
	if same_again || { [ ! "$gpus" ] && same_again; }; then
		pass
	else
		fail "$backend: another process, other addresses:" \
			"$(cat "$work/err")" \
			"$(diff "$work/first" "$work/second")"
		return
	fi
	# Addresses that no kernel or driver hands out by itself.
	jq -c '[.ranks[] | .planes[].address, .arena.address] as $all
		| .ranks |= map((.planes[] | .address) |= . - ($all | min)
			+ 35184372088832 | .arena.address |= . - ($all | min)
			+ 35184372088832)' "$work/first" >"$work/far"
	run 'far addresses' 0 '' --addresses="$work/far" \
		--publish="$work/second" --check "$plan"
	if [ "$(placed "$work/far")" = "$(placed "$work/second")" ]; then
		pass
	else
		fail "$backend: far addresses are not those published"
	fi
	# From here on what is far is the file that works.
	cp "$work/far" "$work/first"
	run 'the file that is published to' 0 '' --addresses="$work/second" \
		--publish="$work/second" "$plan"
	run 'the answer as JSON' 0 '' --addresses="$work/first" --json "$plan"
	cp "$work/out" "$work/report.json"
	run 'an answer with access records' 0 '' \
		--addresses="$work/report.json" --publish="$work/second" "$plan"
	if [ "$(placed "$work/first")" = \
		"$(placed "$work/second")" ]; then
		pass
	else
		fail "$backend: an answer with access records: other addresses"
	fi
	run 'one of the ranks' 0 '' --addresses="$work/first" --ranks=1 \
		--publish="$work/second" "$plan"
	if [ "$(jq -c '.ranks[1] | .planes, .arena' "$work/first")" = \
		"$(jq -c '.ranks[0] | .planes, .arena' "$work/second")" ]; then
		pass
	else
		fail "$backend: one of the ranks: other addresses"
	fi

	# Taken by another plane or arena of the same file.
	taken=': File exists'
	[ "$gpus" ] && taken='is not free, the driver offers'
	change '.ranks[1].planes[3].address = .ranks[0].arena.address'
	refused 'a taken address' 3 "$taken" "$work/changed"
	change '.ranks[1].planes[3].address = .ranks[0].arena.address'
	run 'it names rank and plane' 3 'rank 1, ' \
		--addresses="$work/changed" "$plan"
	change '.ranks[0].arena.address = .ranks[0].planes[0].address'
	refused 'a taken arena' 3 "$taken" "$work/changed"
	change '.ranks[1].arena.address = 1125899906842624'
	refused 'an address beyond all memory' 1 \
		'rank 1: the row arena is recorded at 1125899906842624' \
		"$work/changed"
	change '.ranks[1].planes[0].address += 4096'
	refused 'an odd address' 1 'no multiple of the granularity, 2097152' \
		"$work/changed"

	# Of another plan.
	change '.ranks |= .[:1]'
	refused 'a rank short' 1 'addresses of rank 1: there are none' \
		"$work/changed"
	change '.ranks[1].planes |= .[:5]'
	refused 'a plane short' 1 \
		'addresses of rank 1: there are 5 planes, the plan has 6' \
		"$work/changed"
	change '.ranks[1].planes[2].stride = 1'
	refused 'another stride' 1 \
		'addresses of rank 1: plane 2 is wide.2 with stride 1, the' \
		"$work/changed"
	change 'del(.ranks[0].arena)'
	refused 'no arena' 1 'there is no arena, the plan has one' \
		"$work/changed"
	plan=$work/renamed
	refused 'a plan with other names' 1 \
		"plane 3 is narrow.0 with stride 36864, the plan's is thin.0" \
		"$work/first"
	plan=$work/strided
	refused 'a plan with another stride' 1 \
		'the arena has stride 10485760' "$work/first"
	plan=$work/plan

	# Broken, or not to be read.
	refused 'no such file' 3 'no such: ' "$work/no such"
	echo '{' >"$work/changed"
	refused 'broken JSON' 2 "$work/changed:" "$work/changed"
	refused 'a plan' 2 '/format: is "kvplan/plan/1"' "$plan"
	change 'del(.ranks)'
	refused 'no ranks' 2 '/ranks: missing' "$work/changed"
	change '.ranks[1].rank = 0'
	refused 'a rank twice' 2 '/ranks/1/rank: is 0' "$work/changed"
	change '.ranks[0].planes[1].address = -1'
	refused 'a negative address' 2 '/ranks/0/planes/1/address: ' \
		"$work/changed"
	change '.ranks[0].planes[1].adress = 1'
	refused 'an unknown key' 2 '/ranks/0/planes/1/adress: ' "$work/changed"
	head -c 700 "$work/first" >"$work/changed"
	refused 'a file cut short' 2 "$work/changed:" "$work/changed"

	# Addresses of a geometry are those of one rank.
	jq '.ranks = 2 | .access.imports = [[1], [0]]
		| .arena_address = 52776558133248' layouts/example.json |
		"$kvplan" plan -q -o "$work/homed" -
	run 'one address for two ranks' 1 '2 ranks in one process need' \
		--publish="$work/no.json" "$work/homed"
	nothing 'one address for two ranks'
	run 'it is that of one rank' 0 '' --ranks=1 \
		--publish="$work/second" "$work/homed"
	run 'an address each' 0 '' --addresses="$work/first" \
		--publish="$work/third" "$work/homed"
	if [ "$(jq '.ranks[0].arena.address' "$work/second")" = \
		52776558133248 ] && [ "$(placed "$work/third")" = \
		"$(placed "$work/first")" ]; then
		pass
	else
		fail "$backend: the geometry's address, or the file's over it"
	fi
}

gpus=
all_of_it
run 'twice the standard input' 2 'are both standard input' --addresses=- -
if "$kvplan" realize --addresses=- "$work/plan" <"$work/first" \
	>"$work/out" 2>&1; then
	pass
else
	fail "the standard input: $(cat "$work/out")"
fi
if [ -f "$B/fake/libcuda.so.1" ]; then
	gpus=2
	all_of_it
	# A driver that heeds hints of new address space only: what is missed
	# is asked for again, larger.
	jq '.ranks |= map((.planes[], .arena).address += 17592186044416)' \
		"$work/first" >"$work/far"
	export FAKE_CUDA_HINTS_FROM=1073741824
	run 'small hints are not heeded' 0 '' --check --addresses="$work/far" \
		--publish="$work/second" "$work/plan"
	if [ "$(placed "$work/second")" = "$(placed "$work/far")" ]
	then
		pass
	else
		fail 'small hints: other addresses'
	fi
	export FAKE_CUDA_HINTS_FROM=2000000000000
	run 'no hints are heeded' 3 'is not free, the driver offers' \
		--addresses="$work/far" --publish="$work/no.json" "$work/plan"
	nothing 'no hints are heeded'
	unset FAKE_CUDA_HINTS_FROM
else
	echo 'SKIP addresses/stand-in: built without the CUDA headers'
	skipped=$((skipped + 1))
fi
close
