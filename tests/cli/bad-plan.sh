#!/bin/sh
# What is no plan at all: both programs refuse it with status 2.
kvplan plan -q layouts/example.json | jq . >"$TMP/good"
refused() {
	for program in 'kvplan verify' kvcheck; do
		# shellcheck disable=SC2086
		timeout 20 $program "$TMP/$1" >"$TMP/out" 2>"$TMP/err"
		status=$?
		cut -c 1-300 "$TMP/err"
		[ "$status" -eq 2 ] || echo "$1: exit $status"
		[ ! -s "$TMP/out" ] || echo "$1: something on stdout"
		[ "$(wc -l <"$TMP/err")" -eq 1 ] || echo "$1: not one line"
	done
}
text() {
	# shellcheck disable=SC2059
	printf "$2" >"$TMP/$1"
	refused "$1"
}
edit() { echo "$1 $2" >>"$TMP/edits"; }
text empty ''
text list '[]'
text object '{}'
text format '{"format": "kvplan/plan/2"}'
text formats '{"format": 1}'
text nul '{"format": "kvplan/plan/1"}\0'
head -c 3000 "$TMP/good" >"$TMP/truncated"
refused truncated
for key in geometry merge dedicated_bytes chunks rows access summary; do
	edit "without-$key" "del(.$key)"
	edit "null-$key" ".$key = null"
done
for key in base_chunks chunks lower_bound optimal physical_bytes kv_tokens \
	entries; do
	edit "without-summary-$key" "del(.summary.$key)"
	edit "text-summary-$key" ".summary.$key = \"1\""
done
for key in per_rank per_node limit; do
	edit "without-$key" "del(.summary.entries.$key)"
	edit "text-$key" ".summary.entries.$key = \"1\""
done
edit unknown '.chunk = 1'
edit unknown-chunk '.chunks[1].row = 1'
edit unknown-summary '.summary.chunk = 1'
edit merge '.merge = "both"'
edit chunk-type '.chunks[1] = 1'
edit chunk-missing 'del(.chunks[1].bytes)'
edit chunk-negative '.chunks[1].offset = -1'
edit chunk-fraction '.chunks[1].offset = 0.5'
edit chunk-plane '.chunks[1].plane = 4294967296'
edit row-missing 'del(.rows[1].pages)'
edit row-range '.rows[1].pages[0] = [1]'
edit row-range-three '.rows[1].pages[0] = [1, 2, 3]'
edit row-range-text '.rows[1].pages[0] = ["1", "2"]'
edit access-missing 'del(.access[1].readers)'
edit access-rank '.access[1].rank = "1"'
edit access-twice '.access[1].readers = [0, 1, 1]'
edit access-many '.access[1].readers = [0, 1, 1024]'
edit geometry-pages '.geometry.pages = 0'
edit geometry-unknown '.geometry.page = 0'
edit headroom '.headroom = {}'
edit good-line .
edited "$TMP/good" <"$TMP/edits"
while read -r name filter; do
	[ "$filter" != . ] || continue
	cmp -s "$TMP/good-line" "$TMP/$name" && echo "$name: not edited"
	refused "$name"
done <"$TMP/edits"
sed '2s/^/"merge": "row",/' "$TMP/good" >"$TMP/duplicate"
refused duplicate
