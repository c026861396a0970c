#!/bin/sh
# What libkvplan.so exports, its symbol map and the public headers must name
# the same functions.  usage: symbols.sh LIBRARY MAP
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' |
	sort >"$dir/exported"
sed -n 's/^[[:space:]]*\(kvp_[a-z0-9_]*\);$/\1/p' "$2" | sort >"$dir/mapped"
# A prototype is a kvp_ name before "(" that is no typedef.
cat include/kvplan/*.h | sed 's:/\*.*\*/::g' |
	sed '/^\/\*/,/\*\//d; /^ \*/d; /^typedef/d; /^#/d' |
	grep -o 'kvp_[a-z0-9_]*(' | tr -d '(' | sort -u >"$dir/declared"
diff "$dir/declared" "$dir/mapped" >&2 ||
	{ echo 'symbols: headers (<) and map (>) differ' >&2; exit 1; }
diff "$dir/mapped" "$dir/exported" >&2 ||
	{ echo 'symbols: map (<) and library (>) differ' >&2; exit 1; }
