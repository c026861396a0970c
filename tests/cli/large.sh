#!/bin/sh
# A million chunks and half a million rows, in all modes.
if [ "$SAN" ]; then
	echo 'slow with sanitizers'
	exit 77
fi
small_with pages 524288 | sed 's/"snapshot_rows": 2/"snapshot_rows": 524287/' \
	>"$TMP/geometry"
for mode in none row span; do
	kvplan plan -q --merge="$mode" -o "$TMP/plan" "$TMP/geometry"
	kvplan verify "$TMP/plan"
	kvcheck "$TMP/plan"
done
