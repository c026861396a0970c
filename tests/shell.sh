# What test scripts share: counting and saying what failed.  Sourced from the
# top directory; sets up $tmp, the counters and a clean environment.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
passed=0 failed=0 skipped=0
unset FAKE_CUDA_DEVICES FAKE_CUDA_MEMORY FAKE_CUDA_ENTRIES FAKE_CUDA_NO_PEER \
	FAKE_CUDA_ENTRIES_USED FAKE_CUDA_FAIL FAKE_CUDA_REPORT \
	FAKE_CUDA_HINTS_FROM FAKE_CUDA_NO_POOLS FAKE_CUDA_KEEP FAKE_CUDA_TAKE \
	KVPLAN_ALLOC_CACHE_MAX_MB
LC_ALL=C
export LC_ALL

pass()
{
	passed=$((passed + 1))
}

# fail WHAT: WHY
fail()
{
	echo "FAIL $*"
	failed=$((failed + 1))
}

# same WHAT EXPECTED SEEN
same()
{
	if [ "$2" = "$3" ]; then
		pass
	else
		fail "$1: expected '$2', seen '$3'"
	fi
}

# says WHAT TEXT...: all of the texts are in what the last run said
says()
{
	about=$1
	shift
	for words in "$@"; do
		if grep -qF -e "$words" "$tmp/err" "$tmp/out"; then
			pass
		else
			fail "$about: does not say '$words': $(cat "$tmp/err")"
		fi
	done
}

# The closing line and the exit status that goes with it.
close()
{
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}
