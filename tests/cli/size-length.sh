#!/bin/sh
# Sequences and snapshot rows together, which tokens / length does not say.
g=layouts/kimi-k3.1-pro-tp16-dcp8.json
run kvplan size --pages=3072 --length=131072 $g
for length in 1 1024 1025 131072 629145 629146 3145728 3145729; do
	kvplan size --json --pages=3072 --length=$length $g |
		jq -c '.[].concurrency'
done
# Without execution rows pages alone decide.
jq '.execution_rows = 0 | .snapshot_rows = 0' $g |
	kvplan size --json --pages=3072 --snapshots=10 --length=131072 - |
	jq -c '.[].concurrency'
kvplan size --json --free=6G --memory-limit=-0G --memory-limit=-1G \
	--length=131072 $g | jq -c '.[] | [.pages, .concurrency]'
