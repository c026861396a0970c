#!/bin/sh
# Too many table entries: a warning that names the first mode that fits, or
# what else to do.  The plan is written all the same.
file=layouts/kimi-k3.1-pro-tp16-dcp16.json
limit() {
	sed "s/^{/{ \"entry_limit\": $1,/" "$file" >"$TMP/geometry"
	shift
	run kvplan plan -q -o "$TMP/plan" "$@" "$TMP/geometry"
	jq -c .summary.optimal "$TMP/plan"
}
limit 524288 --merge=none
limit 446756 --merge=row
limit 446757 --merge=row
limit 430000 --merge=none
limit 430000 --merge=row
limit 425269 --merge=span
limit 425268 --merge=span
limit 425268 --merge=none
limit 0 --merge=none
kvplan plan --merge=span -o "$TMP/plan" "$TMP/geometry"
