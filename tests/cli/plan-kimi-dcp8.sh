#!/bin/sh
for mode in none row span; do
	kvplan plan --merge="$mode" layouts/kimi-k3.1-pro-tp16-dcp8.json |
		jq -c .summary
done
