#!/bin/sh
# Documents and JSON stay what they are: the same input gives the same bytes as
# before the code was changed.  expected.sha256 has a line for every output;
# --update writes it anew, for a change that is meant.  Run from the top
# directory; B is the build directory.
B=${B:-build}
kvplan=$B/kvplan
here=tests/bytes
. tests/shell.sh

# sum NAME: the sum of standard input, and the name it goes by
sum()
{
	printf '%s  %s\n' "$(sha256sum | cut -d' ' -f1)" "$1"
}

# Plans in every mode, and what verify and kvcheck say of them.
plans()
{
	for layout in layouts/*.json layouts/imported/*.json; do
		for mode in none row span; do
			name="$layout $mode"
			"$kvplan" plan -q --merge=$mode -o "$tmp/plan.json" \
				"$layout" 2>/dev/null
			sum "plan $name" <"$tmp/plan.json"
			(cd "$tmp" && "$kvplan" verify --json plan.json) |
				sum "verify $name"
		done
		"$B/kvcheck" "$tmp/plan.json" | sum "kvcheck $name"
	done
	for plan in tests/rules/*.json; do
		"$kvplan" verify --json "$plan" | sum "verify $plan"
	done
}

sizes()
{
	for layout in layouts/*.json layouts/imported/*.json; do
		"$kvplan" size --json --free=40GiB --memory-limit=-2M \
			--memory-limit=90% --length=32768 "$layout" \
			2>/dev/null | sum "size $layout"
		"$kvplan" size --free=40GiB --memory-limit=-2M -o - "$layout" \
			2>/dev/null | sum "sized $layout"
	done
}

headrooms()
{
	for free in 0 100MiB 262MiB 844MiB 70GiB; do
		"$kvplan" headroom --json --free=$free | sum "headroom $free"
		"$kvplan" headroom simulate --json --free=$free --grow \
			--live-growth=64KiB | sum "simulate $free"
	done
}

# Limits are read and written by probe alone; a plan judged by them is JSON.
realized()
{
	jq '.ranks = 2 | .access.imports = [[1], [0]]' layouts/example.json |
		"$kvplan" plan -q -o "$tmp/plan.json" -
	"$kvplan" realize --ranks=0-1 --json --trace="$tmp/trace" \
		"$tmp/plan.json" 2>/dev/null >"$tmp/capacity"
	# Addresses and what is free are this machine's.
	sed 's/"\(address\|free_bytes\|cap_bytes\)":[0-9]*/"\1":0/g' \
		"$tmp/capacity" | sed 's/"\(version\|driver\)":"[^"]*"//g;
		s/"free_\(before\|after\)":\[[0-9,]*\]//g;
		s/"term":"[a-z]*"//g' | sum "realize --json"
	sed 's/"address":[0-9]*/"address":0/g' "$tmp/trace" |
		sum "realize --trace"
}

kvplan=$(cd "${kvplan%/*}" && pwd)/${kvplan##*/}
{
	plans
	sizes
	headrooms
	realized
} >"$tmp/sums"
if [ "${1:-}" = --update ]; then
	cp "$tmp/sums" "$here/expected.sha256"
	exit
fi
passed=$(grep -cxFf "$here/expected.sha256" "$tmp/sums")
diff "$here/expected.sha256" "$tmp/sums" >"$tmp/out" || {
	fail "bytes differ from $here/expected.sha256:" "$(cat "$tmp/out")"
	failed=$(grep -c '^[<>]' "$tmp/out")
}
close
