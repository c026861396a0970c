#!/bin/sh
# A directory without write permission.
mkdir "$TMP/closed"
echo old >"$TMP/closed/plan"
chmod 555 "$TMP/closed"
if [ -w "$TMP/closed" ]; then
	echo 'this user may write everywhere'
	exit 77
fi
run kvplan plan -q -o "$TMP/closed/plan" layouts/example.json
run kvplan plan -q -o "$TMP/closed/new" layouts/example.json
cat "$TMP/closed/plan"
left_behind
