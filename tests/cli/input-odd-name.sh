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
