#!/bin/sh
# In at one end and out at the other, through plan and verify.
small | sed '/"pages"/d; /"snapshot_rows"/d' >"$TMP/open.json"
kvplan size --free=210KiB -o "$TMP/sized.json" "$TMP/open.json" >/dev/null
kvplan size --free=210KiB -o - - <"$TMP/open.json" 2>"$TMP/report" |
	kvplan plan -q - | kvplan verify --geometry="$TMP/sized.json"
kvplan size --free=210KiB "$TMP/open.json" | cmp "$TMP/report"
# Without sizes there is no plan, and the message says what makes them.
run kvplan plan "$TMP/open.json"
printf '{' | run kvplan size --free=1G -
