#!/bin/sh
# A geometry to standard output, how it came about to standard error.
configs=tests/import/configs
run kvplan import --tp=4 --dcp=2 --state-dtype=bf16 \
	"$configs/qwen3-next-80b-a3b.json"
run kvplan import --tp=2 --page-tokens=128 --state-dtype=fp32 \
	--execution-rows=32 --pages=4096 --snapshot-rows=64 --name="two ranks" \
	"$configs/jamba-1.5-mini.json"
run kvplan import --tp=8 --mtp "$configs/deepseek-v3.2.json"
run kvplan import --tp=8 --kv-dtype=fp8 "$configs/deepseek-v4-flash.json"
run kvplan import --tp=1 "$configs/gemma-3-27b.json"
run kvplan import --tp=4 --spec-tokens=2 --stage=2/4 \
	"$configs/qwen3.5-27b.json"
cp "$configs/llama-3.1-70b.json" "$TMP/config.json"
run kvplan import -q --tp=8 "$TMP/config.json"
run kvplan import -q --tp=8 - <"$TMP/config.json"
run kvplan import -q --tp=8 -o "$TMP/new.json" "$TMP/config.json"
run cat "$TMP/new.json"
run kvplan import --tp=8 --as=mla "$TMP/config.json"
# Numbers without a key: whose they are.
without() {
	jq "$2" "$configs/$1.json" >"$TMP/config.json"
	run kvplan import --tp=1 --kv-dtype=bf16 "$TMP/config.json"
}
without gemma-3-27b 'del(.text_config | .head_dim, .sliding_window)'
without llama-3.1-70b 'del(.num_key_value_heads)'
run kvplan import --tp=1 --mtp --stage=1/4 --spec-tokens=3 \
	"$configs/qwen3.5-27b.json"
run kvplan import --tp=1 --state-dtype=fp16 "$configs/nemotron-h-8b.json"
