#!/bin/sh
# No environment variable changes anything (kvplan(1), ENVIRONMENT).
kvplan plan -q layouts/example.json >"$TMP/plain"
for setting in POSIXLY_CORRECT=1 LC_ALL=de_DE.UTF-8 TMPDIR=/nonexistent \
	NO_COLOR=1 COLUMNS=20; do
	for order in '-q layouts/example.json' 'layouts/example.json -q'; do
		# shellcheck disable=SC2086
		env "$setting" kvplan plan $order >"$TMP/got" 2>&1
		echo "$setting $order: exit $?"
	done
done
