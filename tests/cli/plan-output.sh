#!/bin/sh
# -o writes what stdout would get, and nothing else anywhere.
kvplan plan -q layouts/example.json >"$TMP/stdout"
run kvplan plan -q -o "$TMP/short" layouts/example.json
run kvplan plan --quiet --output="$TMP/long" layouts/example.json
run kvplan plan -q --output "$TMP/apart" layouts/example.json
run kvplan plan -qo"$TMP/joined" layouts/example.json
for file in short long apart joined; do
	cmp "$TMP/stdout" "$TMP/$file"
done
kvplan plan -q -o - layouts/example.json | cmp "$TMP/stdout"
kvplan plan -q -o /dev/stdout layouts/example.json | cmp "$TMP/stdout"
left_behind
