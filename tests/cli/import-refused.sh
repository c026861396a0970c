#!/bin/sh
# What is refused, to the letter: splits, types, models, keys, planes.
configs=tests/import/configs
run kvplan import --tp=8 --kv-dtype=bf16 --conv-dtype=bf16 \
	--state-dtype=bf16 "$configs/falcon-h1-34b.json"
run kvplan import --tp=16 --dcp=4 "$configs/llama-3.1-70b.json"
run kvplan import --tp=8 --ranks-per-node=3 "$configs/llama-3.1-70b.json"
run kvplan import --tp=1 "$configs/gpt-oss-120b.json"
run kvplan import --tp=1 "$configs/qwen3-next-80b-a3b.json"
run kvplan import --tp=1 "$configs/nemotron-h-8b.json"
run kvplan import --tp=1 "$configs/ring-mini-linear-2.0.json"
run kvplan import --tp=1 --state-dtype=bf16 "$configs/kimi-k3.json"
run kvplan import --tp=1 --conv-dtype=fp8 "$configs/kimi-k3.json"
run kvplan import --tp=1 "$configs/deepseek-v4-flash.json"
run kvplan import --tp=1 --mtp "$configs/llama-3.1-70b.json"
run kvplan import --tp=1 --as=grouped "$configs/deepseek-v3.json"
run kvplan import --tp=1 --stage=1/3,24 "$configs/kimi-linear-48b-a3b.json"
with() {
	jq "$1" "$configs/llama-3.1-70b.json" >"$TMP/config.json"
	run kvplan import --tp=1 "$TMP/config.json"
}
with '.model_type = "brand_new"'
with 'del(.model_type)'
with '.num_attention_heads = 64.5'
with '.num_kv_shared_layers = 20'
with '.layer_types = ["full_attention", "diagonal"]'
with '.layer_types = ["full_attention"]'
with 'del(.num_attention_heads)'
with '.model_type = "qwen3_moe"'
with '.model_type = "mistral" | del(.num_key_value_heads)'
with '.attention_chunk_size = 8192'
with '.quantization = {kv_cache_quant_algo: "FP8"}'
with '.text_config = {model_type: "brand_new"}'
run kvplan import --tp=1 --mtp --spec-tokens=2 "$configs/llama-3.1-70b.json"
run kvplan import --tp=1 --spec-tokens=2 "$configs/llama-3.1-70b.json"
