#!/bin/sh
# The sized geometry, whole or not at all.
small | sed '/"pages"/d; /"snapshot_rows"/d' >"$TMP/open.json"
cd "$TMP" || exit
run kvplan size --free=210KiB -o sized.json open.json
cat sized.json
# Sized again it is the same; sized to what it has, too.
kvplan size --free=210KiB -o again.json sized.json >/dev/null
cmp sized.json again.json
# Without free memory nothing is known of what is left.
kvplan size --pages=25 -o again.json sized.json >/dev/null
jq -c 'del(.headroom)' sized.json >sized.open
jq -c . again.json | cmp sized.open -
rm sized.open
run kvplan size --free=210KiB -o - open.json
kvplan size --free=210KiB -o - open.json 2>/dev/null | cmp sized.json
kvplan size --free=210KiB --json -o again.json open.json | jq length
cmp sized.json again.json
# The input stays what it is, under another name as well.
ln -s open.json link.json
run kvplan size --free=210KiB -o link.json open.json
run kvplan size --free=210KiB -o ./open.json open.json
# What does not fit leaves what was there.
run kvplan size --free=1KiB -o sized.json open.json
cmp sized.json again.json
run kvplan size --free=210KiB -o no/such.json open.json
rm sized.json again.json
left_behind
