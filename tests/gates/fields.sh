#!/bin/sh
# What tests have to cover is read off the public headers, so that nothing
# new escapes: every member of the geometry's structs stands in the table of
# fields, every one of the plan's in tests/unit/model/test_fingerprint.c, every
# function that takes a plan is called in tests/fault/wild_plans.c, and every
# function at all in tests/fault/wild_calls.c.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

ctags -x --c-kinds=m --_xformat='%{scope}, %N' include/kvplan/geometry.h \
	include/kvplan/plan.h include/kvplan/span.h | sort -u >"$dir/members"
{
	sed -n 's/^FIELD(\(kvp_[a-z_]*, [a-z_]*\),.*/\1/p' \
		tests/unit/model/test_fingerprint.c
	grep -o 'MEMBER(kvp_[a-z_]*, [a-z_]*)' src/model/geometry_fields.c |
		sed 's/MEMBER(\(.*\))/\1/'
} | sort -u >"$dir/tested"
[ -s "$dir/members" ] || { echo 'fields: ctags found no member' >&2; exit 1; }
diff "$dir/members" "$dir/tested" >&2 || {
	echo 'fields: members in the headers (<) and rows of' \
		'src/model/geometry_fields.c and' \
		'tests/unit/model/test_fingerprint.c (>) differ' >&2
	exit 1
}

# Prototypes, each on a line of its own, that have a plan among their
# parameters.  Reading and releasing make and unmake a plan.
cat include/kvplan/*.h | tr -d '\n' | tr ';' '\n' |
	grep 'const struct kvp_plan \*' | grep -o 'kvp_[a-z0-9_]*(' |
	tr -d '(' | sort -u >"$dir/functions"
[ -s "$dir/functions" ] || { echo 'fields: no function takes a plan' >&2; exit 1; }
while read -r function; do
	grep -q "\<$function(" tests/fault/wild_plans.c || {
		echo "fields: $function() takes a plan; call it in" \
			'tests/fault/wild_plans.c' >&2
		exit 1
	}
done <"$dir/functions"

# A prototype is a kvp_ name before "(" that is no typedef; comments apart.
cat include/kvplan/*.h | sed 's:/\*.*\*/::g' |
	sed '/\/\*/,/\*\//d; /^typedef/d; /^#/d' |
	grep -o 'kvp_[a-z0-9_]*(' | tr -d '(' | sort -u >"$dir/public"
grep -o 'kvp_[a-z0-9_]*(' tests/fault/wild_calls.c | tr -d '(' |
	sort -u >"$dir/called"
missing=$(comm -23 "$dir/public" "$dir/called" | xargs)
[ -s "$dir/public" ] && [ -z "$missing" ] || {
	echo "fields: call these in tests/fault/wild_calls.c: $missing" >&2
	exit 1
}
