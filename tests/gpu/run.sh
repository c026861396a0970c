#!/bin/sh
# What the hardware says: one rank of the published layout and two other
# layouts realized and checked byte for byte, in every merge mode.  Needs a
# GPU and its driver; without them it is skipped by name.  Figures of real
# runs are kept in RESULTS.md.
# usage: KVP_GPU=1 run.sh   (from the top directory, B names the build
# directory); make gpu does that
B=${B:-build}
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

close() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

if [ -z "${KVP_GPU:-}" ]; then
	echo 'SKIP gpu/realize: takes tens of GiB of a GPU; run make gpu'
	echo 'SKIP gpu/check: takes tens of GiB of a GPU; run make gpu'
	skipped=2
	close
fi
if ! command -v nvidia-smi >/dev/null 2>&1 || ! nvidia-smi -L >"$work/gpus" 2>&1; then
	echo 'SKIP gpu/realize: no GPU here'
	echo 'SKIP gpu/check: no GPU here'
	skipped=2
	close
fi
cat "$work/gpus"
nvidia-smi --query-gpu=driver_version,memory.total,memory.free --format=csv,noheader

# judge NAME COMMAND...: run it, print its output and its time.
judge() {
	name=$1
	shift
	start=$(date +%s.%N)
	if "$@" >"$work/out" 2>&1; then
		passed=$((passed + 1)) verdict=ok
	else
		failed=$((failed + 1)) verdict=FAIL
	fi
	end=$(date +%s.%N)
	printf '%-4s %s: %.2f s\n' "$verdict" "$name" \
		"$(echo "$end $start" | awk '{ print $1 - $2 }')"
	sed 's/^/     /' "$work/out"
}

for layout in kimi-k3.1-pro-tp16-dcp16 minimax-m1-tp8 zamba2-7b-tp1; do
	for mode in none row span; do
		plan=$work/$layout.$mode
		"$B/kvplan" plan -q --merge=$mode -o "$plan" "layouts/$layout.json" 2>/dev/null
		judge "$layout $mode realize" "$B/kvplan" realize --gpus=0 --ranks=0 "$plan"
		judge "$layout $mode check=full" "$B/kvplan" realize --gpus=0 --ranks=0 \
			--check=full "$plan"
	done
done
close
