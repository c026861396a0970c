#!/bin/sh
# One error is one line, also where a file's name has several.
kvplan plan "$TMP/two
lines" 2>"$TMP/err"
echo "exit $?, $(wc -l <"$TMP/err") line"
small | sed 's/"pages": 8/"pages": 0/' >"$TMP/two
lines"
kvplan plan "$TMP/two
lines" 2>"$TMP/err"
echo "exit $?, $(wc -l <"$TMP/err") line"
# Nor can a name forge a verdict or drive a terminal.
cp layouts/example.json "$TMP/x
VERIFIED $(printf '\033[2J')"
kvplan verify "$TMP/x
VERIFIED $(printf '\033[2J')" | cat -v
kvplan verify --geometry="$TMP/x
VERIFIED $(printf '\033[2J')" layouts/kimi-linear-48b-tp8-dcp8.json |
	sed -n '1p;$p' | cat -v
