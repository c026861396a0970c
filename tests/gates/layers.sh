#!/bin/sh
# No room includes what it may not.  Read off the compiler's .d files.
# usage: layers.sh BUILD [ROOM REGEX]...: what the headers that objects of
# BUILD/src/ROOM have read may be, below include/ and src/
set -eu
build=$1 bad=0
shift
while [ $# -gt 1 ]; do
	seen=0
	for file in "$build/src/$1"/*.d; do
		# Of a source that has moved.
		[ -e "src/$1/$(basename "$file" .d).c" ] || continue
		seen=1
		for header in $(tr -s ' \\' '\n\n' <"$file" |
			sed -n 's/:$//; s,^\(src\|include\)/\(.*\.\(h\|def\)\)$,\2,p' |
			sort -u | grep -vxE -e "$2"); do
			echo "layers: src/$1/$(basename "$file" .d).c" \
				"includes $header, which $1 may not" >&2
			bad=1
		done
	done
	[ $seen = 1 ] || {
		echo "layers: nothing is seen of $1 in $build" >&2
		bad=1
	}
	shift 2
done
exit $bad
