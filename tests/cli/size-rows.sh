#!/bin/sh
# Rows: the most, at most those asked for, and what more of them would take.
g=layouts/example.json
rows() {
	jq -c '.[] | [.pages, .snapshot_rows, .rows_that_fit,
		      .pages_for_snapshots]'
}
kvplan size --json --pages=512 $g | rows
kvplan size --json --pages=512 --snapshots=14 $g | rows
kvplan size --json --pages=512 --snapshots=15 $g | rows
kvplan size --json --pages=513 --snapshots=15 $g | rows
kvplan size --json --pages=512 --snapshots=0 $g | rows
# In a budget the pages stay the most, whatever rows are asked for.
kvplan size --json --free=100M --snapshots=99 $g | rows
kvplan size --json --free=100M --memory-limit=-0G --memory-limit=-10M \
	--snapshots=8 $g | rows
jq '.planes[].alias = false' $g >"$TMP/apart.json"
kvplan size --json --pages=512 --snapshots=3 "$TMP/apart.json" | rows
jq 'del(.row_bytes, .row_stride) | .execution_rows = 0 | .snapshot_rows = 0' \
	$g >"$TMP/none.json"
kvplan size --json --pages=512 --snapshots=3 "$TMP/none.json" | rows
kvplan size --json --pages=512 "$TMP/none.json" | rows
# Without a row the geometry has no row bytes: that is its normalized form.
jq '.execution_rows = 0' $g >"$TMP/zero.json"
kvplan size --pages=512 --snapshots=0 -o - "$TMP/zero.json" 2>/dev/null |
	jq -c '[.snapshot_rows, .row_bytes, .row_stride]'
