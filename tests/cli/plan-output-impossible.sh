#!/bin/sh
# Places that cannot be written: a message, status 3, nothing left behind.
mkdir "$TMP/directory"
echo file >"$TMP/file"
run kvplan plan -q -o "$TMP/missing/plan" layouts/example.json
run kvplan plan -q -o "$TMP/file/plan" layouts/example.json
run kvplan plan -q -o "$TMP/directory" layouts/example.json
run kvplan plan -q -o "$TMP/directory/" layouts/example.json
run kvplan plan -q -o /dev/full layouts/example.json
run kvplan plan -q -o '' layouts/example.json
left_behind
