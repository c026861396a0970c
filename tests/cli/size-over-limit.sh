#!/bin/sh
# More table entries than fit are a warning that names the mode that fits.
pages() {
	jq '.[].entries'
}
kvplan size --pages=2234 --json layouts/kimi-k3.1-pro-tp16-dcp16.json | pages
kvplan size --pages=2650 --json layouts/kimi-k3.1-pro-tp16-dcp16.json | pages
kvplan size --pages=2700 --json layouts/kimi-k3.1-pro-tp16-dcp16.json | pages
kvplan size --pages=9000 --json layouts/kimi-k3.1-pro-tp16-dcp16.json | pages
kvplan size --pages=9000 --snapshots=9 --json \
	layouts/kimi-k3.1-pro-tp16-dcp16.json | pages
# Of several nodes the fullest counts.
small_with access '{"imports": [[0], [1], [2, 3], [2, 3]]}' >"$TMP/two.json"
for limit in 4193 4194 4195; do
	jq ".entry_limit = $limit" "$TMP/two.json" |
		kvplan size --pages=8 --json - | pages
done
# Whichever it is.
small_with access '{"imports": [[0, 1], [0, 1], [2], [3]]}' |
	kvplan size --pages=8 --json - | pages | jq -c .
jq -c '.ranks, .ranks_per_node' "$TMP/two.json"
# What the notes say fits does fit, and one row more does not.
layout=layouts/kimi-k3.1-pro-tp16-dcp16.json
for more in '--snapshots=130' '--snapshots=131' '--tile-granules=2'; do
	kvplan size --pages=2700 "$more" -o "$TMP/sized.json" "$layout" \
		>/dev/null 2>"$TMP/talk"
	echo "$more: $(grep -c warning "$TMP/talk") warnings"
	kvplan plan -q "$TMP/sized.json" | kvplan verify - |
		cut -d ' ' -f 1-6
done
kvplan size --pages=2700 --snapshots=134 -o "$TMP/sized.json" $layout \
	>/dev/null 2>&1
kvplan plan -q --merge=span "$TMP/sized.json" | kvplan verify -
jq .tile_granules "$TMP/sized.json"
kvplan size --pages=2700 --tile-granules=4 -o - $layout 2>/dev/null |
	jq .tile_granules
