#!/bin/sh
# Run one test and keep what it prints.  usage: run.sh LOG COMMAND...
#
# A test closes with "N passed, N failed, N skipped".  One that ends without
# such a line, or with a bad exit status and no failure counted, has failed as
# well.  The log then closes with a line that counts that.
log=$1
shift
mkdir -p "${log%/*}"
"$@" >"$log.new" 2>&1 </dev/null
status=$?
line=$(tail -n 1 "$log.new")
counts='^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'
if ! printf '%s\n' "$line" | grep -qE "$counts"; then
	why="no closing line, exit status $status"
elif [ "$status" -ne 0 ] && [ "${line#* 0 failed,}" != "$line" ]; then
	why="exit status $status, but no failure counted"
else
	why=
fi
if [ "$why" ]; then
	line='0 passed, 1 failed, 0 skipped'
	printf 'FAIL %s\n%s\n' "$why" "$line" >>"$log.new"
fi
mv "$log.new" "$log"
name=${log#"$B/log/"}
printf '  TEST %-28s %s\n' "${name%.log}" "$line"
