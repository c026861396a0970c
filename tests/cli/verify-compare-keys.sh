#!/bin/sh
# A difference in any key is found and said with both values.
jq '. + {
	arena_address: 274877906944,
	headroom: { free_bytes: 274726912, cap_bytes: 67108864 }
} | .planes[2].address = 549755813888' layouts/example.json >"$TMP/geometry"
kvplan plan -q -o "$TMP/plan" "$TMP/geometry"
run kvplan verify --geometry="$TMP/geometry" "$TMP/plan"
cat >"$TMP/edits" <<'END'
.name = "other"
.granularity = 4194304
.tile_granules = 2
.pages = 513
.page_tokens = 65
.snapshot_rows = 7
.execution_rows = 3
.row_bytes = 1
.row_stride = "11 MiB"
.ranks = 8 | .access.imports = "group"
.ranks_per_node = 2
.dcp_group_size = 4
.planes[0].count = 4
.planes[0].name = "broad"
.planes[1].bytes_per_page = 36865
.planes[2].alias = true
.planes[2].address = 1099511627776
del(.planes[2].address)
.planes[2:] = [.planes[1], .planes[2]] | .planes[2].name = "more"
.access.declared_readers = [[1], [0], [3], [2]]
.access.imports = "group"
.access.imports = [[1, 2], [0], [3], [2]]
.access.importer_mode = "readwrite"
.static = []
.static[0].name = "other"
.static[0].bytes = 1
.static[0].importers = "group"
.static_entries = 1
.entry_limit = 600000
.entry_reserve = 0
.page_overhead_bytes = 1
.arena_address = 1099511627776
del(.arena_address)
.headroom.free_bytes = 1
.headroom.cap_bytes = 1
.headroom.cap_bytes = null
del(.headroom)
END
awk '{ print "edit" NR, $0 }' "$TMP/edits" | edited "$TMP/geometry"
n=0
while read -r edit; do
	n=$((n + 1))
	echo "$edit"
	mv "$TMP/edit$n" "$TMP/other"
	kvplan verify --geometry="$TMP/other" "$TMP/plan" >"$TMP/out"
	echo "  exit $?"
	sed -n 's/^error: geometry: /  /p' "$TMP/out"
done <"$TMP/edits"
# Recorded chunks.
small >"$TMP/geometry"
kvplan plan -q --merge=none "$TMP/geometry" |
	jq '.geometry + {base_chunks: .chunks}' >"$TMP/recorded"
kvplan plan -q -o "$TMP/plan" "$TMP/recorded"
run kvplan verify --geometry="$TMP/geometry" "$TMP/plan"
jq '.base_chunks |= reverse' "$TMP/recorded" >"$TMP/other"
run kvplan verify --geometry="$TMP/other" "$TMP/plan"
jq '.base_chunks[0].plane = 1 | .base_chunks[1].plane = 0' "$TMP/recorded" \
	>"$TMP/other"
run kvplan verify --geometry="$TMP/other" "$TMP/plan"
jq '.base_chunks[3:] = [{ plane: 1, offset: 4096, bytes: 28672, arena: 20480 },
	{ plane: 0, offset: 8192, bytes: 24576, arena: null }]' \
	"$TMP/recorded" >"$TMP/other"
run kvplan verify --geometry="$TMP/other" "$TMP/plan"
