#!/bin/sh
# JSON is written by base/json_out.c alone: no string literal of another file
# has a member's name in it, or puts a bracket into a text.
# usage: json.sh [DIRECTORY]: the sources, src by default
set -eu
src=${1:-src}
files=$(grep -rlE --include='*.[ch]' \
	-e '\\" *:' -e '[{[](\\n)? *\\"' -e ',(\\n)? *\\"[a-z_%]*\\"' \
	-e '(strbuf_|fput|fprint)[a-z]*\(.*"(\\n|[ ,:])*[][{}](\\n|[][{} ,:])*"' \
	"$src" | grep -v "^$src/base/" | sort) || true
n=$(printf '%s' "$files" | grep -c .) || true
echo "json       $n files write punctuation of JSON by hand"
[ "$n" -eq 0 ] || {
	printf '%s\n' "$files" >&2
	echo 'json: the files above write JSON by hand; see src/base/json_out.h' >&2
	exit 1
}
