# shellcheck shell=sh
# Traps of real configs, one by one.  Sourced by run.sh.

# unchanged TRAP NAME JQ ARG...: the change does not matter
unchanged()
{
	trap_name=$1 name=$2 filter=$3
	shift 3
	import "$trap_name" 0 --tp=2 --name=t "$@" "$(config "$name")"
	cp "$tmp/out" "$tmp/before"
	change "$name" "$filter"
	import "$trap_name, changed" 0 --tp=2 --name=t "$@" \
		"$tmp/changed.json"
	same "$trap_name" "$(cat "$tmp/before")" "$(cat "$tmp/out")"
}

# changed TRAP NAME JQ JQ-OUT EXPECTED ARG...: what the change comes to
changed()
{
	trap_name=$1 query=$4 expected=$5
	change "$2" "$3"
	shift 5
	import "$trap_name" 0 --tp=1 --page-tokens=16 "$@" \
		"$tmp/changed.json"
	same "$trap_name" "$expected" "$(jq -c "$query" "$tmp/out")"
}

bf16="--kv-dtype=bf16 --conv-dtype=bf16 --state-dtype=bf16"
plane='[.planes[] | .name, .count, .bytes_per_page]'

# --- where keys stand ---

unchanged "vision_config is not read" qwen3.5-27b \
	'.vision_config += {num_hidden_layers: 3, num_attention_heads: 7,
	 head_dim: 11, hidden_size: 13, num_key_value_heads: 5}'
unchanged "vision_config is not read, Gemma" gemma-3-27b \
	'.vision_config += {head_dim: 72, num_hidden_layers: 1}'
unchanged "the whole's keys are not the language model's" gemma-3-27b \
	'. += {num_hidden_layers: 1, head_dim: 3}'
unchanged "text_config or not" qwen3.5-27b '.text_config'
unchanged "model_type of text_config" qwen3.5-27b \
	'.model_type = "some_wrapper"'
unchanged "model_type of the whole" qwen3.5-27b 'del(.text_config.model_type)'
unchanged "llm_config" qwen3.5-27b '{model_type, llm_config: .text_config}'

# --- spellings ---

unchanged "layer_types for full_attention_interval" qwen3-next-80b-a3b \
	'del(.full_attention_interval) | .layer_types = [range(48) |
	 if . % 4 == 3 then "full_attention" else "linear_attention" end]' \
	--state-dtype=bf16
unchanged "layers_block_type for hybrid_override_pattern" nemotron-h-8b \
	'.layers_block_type = (.hybrid_override_pattern | split("") |
	 map({"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}[.])) |
	 del(.hybrid_override_pattern)' --state-dtype=fp16
unchanged "E and - alike keep nothing" nemotron-h-8b \
	'.hybrid_override_pattern |= gsub("-"; "E")' --state-dtype=fp16
unchanged "layer_types for attn_type_list" minimax-m1 \
	'.layer_types = (.attn_type_list | map(if . == 1 then
	 "full_attention" else "linear_attention" end)) | del(.attn_type_list)' \
	--kv-dtype=bf16 --state-dtype=bf16
unchanged "layer_types for full_attn_idxs" lfm2-1.2b \
	'.full_attn_idxs as $f | .layer_types = [range(16) as $i |
	 if $f | index($i) then "full_attention" else "conv" end] |
	 del(.full_attn_idxs)'
unchanged "layer_types for sliding_window_pattern" gemma-3-27b-classdump \
	'.text_config |= (del(.sliding_window_pattern) | .layer_types =
	 [range(62) | if . % 6 == 5 then "full_attention" else
	 "sliding_attention" end])'
unchanged "linear_attention means Mamba-1 in Jamba" jamba-1.5-mini \
	'.layer_types = [range(32) | if . % 8 == 4 then "full_attention"
	 else "linear_attention" end] | del(.attn_layer_period)' \
	--state-dtype=bf16
changed "attn_layer_offset" jamba-1.5-mini '.attn_layer_offset = 0' \
	.planes[0].count 4 --state-dtype=bf16
same "attn_layer_offset: where" 0,8,16,24 "$(attending "$tmp/err")"
changed "max_window_layers slides the upper layers" qwen3-32b \
	'.use_sliding_window = true | .sliding_window = 4096 |
	 .max_window_layers = 60' "$plane" \
	'["full",60,65536,"sliding",4,65536]'
unchanged "use_sliding_window false" qwen3-32b '.sliding_window = 4096'
changed "every layer of Mistral slides" llama-3.1-70b \
	'.model_type = "mistral" | .sliding_window = 4096' "$plane" \
	'["sliding",80,65536]'
unchanged "a null window slides nothing" llama-3.1-70b \
	'.model_type = "mistral" | .sliding_window = null'

# --- lists and MTP layers ---

import "V4: 44 entries for 43 layers" 0 --tp=1 --kv-dtype=fp8 \
	"$(config deepseek-v4-flash)"
same "V4: 44 entries for 43 layers" '[21,21,20]' \
	"$(jq -c '[.planes[].count]' "$tmp/out")"
import "V4: its MTP layer keeps a window alone" 0 --tp=1 --kv-dtype=fp8 \
	--mtp "$(config deepseek-v4-flash)"
same "V4: its MTP layer keeps a window alone" '[21,21,20]' \
	"$(jq -c '[.planes[].count]' "$tmp/out")"
says "V4: its MTP layer keeps a window alone" \
	"3 of ratio 0, a window alone: 0-1,43"
for mtp in "" --mtp=0; do
	import "MTP layers are left out ($mtp)" 0 --tp=1 $mtp \
		"$(config deepseek-v3)"
	same "MTP layers are left out ($mtp)" 61 \
		"$(jq .planes[0].count "$tmp/out")"
	says "MTP layers are left out ($mtp)" \
		"MTP: /num_nextn_predict_layers is 1, left out"
done
for mtp in --mtp --mtp=1; do
	import "MTP layers when asked for ($mtp)" 0 --tp=1 $mtp \
		"$(config deepseek-v3.2)"
	same "MTP layers when asked for ($mtp)" '[62,62]' \
		"$(jq -c '[.planes[].count]' "$tmp/out")"
done
import "MTP of Qwen3.5" 0 --tp=1 --mtp "$(config qwen3.5-27b)"
same "MTP of Qwen3.5" '[17,153944064]' \
	"$(jq -c '[.planes[0].count, .row_bytes]' "$tmp/out")"
for key in '.mtp_hybrid_override_pattern = "*E"' \
	'.mtp_layers_block_type = ["attention", "moe"]'; do
	change nemotron-h-8b ".num_nextn_predict_layers = 1 | $key"
	import "MTP of Nemotron-H" 0 --tp=1 --state-dtype=fp16 \
		"$tmp/changed.json"
	same "MTP of Nemotron-H: left out" 4 \
		"$(jq .planes[0].count "$tmp/out")"
	import "MTP of Nemotron-H" 0 --tp=1 --state-dtype=fp16 --mtp \
		"$tmp/changed.json"
	same "MTP of Nemotron-H" 5 "$(jq .planes[0].count "$tmp/out")"
done
import "no num_hidden_layers: Nemotron-3-Ultra" 0 --tp=1 \
	"$(config nemotron-3-ultra)"
says "no num_hidden_layers: Nemotron-3-Ultra" \
	"layers: 108, the length of /layers_block_type"

# --- numbers that are none ---

sed 's/Infinity/-Infinity, NaN/' "$(config bamba-9b)" >"$tmp/changed.json"
import "bare Infinity where it does not matter" 0 --tp=1 $bf16 \
	"$tmp/changed.json"
same "bare Infinity where it does not matter" 62287360 \
	"$(jq .row_bytes "$tmp/out")"
for word in Infinity -Infinity NaN 1e+308; do
	sed "s/\"mamba_d_state\": 128/\"mamba_d_state\": $word/" \
		"$(config bamba-9b)" >"$tmp/changed.json"
	import "$word where it matters" 2 --tp=1 $bf16 "$tmp/changed.json"
	says "$word where it matters" "changed.json: /mamba_d_state: is $word"
done
"$kvplan" plan "$(config bamba-9b)" >"$tmp/out" 2>"$tmp/err"
same "a geometry is strict JSON: exit" 2 $?
says "a geometry is strict JSON" "expected a value"

# --- widths ---

unchanged 'mamba_d_head "auto"' bamba-9b '.mamba_d_head = 64' $bf16
unchanged 'mamba_d_head absent' bamba-9b 'del(.mamba_d_head)' $bf16
unchanged "head_dim null is hidden / heads" jamba-1.5-mini \
	'.head_dim = null' --state-dtype=bf16
changed "head_dim is not hidden / heads: gpt-oss" gpt-oss-120b . \
	"$plane" '["full",18,32768,"sliding",18,32768]' --kv-dtype=bf16
changed "attention_head_dim" nemotron-h-56b '.attention_head_dim = 64' \
	"$plane" '["full",10,32768]' --state-dtype=fp16
changed "keys and values of different widths" llama-3.1-70b \
	'.head_dim = 192 | .v_head_dim = 128' "$plane" \
	'["full",80,81920]'
unchanged "head_dim 72 of Kimi-Linear" kimi-linear-48b-a3b 'del(.head_dim)'
unchanged "kv heads of Kimi-Linear" kimi-linear-48b-a3b \
	'.num_key_value_heads = 1'
unchanged "intermediate_size of Jamba is the MLP's" jamba-1.5-mini \
	'.intermediate_size = 8192' --state-dtype=bf16
unchanged "mamba_d_ssm is not expand x hidden" falcon-h1-34b \
	'.mamba_expand = 2' $bf16
changed "mamba_d_ssm null is expand x hidden" falcon-h1-34b \
	'.mamba_d_ssm = null | .mamba_expand = 2 | .mamba_n_heads = 80' \
	.row_bytes $((72 * (3 * (10240 + 2 * 2 * 256) + 80 * 128 * 256) * 2)) \
	$bf16
unchanged "Zamba2 in its other spelling" zamba2-7b \
	'.mamba_d_state = .state_size | .mamba_expand = .expansion_factor |
	 .mamba_d_conv = .conv_dimension |
	 del(.state_size, .expansion_factor, .conv_dimension)' \
	--state-dtype=bf16
unchanged "Zamba2 in both spellings" zamba2-7b \
	'.mamba_d_state = .state_size' --state-dtype=bf16
unchanged "n_mamba_heads of Zamba2" zamba2-7b \
	'.n_mamba_heads = 112 | del(.mamba_headdim)' --state-dtype=bf16
unchanged "kv_channels of Zamba2" zamba2-7b '.kv_channels = 99' \
	--state-dtype=bf16
unchanged "expand of Nemotron-H" nemotron-h-8b '.expand = 7' \
	--state-dtype=fp16
unchanged "n_group is the router's, n_groups the mixer's" nemotron-h-8b \
	'.n_group = 1' --state-dtype=fp16
unchanged "n_group of Ring" ring-mini-linear-2.0 '.n_group = 3' \
	--state-dtype=bf16
unchanged "num_local_experts of Granite" granite-4.0-h-micro \
	'.num_local_experts = 64' $bf16
changed "nk x dk is not nv x dv" qwen3-next-80b-a3b \
	'.linear_key_head_dim = 64 | .linear_value_head_dim = 256' \
	.row_bytes $((36 * (3 * (2 * 16 * 64 + 32 * 256) + 32 * 256 * 64) * 2)) \
	--state-dtype=bf16
changed "a group for each rank: Falcon-H1" falcon-h1-34b . .row_bytes \
	$((72 * (3 * (4096 + 2 * 4 * 256) / 4 + 8 * 128 * 256) * 2)) $bf16 \
	--tp=4

# --- what makes a model hybrid ---

change granite-4.0-h-micro '.layer_types |= map("attention")'
import "mamba_* keys make no hybrid: Granite" 0 --tp=1 --kv-dtype=bf16 \
	"$tmp/changed.json"
same "mamba_* keys make no hybrid: Granite" '[0,null,40]' "$(jq -c \
	'[.execution_rows, .row_bytes, .planes[0].count]' "$tmp/out")"
for indices in '= null' '= []' '|= empty'; do
	change bamba-9b "if \"$indices\" == \"|= empty\" then
		del(.attn_layer_indices) else
		.attn_layer_indices $indices end"
	import "Bamba without attention ($indices)" 1 --tp=1 \
		--conv-dtype=bf16 --state-dtype=bf16 "$tmp/changed.json"
	says "Bamba without attention ($indices)" \
		"the model has no plane" "rows alone: 68730880 B each"
	[ ! -s "$tmp/out" ] && pass || fail "Bamba: wrote a geometry"
done

# --- Gemma-3n and Gemma-4 ---

gemma4='{model_type: "gemma4", text_config: {model_type: "gemma4_text",
	dtype: "bfloat16", num_hidden_layers: 6, hidden_size: 64,
	num_attention_heads: 8, num_key_value_heads: 4, head_dim: 16,
	global_head_dim: 32, num_kv_shared_layers: 0, sliding_window: 512,
	layer_types: ["sliding_attention", "sliding_attention",
	"full_attention", "sliding_attention", "sliding_attention",
	"full_attention"]}}'
changed "full layers of Gemma-4 have global_head_dim" qwen3-32b "$gemma4" \
	"$plane" '["full",2,8192,"sliding",4,4096]'
changed "the last layers share" qwen3-32b \
	"$gemma4 | .text_config.num_kv_shared_layers = 2" "$plane" \
	'["full",1,8192,"sliding",3,4096]'
changed "num_global_key_value_heads" qwen3-32b "$gemma4 | .text_config +=
	{num_global_key_value_heads: 2, attention_k_eq_v: true}" "$plane" \
	'["full",2,4096,"sliding",4,4096]'
changed "the last layers of Gemma-3n share" qwen3-32b "$gemma4 |
	.text_config |= (del(.global_head_dim) | .model_type = \"gemma3n_text\"
	| .num_kv_shared_layers = 3)" "$plane" \
	'["full",1,4096,"sliding",2,4096]'

# --- types ---

changed "quantization_config is about weights" deepseek-v3 . "$plane" \
	'["mla",61,18432]'
changed "kv_cache_scheme null" kimi-k3 . .planes[0].bytes_per_page 18432
changed "fp8 of sparse MLA is fp8_ds_mla" deepseek-v3.2 . "$plane" \
	'["mla",61,10496,"indexer",61,2112]' --kv-dtype=fp8_ds_mla
changed "scales per token and head" llama-3.1-70b . "$plane" \
	"[\"full\",80,$((16 * 8 * (256 + 8)))]" --kv-dtype=int8_per_token_head
changed "nvfp4" llama-3.1-70b . "$plane" \
	"[\"full\",80,$((16 * 8 * 2 * (64 + 8)))]" --kv-dtype=nvfp4
changed "mamba_ssm_cache_dtype" nemotron-h-8b \
	'.mamba_ssm_cache_dtype = "float32"' .row_bytes 102137856
changed "the option wins over the config's state" qwen3.5-27b . .row_bytes \
	$((48 * (30720 + 786432) * 2)) --state-dtype=bf16
changed "conv in fp32" lfm2-1.2b . .row_bytes 163840 --conv-dtype=fp32

# --- speculative tokens: rows of conv where the engine keeps them ---

changed "spec tokens of a delta net" qwen3.5-27b . .row_bytes \
	$((48 * (10 * 10240 * 2 + 786432 * 4))) --spec-tokens=7
changed "spec tokens of Mamba-2" nemotron-h-8b . .row_bytes \
	$((24 * ((3 + 2) * (8192 + 2048) + 1048576) * 2)) --spec-tokens=2 \
	--state-dtype=fp16
changed "spec tokens of KDA" kimi-linear-48b-a3b . .row_bytes 43417600 \
	--spec-tokens=7
says "spec tokens of KDA" "newer ones keep"
changed "spec tokens of Mamba-1" jamba-1.5-mini . .row_bytes 8716288 \
	--spec-tokens=7 --state-dtype=bf16
