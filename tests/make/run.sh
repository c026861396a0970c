#!/bin/sh
# CC, CPPFLAGS, CFLAGS, LDFLAGS, LDLIBS and AR mean what they mean in every
# Makefile: they are added to what kvplan needs, whether they come from the
# command line or the environment.  Run from the top directory.
CC=${CC:-gcc}
. tests/shell.sh
# What the calling make was told is in MAKEFLAGS.
unset MAKEFLAGS MFLAGS MAKELEVEL CPPFLAGS CFLAGS LDFLAGS LDLIBS AR B SAN

# What would be done in an empty build directory, a command to a line.
planned()
{
	"$@" make -n V=1 B="$tmp/build" all "$tmp/build/tests/fuzz/fuzz_plan" |
		sed -e ':a' -e '/\\$/N; s/\\\n//; ta' >"$tmp/planned"
}

# each WHAT PATTERN FLAG...: there are commands with PATTERN, and every one
# has all of the flags
each()
{
	about=$1
	grep -e "$2" "$tmp/planned" >"$tmp/commands"
	[ -s "$tmp/commands" ] && pass || fail "$about: no command with $2"
	shift 2
	for flag in "$@"; do
		same "$about: commands without $flag" '' \
			"$(grep -vF -e " $flag" "$tmp/commands" | cut -c -200 | head -n 1)"
	done
}

# none WHAT PATTERN: no command has it
none()
{
	same "$1: commands with $2" '' \
		"$(grep -e "$2" "$tmp/planned" | cut -c -200 | head -n 1)"
}

flags()
{
	each "$1, compile" ' -c -o ' -DSEEN=1 -Iinclude -Isrc -DKVP_VERSION \
		-O0 -std=c11
	none "$1" -O2
	none "$1, not optimized" _FORTIFY_SOURCE
	each "$1, programs" ' -pie ' -Wl,--as-needed -Wl,-z,relro,-z,now -O0 \
		-ldl -lm
	each "$1, shared library" ' -shared ' -Wl,--as-needed -O0 -ldl -lm
	each "$1, archive" ' rcs ' 'other-ar rcs'
}

planned env CC="$CC"
each 'nothing set, compile' ' -c -o ' -O2 -D_FORTIFY_SOURCE=2
each 'nothing set, link' ' -pie ' -ldl
planned env CPPFLAGS=-DSEEN=1 CFLAGS=-O0 LDFLAGS=-Wl,--as-needed LDLIBS=-lm \
	AR=other-ar
flags 'environment'
# shellcheck disable=SC2317  # called by planned
told()
{
	"$@" CPPFLAGS=-DSEEN=1 CFLAGS=-O0 LDFLAGS=-Wl,--as-needed LDLIBS=-lm \
		AR=other-ar CC=other-cc
}
planned told
flags 'command line'
same 'another compiler' '' "$(grep -e ' -c -o ' -e ' -pie ' -e ' -shared ' \
	"$tmp/planned" | grep -v 'other-cc ' | head -n 1)"

# They compile without a warning, too.
for cflags in -O0 '' -Os; do
	make STRICT=1 B="$tmp/build" CC="$CC" CFLAGS="$cflags" \
		CPPFLAGS=-DSEEN=1 "$tmp/build/src/base/utf8.o" \
		>"$tmp/out" 2>&1 && pass ||
		fail "CFLAGS='$cflags': $(cat "$tmp/out")"
	rm -f "$tmp/build/src/base/utf8.o"
done
for value in 2 3; do
	planned env CPPFLAGS="-D_FORTIFY_SOURCE=$value"
	none "fortified by the packager, $value" -U_FORTIFY_SOURCE
done
close
