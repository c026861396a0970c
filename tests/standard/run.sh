#!/bin/sh
# shellcheck disable=SC2069,SC2086,SC2094
# Standard input, output and error that are closed or full, for every command
# there is.  Run from the top directory; B is the build directory.
B=${B:-build}
. tests/shell.sh

fake=
[ -r "$B/fake/libcuda.so.1" ] && fake=yes
LD_LIBRARY_PATH=$B/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
FAKE_CUDA_DEVICES=2
export LD_LIBRARY_PATH FAKE_CUDA_DEVICES
plan=$tmp/plan.json
"$B/kvplan" plan -q -o "$plan" layouts/example.json
config=tests/import/configs/qwen3-next-80b-a3b.json

# One line for every way a command has to answer on standard output.  A new
# command needs a line here, and a new option that answers one as well.
cat >"$tmp/answers" <<END
kvplan --help
kvplan -h
kvplan --version
kvplan help
kvplan import --list-families
kvplan import -q --tp=4 --state-dtype=bf16 $config
kvplan import -q --tp=4 --state-dtype=bf16 -o - $config
kvplan size --free=1GiB layouts/example.json
kvplan size --free=1GiB --json layouts/example.json
kvplan size --free=1GiB -o - layouts/example.json
kvplan size --free=1GiB -o $tmp/sized layouts/example.json
kvplan plan -q layouts/example.json
kvplan plan -q -o - layouts/example.json
kvplan verify $plan
kvplan verify --json $plan
kvplan verify --json $plan $tmp/nosuch
kvplan verify --list-rules
kvplan realize $plan
kvplan realize --check --json $plan
kvplan realize --publish=$tmp/capacity $plan
kvplan join tests/parts/all.json
kvplan join --access -o - tests/parts/all.json
kvplan headroom --free=262MiB
kvplan headroom --free=262MiB --json
kvplan headroom simulate --free=262MiB --steps=10
kvplan headroom simulate --free=262MiB --steps=10 --json
kvcheck $plan
kvcheck --help
kvcheck --version
END
if [ "$fake" ]; then
	cat >>"$tmp/answers" <<-END
	kvplan probe --gpus
	kvplan probe --gpus --json
	kvplan probe --gpus -o -
	kvplan probe --gpus -o $tmp/limits
	kvplan realize --gpus=0,1 --ranks=0-1 $plan
	END
else
	echo "SKIP standard/stand-in: no $B/fake/libcuda.so.1"
	skipped=$((skipped + 1))
fi
"$B/kvplan" --help | sed -n '/^commands:/,/^options:/s/^  \([a-z]*\) .*/\1/p' \
	>"$tmp/commands"
for command in $(cat "$tmp/commands"); do
	[ "$command" = help ] ||
		echo "kvplan $command --help
kvplan help $command"
done >>"$tmp/answers"
echo 'kvplan headroom simulate --help
kvplan help headroom simulate' >>"$tmp/answers"
same "commands that are seen" yes \
	"$([ "$(wc -l <"$tmp/commands")" -ge 8 ] && echo yes)"
for command in $(cat "$tmp/commands"); do
	case $command.$fake in help.*|probe.) continue ;; esac
	grep "^kvplan $command" "$tmp/answers" | grep -qv -e --help &&
		pass || fail "kvplan $command has no line in tests/standard"
done

# --- a standard output that takes nothing ---

# unwritten WHAT EXIT: status 3 and one message
unwritten()
{
	same "$1: exit" 3 "$2"
	same "$1: says so" 1 \
		"$(grep -c -e '<stdout>: cannot write' \
			-e 'standard output cannot be written' "$tmp/err")"
}

while read -r line; do
	"$B"/$line >&- 2>"$tmp/err"
	unwritten "$line, closed" $?
	"$B"/$line >/dev/full 2>"$tmp/err"
	unwritten "$line, full" $?
	"$B"/$line <&- >&- 2>&-
	same "$line, all closed: exit" 3 $?
	"$B"/$line >&- 2>&-
	same "$line, output and error closed: exit" 3 $?
done <"$tmp/answers"

# --- a standard error that takes nothing changes nothing else ---

while read -r line; do
	case $line in *probe*|*realize*) continue ;; esac	# times, addresses
	"$B"/$line >"$tmp/expected" 2>/dev/null
	expected=$?
	for how in '2>&-' '2>/dev/full' '<&- 2>&-'; do
		eval "\"\$B\"/\$line >\"\$tmp/out\" $how"
		same "$line $how: exit" $expected $?
		same "$line $how: output" '' \
			"$(cmp "$tmp/expected" "$tmp/out" 2>&1)"
	done
done <"$tmp/answers"

# --- no file and no memory gets the numbers ---

# A file is all that is written to it, whatever is told meanwhile.
"$B/kvplan" plan layouts/example.json >"$tmp/expected" 2>/dev/null
"$B/kvplan" plan -o "$tmp/new" layouts/example.json <&- >&- 2>&-
same "plan -o, all closed: exit" 0 $?
same "plan -o, all closed" '' "$(cmp "$tmp/expected" "$tmp/new" 2>&1)"

# Rank 0's memory would get descriptor 1, its findings and the trace 2: every
# byte is checked.
jq '.geometry.static_entries = 600000 | .summary.entries.per_node[0] += 600000' \
	"$plan" >"$tmp/over.json"
for how in '>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
	for option in '' --gpus=0,1; do
		[ "$fake" ] || [ -z "$option" ] || continue
		rm -f "$tmp/trace" "$tmp/capacity"
		eval "\"\$B/kvplan\" realize $option --ranks=0-1 --check=full \
			--warn=entry-limit --trace=\"\$tmp/trace\" \
			--publish=\"\$tmp/capacity\" \"\$tmp/over.json\" \
			$how" 2>/dev/null
		same "realize $option $how: exit" 3 $?
		same "realize $option $how: every byte is right" '"full"' \
			"$(jq -c .checked "$tmp/capacity" 2>&1)"
		same "realize $option $how: the trace is whole" 2 \
			"$(jq -r 'select(.event == "state") | .state' \
				"$tmp/trace" 2>&1 | grep -c CHECKED)"
	done
done
# As /dev/stdout leads to it; that itself may not be at risk here.
ln -s /proc/self/fd/1 "$tmp/stdout"
ln -s /proc/self/fd/2 "$tmp/stderr"
for option in --publish --trace; do
	"$B/kvplan" realize $option="$tmp/stdout" "$plan" >&- 2>"$tmp/err"
	same "realize $option to a closed output: exit" 3 $?
	"$B/kvplan" realize $option="$tmp/stderr" "$plan" >"$tmp/out" 2>&-
	same "realize $option to a closed error: exit" 3 $?
done
"$B/kvplan" plan -o "$tmp/stdout" layouts/example.json >&- 2>"$tmp/err"
same "plan -o to a closed output: exit" 3 $?
same "links to closed descriptors stay links" yes \
	"$([ -L "$tmp/stdout" ] && [ -L "$tmp/stderr" ] && echo yes)"

# --- a standard input that is closed is no file ---

while read -r line; do
	for how in '<&-' '<&- >&-' '<&- >&- 2>&-'; do
		eval "\"\$B\"/\$line $how" >"$tmp/out" 2>"$tmp/err"
		same "$line $how: exit" 3 $?
	done
	"$B"/$line <&- >"$tmp/out" 2>"$tmp/err"
	says "$line, closed" '<stdin>: cannot read: Bad file descriptor'
	"$B"/$(echo "$line" | sed 's: -$: /dev/stdin:') <&- >"$tmp/out" \
		2>"$tmp/err"
	same "$line, as /dev/stdin: exit" 3 $?
done <<END
kvplan import --tp=4 --state-dtype=bf16 -
kvplan size --free=1GiB -
kvplan plan -
kvplan verify -
kvplan verify --geometry=- $plan
kvplan plan --limits=- layouts/example.json
kvplan realize -
kvplan realize --addresses=- $plan
kvplan join -
kvcheck -
END
close
