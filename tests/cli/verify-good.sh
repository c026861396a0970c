#!/bin/sh
# One plan, several plans, every mode; one line each and one that counts.
for mode in none row span; do
	kvplan plan -q --merge="$mode" -o "$TMP/$mode" layouts/example.json
done
run kvplan verify "$TMP/row"
run kvplan verify "$TMP/none" "$TMP/row" "$TMP/span"
run kvplan verify "$TMP/row" "$TMP/row"
