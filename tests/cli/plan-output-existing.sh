#!/bin/sh
# A file is replaced and keeps its mode; a link stays a link; a new file gets
# the mode any new file gets.
umask 027
echo old >"$TMP/old"
chmod 604 "$TMP/old"
echo old >"$TMP/target"
ln -s target "$TMP/link"
for file in old link new; do
	run kvplan plan -q -o "$TMP/$file" layouts/example.json
done
kvplan plan -q layouts/example.json >"$TMP/stdout"
for file in old target new; do
	cmp "$TMP/$file" "$TMP/stdout"
done
[ -L "$TMP/link" ] && echo 'still a link'
stat -c '%n %a' "$TMP/old" "$TMP/new"
left_behind
