#!/bin/sh
# Rounding the dedicated backing up is waste only where no row uses it.
waste() {
	small_with "$1" "$2" | jq -c ". + $3" | kvplan plan -o "$TMP/plan" - \
		2>"$TMP/summary"
	grep waste "$TMP/summary"
}
# Four rows of 512 KiB fill the 2 MiB: one executes, three are snapshots.
waste granularity 2097152 '{pages: 256, page_tokens: 16, snapshot_rows: 3,
	row_bytes: 524288, planes: [{name: "kv", bytes_per_page: 8192}]}'
# The third snapshot row is missing there.
waste granularity 2097152 '{pages: 256, page_tokens: 16, snapshot_rows: 2,
	row_bytes: 524288, planes: [{name: "kv", bytes_per_page: 8192}]}'
# The backing ends in a snapshot row, in its padding, behind its padding.
waste row_bytes 1800 '{}'
waste row_bytes 1000 '{row_stride: 1500}'
waste row_bytes 1000 '{row_stride: 2048}'
# Without snapshot rows all that rounding adds is waste.
waste row_bytes 1000 '{snapshot_rows: 0}'
waste row_bytes 1000 '{snapshot_rows: 0, execution_rows: 0}'
