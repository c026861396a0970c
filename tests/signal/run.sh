#!/bin/sh
# Signals while files are written.  Run from the top directory; B is the
# build directory.
B=${B:-build}
. tests/shell.sh

if [ -r "$B/fake/libcuda.so.1" ]; then
	set -- cuda
else
	echo "SKIP signal/stand-in: no $B/fake/libcuda.so.1"
	skipped=$((skipped + 1))
	set --
fi
LD_LIBRARY_PATH=$B/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
	"$B/tests/signal/signal" "$@" >"$tmp/out" 2>"$tmp/err"
same "signals: exit" 0 $?
[ "$failed" -eq 0 ] || cat "$tmp/out" "$tmp/err"
counts=$(tail -n 1 "$tmp/out" | sed -n 's/^\([0-9]*\) passed, .*/\1/p')
passed=$((passed + ${counts:-0}))
close
