#!/bin/sh
# "-" is the standard input, a file or a pipe, and closed is an error.
kvplan plan -q layouts/example.json >"$TMP/plan"
kvplan plan -q - <layouts/example.json | cmp "$TMP/plan"
# shellcheck disable=SC2002
cat layouts/example.json | kvplan plan -q - | cmp "$TMP/plan"
run kvplan plan - <&-
echo '{' | run kvplan plan -
run kvplan plan ./-
