#!/bin/sh
# Wild values given to the CUDA backend, on the stand-in driver.  Run from the
# top directory; B is the build directory.
B=${B:-build}
. tests/shell.sh

if [ ! -r "$B/fake/libcuda.so.1" ]; then
	echo "SKIP fault/stand-in: no $B/fake/libcuda.so.1"
	skipped=1
	close
fi
LD_LIBRARY_PATH=$B/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
	FAKE_CUDA_DEVICES=4 "$B/tests/fault/wild_calls" cuda >"$tmp/out" 2>&1
same "wild calls on the stand-in: exit" 0 $?
grep -a FAIL "$tmp/out" | head -20
close
