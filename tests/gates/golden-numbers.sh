#!/bin/sh
# What a rewording must keep.  Compares the goldens (.out, .err, .exit below
# tests/) that differ between two revisions: in each of them the numbers, the
# --options, the names in quotes, the key_names and the /pointers have to be
# the same, counted, in any order.  A golden that is gone fails; a new one
# passes.  usage: golden-numbers.sh OLD [NEW]; without NEW the working tree.
set -eu
[ $# -eq 1 ] || [ $# -eq 2 ] || {
	echo 'usage: golden-numbers.sh OLD [NEW]' >&2
	exit 2
}
old=$(git rev-parse --verify "$1^{commit}")
new=${2:+$(git rev-parse --verify "$2^{commit}")}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# What stands in a golden, one a line, sorted.
facts()
{
	{
		grep -oE '[0-9]+(\.[0-9]+)*' "$1" || :
		grep -oE -e '--[a-z][a-z-]*' "$1" || :
		grep -oE '"[^"]*"' "$1" || :
		grep -oE '[A-Za-z0-9]*_[A-Za-z0-9_]+' "$1" || :
		grep -oE '(^|[ :=])(/[a-z0-9_.-]+)+' "$1" | tr -d ' :=' || :
	} | LC_ALL=C sort
}

# content REVISION FILE: to standard output
content()
{
	if [ "$1" ]; then
		git show "$1:$2"
	else
		cat "$2"
	fi
}

git diff --name-status -M "$old" ${new:+"$new"} -- tests |
	grep -E '\.(out|err|exit)$' >"$tmp/changed" || :
tab=$(printf '\t')
bad=0 same=0
while IFS=$tab read -r status from to; do
	case $status in
	A)
		continue ;;
	D)
		echo "golden-numbers: $from: is gone"
		bad=$((bad + 1))
		continue ;;
	esac
	content "$old" "$from" >"$tmp/from"
	content "$new" "${to:-$from}" >"$tmp/to"
	facts "$tmp/from" >"$tmp/a"
	facts "$tmp/to" >"$tmp/b"
	if diff "$tmp/a" "$tmp/b" >"$tmp/diff"; then
		same=$((same + 1))
	else
		echo "golden-numbers: ${to:-$from}: lost <, new >"
		grep '^[<>]' "$tmp/diff" | LC_ALL=C sort | uniq -c
		bad=$((bad + 1))
	fi
done <"$tmp/changed"
echo "golden-numbers: $same changed goldens with the same numbers and names," \
	"$bad with others"
[ "$bad" -eq 0 ]
