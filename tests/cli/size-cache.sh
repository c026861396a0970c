#!/bin/sh
# Room for a cache of allocations: what its cap takes, and no less.
g=layouts/example.json
room() {
	jq -c '.[] | [.cache_bytes, .left_bytes >= .cache_bytes,
		      .headroom.cap_bytes]'
}
for cap in '' =0.5M =64MiB =65MiB =1GiB; do
	kvplan size --free=20G --json --reserve-cache$cap $g 2>/dev/null | room
done
kvplan size --free=20G --json $g 2>/dev/null | room
# The reserve comes on top.
kvplan size --free=20G --memory-limit=-1G --json --reserve-cache $g \
	2>/dev/null | room
# An override takes the policy's place: half of what is free is enough.
KVPLAN_ALLOC_CACHE_MAX_MB=300
export KVPLAN_ALLOC_CACHE_MAX_MB
kvplan size --free=20G --json --reserve-cache $g 2>"$TMP/err" | room
grep headroom "$TMP/err"
kvplan size --free=20G --reserve-cache -o - $g 2>/dev/null |
	kvplan plan -q - | kvplan verify
# A cap that cannot be reached is warned of before the plan is refused.
kvplan size --free=20G --json --reserve-cache=1M $g | room
kvplan size --free=20G -o - $g 2>/dev/null | kvplan plan -q - |
	kvplan verify
