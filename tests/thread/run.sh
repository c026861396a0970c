#!/bin/sh
# Eight threads over every public function.  Run from the top directory; B is
# the build directory, MAP the library's symbols.
B=${B:-build}
. tests/shell.sh

# What the program calls, and what there is to call.
nm -u "$B/tests/thread/thread.o" | sed -n 's/^ *U \(kvp_[a-z0-9_]*\)$/\1/p' |
	sort >"$tmp/called"
sed -n 's/^[[:space:]]*\(kvp_[a-z0-9_]*\);$/\1/p' src/libkvplan.map |
	sort >"$tmp/public"
same "public functions that no thread calls" '' \
	"$(comm -13 "$tmp/called" "$tmp/public" | xargs)"

if [ -r "$B/fake/libcuda.so.1" ]; then
	set -- cuda
else
	echo "SKIP thread/stand-in: no $B/fake/libcuda.so.1"
	skipped=$((skipped + 1))
	set --
fi
# A thread sanitizer wants its addresses where kernels of today do not put them.
plain=
case $B in
*thread*) setarch -R true 2>/dev/null && plain='setarch -R' ;;
esac
LD_LIBRARY_PATH=$B/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
	FAKE_CUDA_DEVICES=4 FAKE_CUDA_REPORT=$tmp/report \
	TSAN_OPTIONS="halt_on_error=0 exitcode=66 ${TSAN_OPTIONS:-}" \
	$plain "$B/tests/thread/thread" "$@" >"$tmp/out" 2>"$tmp/err"
code=$?
same "the threads: exit" 0 $code
[ $code -eq 0 ] || cat "$tmp/out" "$tmp/err"
counts=$(tail -n 1 "$tmp/out" | sed -n 's/^\([0-9]*\) passed, .*/\1/p')
passed=$((passed + ${counts:-0}))
# Probing makes calls that the driver refuses, and the stand-in notes them.
[ $# -eq 0 ] || same "what the stand-in has alive" \
	'{"reservations":0,"handles":0,"mappings":0,"entries":0,"contexts":0,"streams":0,"host":0,' \
	"$(sed 's/"errors":.*//' "$tmp/report" 2>&1)"
close
