#!/bin/sh
# Close a run of tests: what failed, whole and one test after the other, what
# was skipped, and the sums.  usage: sum.sh LOG...
passed=0 failed=0 skipped=0 broken=
for log in "$@"; do
	# shellcheck disable=SC2046
	set -- $(tail -n 1 "$log" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $5))
	[ "$3" -eq 0 ] || broken="$broken $log"
	grep '^SKIP' "$log"
done
for log in $broken; do
	printf '\n== failed: %s\n' "$log"
	cat "$log"
done
[ -z "$broken" ] || echo
printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
for log in $broken; do
	echo "failed: $log"
done
[ "$failed" -eq 0 ]
