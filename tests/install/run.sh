#!/bin/sh
# make install into an empty directory, use of what it puts there, make
# uninstall.  The hardening of what is installed is checked as well.
CC=${CC:-gcc} SAN=${SAN:-}
here=tests/install
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
root=$work/root prefix=/opt/kvplan
at=$root$prefix
passed=0 failed=0 skipped=0
# What the calling make was told is in MAKEFLAGS; say it anew instead.
unset MAKEFLAGS MFLAGS MAKELEVEL

# check WHAT COMMAND...
check() {
	what=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
	else
		cat "$work/log"
		echo "FAIL install: $what"
		failed=$((failed + 1))
	fi
}
skip() {
	echo "SKIP install/$1: $2"
	skipped=$((skipped + 1))
}
make_to() {
	make --no-print-directory CC="$CC" SAN="$SAN" DESTDIR="$root" \
		PREFIX="$prefix" "$1"
}
has() { grep -q -- "$@"; }

check 'make install' make_to install

expected() {
	for page in man/*.1; do echo "share/man/man1/${page#man/}"; done
	for page in man/*.3; do echo "share/man/man3/${page#man/}"; done
	for page in man/*.5; do echo "share/man/man5/${page#man/}"; done
	for page in man/*.7; do echo "share/man/man7/${page#man/}"; done
	for header in include/kvplan/*.h; do echo "$header"; done
	echo bin/kvplan
	echo bin/kvcheck
	for program in "${B:-build}"/kvplan-mpi*; do
		[ -x "$program" ] && echo "bin/${program##*/}"
	done
	echo lib/libkvplan.a
	echo lib/libkvplan.so
	readlink "$at/lib/libkvplan.so" | sed 's:^:lib/:'
	echo lib/pkgconfig/kvplan.pc
}
installed() {
	expected | sort >"$work/expected"
	(cd "$at" && find . ! -type d | sed 's:^\./::' | sort) \
		>"$work/installed"
	diff "$work/expected" "$work/installed"
	[ "$(find "$root" ! -type d | wc -l)" -eq \
		"$(wc -l <"$work/expected")" ]
}
check 'the files that are installed' installed
modes() {
	find "$at" -type f ! -path '*/bin/*' ! -name '*.so.*' -perm /111
	[ -z "$(find "$at" -type f ! -perm -444)" ] &&
		[ -x "$at/bin/kvplan" ] && [ -x "$at/bin/kvcheck" ]
}
check 'the modes of the files' modes

"$at/bin/kvplan" plan -q -o "$work/plan" layouts/example.json
check 'the installed kvplan' "$at/bin/kvplan" verify "$work/plan"
check 'the installed kvcheck' "$at/bin/kvcheck" "$work/plan"

PKG_CONFIG_PATH=$at/lib/pkgconfig
export PKG_CONFIG_PATH
variable() {
	value=$(pkg-config --variable=prefix kvplan) || return
	echo "kvplan.pc has prefix=$value, installed with PREFIX=$prefix"
	[ "$value" = "$prefix" ]
}
check 'the prefix in kvplan.pc' variable
version() {
	[ "kvplan $(pkg-config --modversion kvplan)" = \
		"$("$at/bin/kvplan" --version)" ]
}
check 'the version in kvplan.pc' version

# tiny NAME FLAG...: compile the tiny program, in $work/NAME.
tiny() {
	name=$1
	shift
	# shellcheck disable=SC2046,SC2086
	$CC -std=c11 -Wall -Wextra -Werror ${SAN:+-fsanitize=$SAN} \
		-o "$work/$name" "$here/tiny.c" "$@"
}
runs() {
	"$@" >"$work/out" && cat "$work/out" &&
		[ "$(cat "$work/out")" = '5 chunks, verified' ]
}
flags() { PKG_CONFIG_SYSROOT_DIR=$root pkg-config "$@" kvplan; }
# shellcheck disable=SC2046
check 'a program with the shared library compiles' \
	tiny shared $(flags --cflags --libs)
check 'a program with the shared library runs' \
	runs env LD_LIBRARY_PATH="$at/lib" "$work/shared"
check 'the program asks for the library by its soname' sh -c \
	"readelf -d '$work/shared' | grep -q 'NEEDED.*\[libkvplan\.so\.[0-9]*\]'"
# shellcheck disable=SC2046
check 'a program with the static library compiles' tiny static \
	$(flags --cflags --static --libs | sed 's/-lkvplan/-l:libkvplan.a/')
check 'a program with the static library runs' runs "$work/static"
check 'the program does not ask for the library' sh -c \
	"! readelf -d '$work/static' | grep -q libkvplan"

# hardened FILE
hardened() {
	readelf -hW "$1" | has 'Type: *DYN' || { echo 'not PIE'; return 1; }
	readelf -dW "$1" | has 'BIND_NOW\|FLAGS.*NOW' ||
		{ echo 'no BIND_NOW'; return 1; }
	readelf -lW "$1" | has GNU_RELRO || { echo 'no RELRO'; return 1; }
	readelf -lW "$1" | has 'GNU_STACK.* RW ' ||
		{ echo 'executable stack'; return 1; }
	! readelf -dW "$1" | has 'TEXTREL\|RPATH\|RUNPATH' ||
		{ echo 'text relocations or a run path'; return 1; }
	readelf -sW --dyn-syms "$1" | has __stack_chk_fail ||
		{ echo 'no stack protector'; return 1; }
}
for file in bin/kvplan bin/kvcheck lib/libkvplan.so; do
	if [ "$SAN" ]; then
		skip "hardened-${file##*/}" 'sanitizers bring their own flags'
	else
		check "$file is hardened" hardened "$at/$file"
	fi
done
pie() { readelf -dW "$1" | has 'FLAGS_1.*PIE'; }
check 'kvplan is an executable, not a library' pie "$at/bin/kvplan"
fortified() { readelf -sW --dyn-syms "$1" | has '_chk'; }
if [ "$SAN" ]; then
	skip fortified 'sanitizers are built without _FORTIFY_SOURCE'
else
	check 'kvplan is fortified' fortified "$at/bin/kvplan"
fi

# A file of somebody else has to stay.
mkdir -p "$at/lib/pkgconfig"
echo other >"$at/lib/pkgconfig/other.pc"
check 'make uninstall' make_to uninstall
rest() {
	find "$root" ! -type d >"$work/rest"
	cat "$work/rest"
	[ "$(cat "$work/rest")" = "$at/lib/pkgconfig/other.pc" ]
}
check 'make uninstall leaves its own files or takes others' rest
check 'make uninstall again' make_to uninstall
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
