#!/bin/sh
# shellcheck disable=SC2086,SC2094
# An output may not be another file of the same run, however it is spelled.
# Run from the top directory; B is the build directory.
B=$(cd "${B:-build}" && pwd)
. tests/shell.sh
layout=$PWD/layouts/example.json
config=$PWD/tests/import/configs/qwen3-next-80b-a3b.json
part=$PWD/tests/parts/all.json
limits=$tmp/limits.in

# Options that name a file.  A new one goes here and, where it can clash, into
# the pairs below.
cat >"$tmp/known" <<END
import --output
join --output
plan --limits
plan --output
probe --output
realize --addresses
realize --limits
realize --publish
realize --trace
size --output
verify --geometry
verify --limits
END
for command in $("$B/kvplan" --help |
	sed -n '/^commands:/,/^options:/s/^  \([a-z]*\) .*/\1/p'); do
	[ "$command" = help ] || "$B/kvplan" "$command" --help |
		sed -n "s/^ .* \(--[a-z-]*\)=FILE .*/$command \1/p"
done | sort >"$tmp/options"
same "options that name a file" '' "$(diff "$tmp/known" "$tmp/options")"

# --- the files of a run, in a directory of their own ---

cat >"$limits" <<'END'
{"format":"kvplan/limits/1","driver":"none","devices":[{"label":"GPU 0",
"name":"n","uuid":"u","granularity":2097152,"recommended_granularity":2097152,
"total_bytes":1,"free_bytes":1}],"peers":[[true]],"abilities":{
"offset_map":{"works":false,"answer":"A"},
"partial_map":{"works":false,"answer":"A"},
"part_grant":{"works":false,"answer":"A"},
"half_unmap":{"works":false,"answer":"A"},
"alias_coherent":{"works":true,"answer":"A"},"read_only_peers":null,
"hint_honoured":{"works":true,"answer":"A"},
"hint_moves":{"works":true,"answer":"A"}},"cost_ns":{"create":1,"map":1,
"grant":1,"grant_two":null,"unmap":1,"unmap_two":null,"release":1},
"entries":null}
END
"$B/kvplan" plan -q -o "$tmp/plan.in" "$layout"
"$B/kvplan" realize --ranks=0 --publish="$tmp/addresses.in" "$tmp/plan.in" \
	>"$tmp/out" 2>&1

# A fresh directory: `here` is where a run works, `here/x` the file at stake.
fresh()
{
	rm -rf "$tmp/here" "$tmp/link"
	mkdir -p "$tmp/here/sub"
	ln -s here "$tmp/link"
}

# Spellings of x, seen from the directory, when x is there or is to come.
spell()
{
	ln -s x "$tmp/here/soft"
	ln -s soft "$tmp/here/softer"
	ln -s "$tmp/here/x" "$tmp/here/far"
	ln -s ../link/x "$tmp/here/round"
	[ ! -e "$tmp/here/x" ] || ln "$tmp/here/x" "$tmp/here/hard"
	echo "x ./x .//x sub/../x $tmp/here/x $tmp/link/x ../link/./x soft \
		softer far round"
	[ ! -e "$tmp/here/x" ] || echo hard
}

# refused WHAT SAYS ARG...: status 2, the message, and nothing has changed
refused()
{
	what=$1 clash=$2
	shift 2
	(cd "$tmp/here" && ls -A && cat x 2>/dev/null) >"$tmp/before"
	(cd "$tmp/here" && "$B/kvplan" "$@") >"$tmp/out" 2>"$tmp/err"
	same "$what: exit" 2 $?
	says "$what" "$clash too; give it a file of its own"
	(cd "$tmp/here" && ls -A && cat x 2>/dev/null) >"$tmp/after"
	same "$what: files" '' "$(cmp "$tmp/before" "$tmp/after" 2>&1)"
	same "$what: standard output" '' "$(cat "$tmp/out")"
}

# --- an output that is an input ---

# over INPUT WORDS COMMAND OUTPUT-OPTION ARG...: @ is the input
over()
{
	input=$1 object=$2 command=$3 option=$4
	shift 4
	fresh
	cp "$input" "$tmp/here/x"
	for name in $(spell); do
		for other in x $name; do
			[ $other = x ] && out=$name || out=x
			refused "$command $option$out over $other" "$object" \
				$command $option$out \
				$(echo "$*" | sed "s:@:$other:")
		done
	done
}

over "$layout" "is the geometry" plan "-o " @
over "$layout" "is the geometry" plan --output= @
over "$limits" "is the file of --limits" plan "-o " --limits=@ "$layout"
over "$layout" "is the geometry" size "-o " --free=1GiB @
over "$config" "is the config" import "-o " --tp=4 @
over "$part" "is a part" join "-o " @
over "$part" "is a part" join --output= "$part" @
for option in --trace= --publish=; do
	over "$tmp/plan.in" "is the plan" realize $option @
	over "$limits" "is the file of --limits" realize $option \
		--limits=@ "$tmp/plan.in"
done
over "$tmp/addresses.in" "is the file of --addresses" realize --trace= \
	--addresses=@ --ranks=0 "$tmp/plan.in"

# The input is on the standard input.
fresh
cp "$layout" "$tmp/here/x"
(cd "$tmp/here" && "$B/kvplan" plan -o x - <x) >"$tmp/out" 2>"$tmp/err"
same "the standard input: exit" 2 $?
says "the standard input" "-o x: is the geometry too"
same "the standard input stands" '' "$(cmp "$layout" "$tmp/here/x")"

# --- two outputs, there already or to come ---

for there in yes ''; do
	fresh
	[ -z "$there" ] || echo old >"$tmp/here/x"
	for name in $(spell); do
		for order in "--trace=x --publish=$name" \
			"--trace=$name --publish=x"; do
			refused "realize $order ${there:+there}" \
				"is the file of --publish" realize $order \
				"$tmp/plan.in"
		done
	done
done
# Two links to one name that is not there.
refused "realize, two links" "is the file of --publish" realize \
	--trace=far --publish=round "$tmp/plan.in"

# --- what is allowed ---

# allowed WHAT ARG...
allowed()
{
	what=$1
	shift
	(cd "$tmp/here" && "$B/kvplan" "$@") >"$tmp/out" 2>"$tmp/err"
	code=$?
	[ $code -eq 0 ] && pass || fail "$what: exit $code: $(cat "$tmp/err")"
}

# printed WHAT REDIRECTION ARG...: an output that is printed to as well
printed()
{
	what=$1 to=$2
	shift 2
	fresh
	(cd "$tmp/here" && eval '"$B/kvplan" "$@"' "$to") >"$tmp/out" \
		2>"$tmp/err" </dev/null
	same "printed to: $what, $to" 2 $?
}

for to in '>x' '>>./x' '2>x'; do
	printed "realize --trace" "$to" realize --ranks=0 --trace=x "$tmp/plan.in"
	printed "realize --publish" "$to" realize --ranks=0 --publish=sub/../x \
		"$tmp/plan.in"
	printed "size -o" "$to" size --free=70GiB --json -o x "$layout"
	printed "probe -o" "$to" probe --gpus -o x
done
for number in 1 2; do
	printed "the descriptor" "$number>x" realize --ranks=0 \
		--trace=/proc/self/fd/$number "$tmp/plan.in"
done
printed "plan -o" '2>x' plan -o x "$layout"
printed "import -o" '2>x' import --state-dtype=bf16 -o x "$config"
# Nothing else is printed there.
fresh
(cd "$tmp/here" && "$B/kvplan" plan -q -o /dev/stdout "$layout" >x) &&
	cmp "$tmp/here/x" "$tmp/plan.in" && pass || fail "plan -o /dev/stdout"

fresh
cp "$tmp/addresses.in" "$tmp/here/x"
allowed "publishing over the addresses" realize --ranks=0 --addresses=x \
	--publish=./x "$tmp/plan.in"
allowed "/dev/null twice" realize --ranks=0 --trace=/dev/null \
	--publish=/dev/null "$tmp/plan.in"
allowed "the same name elsewhere" realize --ranks=0 --trace=y \
	--publish=sub/y "$tmp/plan.in"
cp "$tmp/plan.in" "$tmp/here/plan"
allowed "a file beside the input" realize --ranks=0 --trace=plan.trace plan
allowed "a new file" plan -q -o new "$layout"
allowed "an old file" plan -q -o new "$layout"
# A pipe twice: its reader gets the trace and the capacities.
(cd "$tmp/here" && "$B/kvplan" realize --ranks=0 --trace=/dev/stdout \
	--publish=/dev/stdout "$tmp/plan.in" 2>"$tmp/err") | cat >"$tmp/out"
same "a pipe twice" '' "$(grep -v ': note: ' "$tmp/err")"
says "a pipe twice" '"state":"PUBLISHED"' kvplan/capacity/1 'REALIZED 1 of 4'
(cd "$tmp/here" && "$B/kvplan" plan -q -o /dev/stdout - <"$layout") |
	cmp - "$tmp/plan.in" && pass || fail "from a file to a pipe"
close
