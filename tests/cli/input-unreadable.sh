#!/bin/sh
# A file without read permission.
cp layouts/example.json "$TMP/closed"
chmod 0 "$TMP/closed"
if [ -r "$TMP/closed" ]; then
	echo 'this user may read everything'
	exit 77
fi
run kvplan plan "$TMP/closed"
run kvplan verify "$TMP/closed"
run kvcheck "$TMP/closed"
