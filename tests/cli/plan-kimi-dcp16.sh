#!/bin/sh
# The published layout: over the table's limit unmerged, within it merged.
for mode in none row span; do
	kvplan plan --merge="$mode" layouts/kimi-k3.1-pro-tp16-dcp16.json |
		jq -c .summary
done
