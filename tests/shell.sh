# What test scripts share: counting and saying what failed.  Sourced from the
# top directory; sets up $tmp, the counters and a clean environment.
tmp=$(mktemp -d) || exit 1
trap '[ "$asked" -eq 0 ] || echo "FAIL: close was not called, which asks"
	rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
passed=0 failed=0 skipped=0 asked=0
unset FAKE_CUDA_DEVICES FAKE_CUDA_MEMORY FAKE_CUDA_ENTRIES FAKE_CUDA_NO_PEER \
	FAKE_CUDA_ENTRIES_USED FAKE_CUDA_FAIL FAKE_CUDA_REPORT \
	FAKE_CUDA_HINTS_FROM FAKE_CUDA_NO_POOLS FAKE_CUDA_KEEP FAKE_CUDA_TAKE \
	FAKE_CUDA_NODE CUDA_VISIBLE_DEVICES \
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

# changed FILE [FILTER]: the document as jq changes it
changed()
{
	if [ "${2:-}" ]; then
		jq "$2" "$1"
	else
		cat "$1"
	fi
}

# query WHAT EXPECTED FILE FILTER: what jq -c FILTER prints of the file as it
# is now.  jq takes longer to start than to answer, so one asks everything when
# the script closes; where an answer is not as expected, each is asked alone.
asked=0
query()
{
	asked=$((asked + 1))
	cp "$3" "$tmp/asked.$asked" 2>/dev/null || : >"$tmp/asked.$asked"
	eval "query_$asked=\$1"
	printf '"query %s"\n%s\n' "$asked" "$2" >>"$tmp/expected"
	printf '%s\n' "$2" >"$tmp/expected.$asked"
	printf ', "query %s", (input |\n%s\n)' "$asked" "$4" >>"$tmp/queries"
	printf '%s\n' "$4" >"$tmp/query.$asked"
}

ask_queries()
{
	[ "$asked" -gt 0 ] || return
	set --
	while [ $# -lt "$asked" ]; do
		set -- "$@" "$tmp/asked.$(($# + 1))"
	done
	if (echo empty && cat "$tmp/queries") >"$tmp/program" &&
		jq -nc -f "$tmp/program" "$@" 2>&1 | cmp -s - "$tmp/expected"
	then
		passed=$((passed + asked)) asked=0
		return
	fi
	asked=0
	for file in "$@"; do
		n=${file##*.}
		eval "what=\$query_$n"
		# shellcheck disable=SC2154  # set by eval
		same "$what" "$(cat "$tmp/expected.$n")" \
			"$(jq -c -f "$tmp/query.$n" "$file" 2>&1)"
	done
}

# The closing line and the exit status that goes with it.
close()
{
	ask_queries
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}
