#!/bin/sh
# README.md: its C example compiles without a warning and runs; its shell
# blocks marked <!-- test --> run.
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
		-o "$work/example" "$work/example.c" "$bin/libkvplan.a"
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
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
