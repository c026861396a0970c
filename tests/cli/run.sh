#!/bin/sh
# Golden tests of kvplan and kvcheck.  usage: run.sh [--update] [CASE]...
#
# A case is a script CASE.sh with the stdout, stderr and exit status it must
# have in CASE.out, CASE.err and CASE.exit; --update writes those.  It runs at
# the top of the tree with kvplan and kvcheck on PATH, the functions of
# functions.in, and an empty directory $TMP, which reads TMP in what is
# expected.  A case that ends with status 77 is skipped; its stdout says why.
here=tests/cli
bin=$(cd "${B:-build}" && pwd) || exit 1
for program in kvplan kvcheck; do
	[ -x "$bin/$program" ] || { echo "no $bin/$program" >&2; exit 1; }
done
work=$(mktemp -d) || exit 1
work=$(cd "$work" && pwd -P)
trap 'rm -rf "$work"' EXIT
PATH=$bin:$PATH
SAN=${SAN:-} LC_ALL=C
export PATH SAN LC_ALL
unset POSIXLY_CORRECT KVPLAN_ALLOC_CACHE_MAX_MB

update=no
if [ "${1:-}" = --update ]; then
	update=yes
	shift
fi
if [ $# -eq 0 ]; then
	for script in "$here"/*.sh; do
		name=${script##*/}
		[ "$name" = run.sh ] || set -- "$@" "${name%.sh}"
	done
fi

passed=0 failed=0 skipped=0
for name in "$@"; do
	TMP=$work/$name
	export TMP
	mkdir "$TMP" || exit 1
	# shellcheck disable=SC2016
	sh -uc '. tests/cli/functions.in; . "$1"' "$name" "$here/$name.sh" \
		>"$work/out" 2>"$work/err" </dev/null
	code=$?
	chmod -R u+rwx "$TMP"
	rm -rf "$TMP"
	if [ "$code" -eq 77 ]; then
		echo "SKIP cli/$name: $(cat "$work/out")"
		skipped=$((skipped + 1))
		continue
	fi
	sed "s:$TMP:TMP:g" "$work/out" >"$work/got.out"
	sed "s:$TMP:TMP:g" "$work/err" >"$work/got.err"
	echo "$code" >"$work/got.exit"
	bad=
	for part in exit out err; do
		if [ "$update" = yes ]; then
			cp "$work/got.$part" "$here/$name.$part"
		fi
		diff -u "$here/$name.$part" "$work/got.$part" || bad=yes
	done
	if [ "$bad" ]; then
		echo "FAIL cli/$name"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
