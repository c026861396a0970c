#!/bin/sh
# Run test programs and scripts one after the other and add up their closing
# lines.  A test that ends without such a line, or with a bad exit code and
# no failure counted, counts as one failure.
passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for test in "$@"; do
	case $test in
	*.sh) set -- sh "$test" ;;
	*) set -- "$test" ;;
	esac
	printf '== %s\n' "$test"
	"$@" >"$log" 2>&1 </dev/null
	code=$?
	line=$(tail -n 1 "$log")
	counts=$(printf '%s\n' "$line" | sed -n \
	  's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
	if [ -z "$counts" ]; then
		cat "$log"
		echo "FAIL $test: no closing line, exit $code"
		failed=$((failed + 1))
		continue
	fi
	set -- $counts
	if [ "$code" -ne 0 ] && [ "$2" -eq 0 ]; then
		cat "$log"
		echo "FAIL $test: exit $code, but no failure counted"
		failed=$((failed + 1))
	elif [ "$2" -ne 0 ]; then
		cat "$log"
	else
		grep '^SKIP' "$log"
		echo "   $line"
	fi
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
