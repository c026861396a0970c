#!/bin/sh
# The output may be the input, which is read whole before.
cp layouts/example.json "$TMP/file"
run kvplan plan -q -o "$TMP/file" "$TMP/file"
kvplan plan -q layouts/example.json | cmp "$TMP/file" && left_behind
