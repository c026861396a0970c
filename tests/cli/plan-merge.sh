#!/bin/sh
# How a mode may be written.
for option in '--merge=row' '--merge row' '--merge=none' '--merge none' \
	'--merge=span --merge=row' '--merge=row --merge=span'; do
	# shellcheck disable=SC2086
	kvplan plan -q $option layouts/example.json >"$TMP/plan"
	echo "$option: exit $?, $(jq -r .merge "$TMP/plan")"
done
run kvplan plan --merge=all layouts/example.json
run kvplan plan --merge=ROW layouts/example.json
run kvplan plan --merge= layouts/example.json
run kvplan plan --merge
run kvplan plan layouts/example.json --merge
