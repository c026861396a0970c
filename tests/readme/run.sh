#!/bin/sh
# README.md: its C example compiles without a warning and runs; its shell
# blocks marked <!-- test --> run; the output on its first screen and the
# chunks of its picture are what kvplan prints and plans.
bin=$(cd "${B:-build}" && pwd) || exit 1
top=$(pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
PATH=$bin:$PATH
export PATH
ln -s "$top/layouts" "$work/layouts"
ln -s "$top/tests" "$work/tests"
passed=0 failed=0

# verdict STATUS WHAT: what went wrong is in $work/log.
verdict() {
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
	else
		cat "$work/log"
		echo "FAIL readme: $2"
		failed=$((failed + 1))
	fi
}

awk '/^```/ { on = $0 == "```c" && !n++; next } on' README.md \
	>"$work/example.c"
(
	[ -s "$work/example.c" ] || { echo 'no C example'; exit 1; }
	# shellcheck disable=SC2086
	${CC:-gcc} -std=c11 -Wall -Wextra -Werror \
		${SAN:+-fsanitize=$SAN -fno-sanitize-recover=all} -Iinclude \
		-o "$work/example" "$work/example.c" "$bin/libkvplan.a" -lcjson
) >"$work/log" 2>&1
verdict $? 'the C example does not compile'
(
	"$work/example" layouts/example.json >"$work/out" || exit
	[ -s "$work/out" ] || { echo 'it prints nothing'; exit 1; }
) >"$work/log" 2>&1
verdict $? 'the C example does not run'
(
	! "$work/example" "$work/nosuch" || { echo 'status 0'; exit 1; }
) >"$work/log" 2>&1
verdict $? 'the C example takes a file that is not there'

# Blocks run in their order in one directory.
blocks=$(awk -v to="$work/block." '
	/^<!-- test -->$/ { marked = 1; next }
	/^```/ {
		on = marked && $0 == "```sh"
		if (on)
			n++
		marked = 0
		next
	}
	on { print >(to n) }
	END { print n + 0 }' README.md)
n=1
while [ "$n" -le "$blocks" ]; do
	(cd "$work" && sh -e "block.$n") </dev/null >"$work/log" 2>&1
	verdict $? "shell block $n"
	n=$((n + 1))
done
[ "$blocks" -gt 0 ]
verdict $? 'no shell block is marked <!-- test -->'

# What follows the first command, up to an empty line, is its output.
sed -n '/^    \$ kvplan plan/,/^$/{/./s/^    //p;}' README.md >"$work/screen"
(
	cd "$work" || exit
	sed 1d screen >shown
	[ -s shown ] || { echo 'no output is shown'; exit 1; }
	sh -c "$(sed -n '1s/^\$ //p' screen)" 2>printed && diff shown printed
) >"$work/log" 2>&1
verdict $? 'the output on the first screen'

# A0 is the first tile of plane A; A0+A1 is one chunk.
cat >"$work/picture.json" <<'END'
{ "format": "kvplan/geometry/1", "name": "picture", "pages": 3,
  "page_tokens": 64, "execution_rows": 1, "snapshot_rows": 2,
  "row_bytes": "6 MiB", "ranks": 1, "dcp_group_size": 1, "planes": [
    { "name": "A", "bytes_per_page": "2 MiB" },
    { "name": "B", "bytes_per_page": "2 MiB" } ] }
END
# picture LINE MODE: that line has the aliased chunks of that mode's plan.
picture() {
	sed -n "s/^    $1 *| their own memory *|\(.*\)|[^|]*/\1/p" README.md |
		tr -d ' ' | tr '|' '\n' >"$work/shown"
	kvplan plan -q --merge="$2" "$work/picture.json" | jq -r '
		.chunks[] | ["A", "B"][.plane] as $plane
		| (.offset / 2097152) as $tile
		| [range($tile; $tile + .bytes / 2097152) | "\($plane)\(.)"]
		| join("+")' >"$work/planned" && diff "$work/shown" "$work/planned"
}
picture arena none >"$work/log" 2>&1
verdict $? 'the base layout of the picture'
picture planned row >"$work/log" 2>&1
verdict $? 'the plan of the picture'

words=$(wc -w <README.md)
[ "$words" -le 1500 ] 2>"$work/log"
verdict $? "$words words; 1,500 are the most"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
