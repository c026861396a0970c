#!/bin/sh
# Without an operand the standard input is read; "-" is the same.
kvplan plan -q -o "$TMP/plan" layouts/example.json
run kvplan verify <"$TMP/plan"
run kvplan verify - <"$TMP/plan"
run kvplan verify --format=json <"$TMP/plan"
run kvplan verify "$TMP/plan" - <layouts/example.json
run kvplan verify </dev/null
run kvplan verify <&-
run kvplan verify --geometry=- "$TMP/plan" <layouts/example.json
