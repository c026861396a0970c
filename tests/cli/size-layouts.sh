#!/bin/sh
# Every layout, in the memory that its pages take: that gives no fewer pages,
# more only where rounding up left room for them, the rows asked for, and a
# plan that is verified.
for file in layouts/*.json; do
	# shellcheck disable=SC2046
	set -- $(jq '.pages, .snapshot_rows' "$file")
	pages=$1 rows=$2
	used=$(kvplan size --json --pages="$pages" --snapshots="$rows" \
		"$file" 2>/dev/null | jq '.[].used_bytes')
	kvplan size --free="$used" --snapshots="$rows" -o "$TMP/sized.json" \
		"$file" >"$TMP/report" 2>/dev/null
	printf '%s: ' "${file#layouts/}"
	jq -c "[.pages - $pages, .snapshot_rows - $rows,
		.headroom.free_bytes]" "$TMP/sized.json"
	kvplan plan -q "$TMP/sized.json" 2>/dev/null |
		kvplan verify --geometry="$TMP/sized.json" |
		sed 's/: .*//'
done
