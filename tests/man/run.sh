#!/bin/sh
# The manual against the programs and the sources.
bin=$(cd "${B:-build}" && pwd) || exit 1
top=$(pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
PATH=$bin:$PATH LC_ALL=C
export PATH LC_ALL
passed=0 failed=0 skipped=0

pass() { passed=$((passed + 1)); }
fail() {
	echo "FAIL man: $*"
	failed=$((failed + 1))
}
# same WHAT: the lines of $work/manual are those of $work/program, both of
# which must have some.
same() {
	if [ -s "$work/program" ] &&
		diff "$work/manual" "$work/program" >"$work/diff"; then
		pass
	else
		cat "$work/diff"
		fail "$1: the manual (<) and the program or source (>) differ"
	fi
}

# options PAGE [COMMAND]: those with an entry in the section of a command, or
# in the description ahead of all commands; one that takes an argument ends
# in "=", one that may take it in "[=".
options() {
	awk -v command="${2:-}" '
		/^\.Sh / { on = $2 == "DESCRIPTION" && command == "" }
		/^\.Ss / { on = command != "" && substr($0, 12) == command }
		on && /^\.It Fl / {
			n = split($0, word, " ")
			for (i = 3; i <= n; i++) {
				if (word[i - 1] != "Fl")
					continue
				argument = word[i + 1] == "Ar" ||
					word[i + 1] == "Ns" ? "=" : ""
				if (argument && word[i + 2] == "Op")
					argument = "[="
				print "-" word[i] argument
			}
		}' "$1" | sort
}
# In --help: "  -o, --output=FILE   text", "      --merge=MODE   text" and
# "      --gpus[=LIST]   text".
helped() {
	awk '/^[a-z ]*:$/ { on = /^options:/ }
		on && match($0, /^  (-.,|   ) --[a-z-]+(\[?=)?/) {
			line = substr($0, 1, RLENGTH)
			argument = ""
			if (match(line, /\[?=$/)) {
				argument = substr(line, RSTART)
				line = substr(line, 1, RSTART - 1)
			}
			n = split(line, word, /[ ,]+/)
			for (i = 1; i <= n; i++)
				if (word[i] != "")
					print word[i] argument
		}' | sort
}
# Flags that a synopsis names are options; only -h may be left out.
synopsis() {
	awk -v command="${2:-}" '
		/^\.Sh / { on = $2 == "SYNOPSIS" }
		/^\.Nm/ { now = "" }
		/^\.Cm / { now = substr($0, 5) }
		on && now == command && /^\.Op Fl / { print "-" $3 }' "$1" |
		sort
}
check_options() {
	page=$1 command=${2:-}
	options "man/$page.1" "$command" >"$work/manual"
	# shellcheck disable=SC2086
	"$page" $command --help | helped >"$work/program"
	same "options of $page $command"
	sed 's/\[*=$//' "$work/manual" | sort -u >"$work/known"
	synopsis "man/$page.1" "$command" >"$work/synopsis"
	if [ -s "$work/synopsis" ] &&
		[ -z "$(comm -13 "$work/known" "$work/synopsis")" ]; then
		pass
	else
		fail "synopsis of $page $command: $(cat "$work/synopsis")"
	fi
}
check_options kvplan
check_options kvplan plan
check_options kvplan verify
check_options kvplan realize
check_options kvplan probe
check_options kvplan headroom
check_options kvplan 'headroom simulate'
check_options kvplan size
check_options kvplan import
check_options kvcheck
if [ -x "$bin/kvplan-mpi" ]; then
	check_options kvplan-mpi
else
	echo "SKIP man/kvplan-mpi: not built, there is no mpicc"
	skipped=$((skipped + 1))
fi
kvplan --help |
	awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' |
	sort >"$work/program"
# Those of two words belong to the first.
sed -n 's/^\.Ss kvplan \([^ ]*\)$/\1/p' man/kvplan.1 | sort >"$work/manual"
same 'commands of kvplan'

# Every line "$ COMMAND" in a literal block, and the next where it ends in a
# backslash, runs, in order, in one directory per page, and prints the lines
# shown below it.
for page in man/*; do
	dir=$work/${page##*/}
	mkdir "$dir"
	ln -s "$top/layouts" "$dir/layouts"
	ln -s "$top/tests/import/configs/qwen3-next-80b-a3b.json" \
		"$dir/config.json"
	awk -v out="$dir/.command" '
		/^\.Bd -literal/ { on = 1; open = 0 }
		/^\.Ed/ { on = 0 }
		on && /^\$ / {
			n++
			open = 1
			$0 = substr($0, 3)
			more = 1
		}
		on && more {
			print >(out "." n)
			more = /\\e$/
			next
		}
		on && open && !/^\./ { print >(out "." n ".shown") }' "$page"
	n=1
	while [ -f "$dir/.command.$n" ]; do
		sed -i 's/\\e/\\/g; s/\\&//g' "$dir/.command.$n"
		(cd "$dir" && sh ".command.$n" </dev/null >.out 2>.err)
		code=$?
		missing=
		if [ -f "$dir/.command.$n.shown" ]; then
			missing=$(grep -Fxv -f "$dir/.out" \
				"$dir/.command.$n.shown")
		fi
		if [ "$code" -eq 0 ] && [ -z "$missing" ]; then
			pass
		else
			fail "$page: $(cat "$dir/.command.$n"): exit $code," \
				"$(cat "$dir/.err") $missing"
		fi
		n=$((n + 1))
	done
done
# A terminal of 80 columns shows every line whole.
backspace=$(printf '\b')
for page in man/*; do
	wide=$(mandoc -T ascii -O width=80 "$page" |
		sed "s/.$backspace//g" | awk 'length > 80')
	if [ -z "$wide" ]; then
		pass
	else
		fail "$page: longer than 80 columns: $wide"
	fi
done
# The example in kvplan-geometry(5) is layouts/example.json.
awk '/^\.Bd -literal/ { on = 1; next } /^\.Ed/ { on = 0 } on' \
	man/kvplan-geometry.5 | sed 's/\\e/\\/g' | sed -n '/^{$/,/^}$/p' \
	>"$work/manual"
cp layouts/example.json "$work/program"
same 'layouts/example.json in kvplan-geometry(5)'

# keys SOURCE...: the keys of its tables { "key", true or false }.
keys() {
	grep -oh '{ "[a-z_]*", \(true\|false\) }' "$@" | cut -d '"' -f 2 |
		sort -u
}
# entries PAGE MACRO SECTION...: what has an entry of its own there.
entries() {
	page=$1 macro=$2
	shift 2
	for section; do
		awk -v macro="$macro" -v section="$section" '
			/^\.Sh / { on = substr($0, 5) == section }
			on && $1 == ".It" && $2 == macro { print $3 }' "$page"
	done | sort -u
}
fields=src/model/geometry_fields.c
keys "$fields" >"$work/program"
entries man/kvplan-geometry.5 Cm KEYS >"$work/manual"
same 'keys of a geometry'
sed -n '/chunk_fields\[\]/,/^};/p' "$fields" >"$work/chunk_fields"
keys src/model/plan_json.c "$work/chunk_fields" >"$work/program"
entries man/kvplan-plan.5 Cm KEYS SUMMARY >"$work/manual"
same 'keys of a plan'
keys src/probe/limits_json.c >"$work/program"
entries man/kvplan-limits.5 Cm KEYS >"$work/manual"
same 'keys of a limits file'
kvplan verify --list-rules | awk '{ print $1 }' | sort >"$work/program"
for page in kvplan.1 kvplan-plan.5; do
	entries "man/$page" Li RULES >"$work/manual"
	same "rules in $page"
done

# The keys of the JSON report, from a report that has them all.
kvplan plan -q layouts/example.json |
	sed 's/"kv_tokens":[0-9]*/"kv_tokens":1/' >"$work/plan"
sed 's/"pages": 512/"pages": 513/' layouts/example.json >"$work/other"
{
	kvplan verify --format=json --geometry="$work/other" "$work/plan"
	kvplan size --free=1GiB --length=1000 --memory-limit=-0G \
		--memory-limit=0% --json layouts/example.json 2>/dev/null
	kvplan headroom simulate --free=1GiB --steps=1 --json
} | jq -r '[paths | .[-1] | strings] | unique[]' | sort -u >"$work/program"
awk '/^\.Sh / { on = /JSON OUTPUT/ } on' man/kvplan.1 |
	grep -o '"[a-z_]*":' | tr -d '":' | sort -u >"$work/manual"
same 'keys of the JSON reports'

. tests/man/limits.sh

# What a realization prints: its report and its trace; and a part of one.
kvplan plan -q -o "$work/plan" layouts/example.json
kvplan realize --json --trace="$work/trace" "$work/plan" |
	jq -r '[inputs | paths | .[-1] | strings] | unique[]' -n - \
		tests/parts/0.json | sort >"$work/program"
entries man/kvplan-capacity.5 Cm KEYS >"$work/manual"
same 'keys of a capacity file'
jq -r 'keys[]' "$work/trace" | sort -u >"$work/program"
awk '/^\.Sh / { on = /TRACE/ } on' man/kvplan.1 |
	grep -o '"[a-z_]*":' | tr -d '":' | sort -u >"$work/manual"
same 'keys of a trace'

# kvplan(3): every function, every code, and an example that works.
sed -n 's/^[[:space:]]*\(kvp_[a-z0-9_]*\);$/\1/p' src/libkvplan.map |
	sort >"$work/program"
sed -n 's/^\.It Fn \([a-z0-9_]*\).*/\1/p' man/kvplan.3 | sort >"$work/manual"
same 'functions of the library'
grep -o '^	KVP_[A-Z]* = ' include/kvplan/error.h | tr -d '\t =' |
	sort >"$work/program"
entries man/kvplan.3 Dv ERRORS >"$work/manual"
same 'codes of the library'
awk '/^\.Sh / { section = $2 } /^\.Ed/ { on = 0 } on
	/^\.Bd -literal/ { on = section == "EXAMPLES" }' man/kvplan.3 |
	sed 's/\\e/\\/g' >"$work/example.c"
# shellcheck disable=SC2086
if ${CC:-gcc} -std=c11 -Wall -Wextra -Werror \
	${SAN:+-fsanitize=$SAN -fno-sanitize-recover=all} -Iinclude \
	-o "$work/example" "$work/example.c" "$bin/libkvplan.a" -lcjson -ldl &&
	"$work/example" <"$work/plan" >"$work/out" && [ -s "$work/out" ]; then
	pass
else
	fail 'the example of kvplan.3 does not compile or run'
fi

for page in man/*; do
	if mandoc -Tlint -Wwarning "$page"; then
		pass
	else
		fail "$page: mandoc has something to say, or is not there"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
