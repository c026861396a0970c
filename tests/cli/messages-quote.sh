#!/bin/sh
# Messages tell what was asked for, not what a computation cut it to.
cat >"$TMP/g.json" <<'END'
{"format": "kvplan/geometry/1", "name": "two planes", "page_tokens": 16,
"execution_rows": 0, "ranks": 1, "dcp_group_size": 1,
"planes": [{"name": "kv", "count": 2, "bytes_per_page": 65536}]}
END
for limit in -1G -1T 0% 99% 1MiB 70GiB; do
	kvplan size --free=1073741823 --memory-limit=$limit --pages=9999999 \
		"$TMP/g.json" 2>&1 | grep -o 'every rank has.*budget of [0-9]*'
done
kvplan plan -q -o "$TMP/plan" layouts/example.json
kvplan realize --ranks=4 "$TMP/plan"
kvplan realize --ranks=2-4 "$TMP/plan"
kvplan realize --ranks=1024 "$TMP/plan"
kvplan realize --ranks=0-99999999999999999999 "$TMP/plan"
kvplan realize --gpus=99999999999999999999 "$TMP/plan"
kvplan headroom --free=99999999999999999999
kvplan headroom --override=99999999999999999999
kvplan headroom simulate --free=1GiB --steps=99999999999999999999
kvplan probe --gpus --entries --max=99999999999999999999
kvplan import --tp=99999999999999999999 x
kvplan import --tp=1 --stage=1/99999999999999999999 x
# Limits that a message has to name, with what exceeds them.
kvplan headroom --free=1.1234567MiB
kvplan size --free=1G --memory-limit=-1.1234567GiB layouts/example.json
kvplan size --free=1G --memory-limit=1023 layouts/example.json
kvplan headroom --gpus="$(repeat 1024 0,)0" 2>&1 | tail -c 30
kvplan import --tp=1 --stage="1/$(repeat 1024 1,)1" x 2>&1 | tail -c 30
kvplan import --tp=1 --stage=16385/16385 x
kvplan import --tp=1 --ranks-per-node=1025 x
kvplan import --tp=1 --page-tokens=2147483648 x
