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
	query "$trap_name" "$expected" "$tmp/out" "$query"
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

unchanged "text_config before llm_config" qwen3.5-27b \
	'.llm_config = {num_hidden_layers: 1}'

# --- names of keys ---

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
changed "Gemma-2 is full in every second layer" gemma-3-27b \
	'.text_config.model_type = "gemma2"' "$plane" \
	'["full",31,131072,"sliding",31,131072]'
changed "layer_types of Mistral" llama-3.1-70b \
	'.model_type = "mistral" | .sliding_window = 4096 | .layer_types =
	 [range(80) | if . < 20 then "full_attention" else
	 "sliding_attention" end]' "$plane" \
	'["full",20,65536,"sliding",60,65536]'
unchanged "_sliding_window_pattern for sliding_window_pattern" \
	gemma-3-27b-classdump '.text_config |= (._sliding_window_pattern =
	.sliding_window_pattern | del(.sliding_window_pattern))'
changed "_sliding_window_pattern is read" gemma-3-27b \
	'.text_config._sliding_window_pattern = 4' "$plane" \
	'["full",15,131072,"sliding",47,131072]'
change gemma-3-27b-classdump '.text_config._sliding_window_pattern = 4'
import "the two have to agree" 2 --tp=1 "$tmp/changed.json"
says "the two have to agree" "/text_config/_sliding_window_pattern: makes"
unchanged "words of a newer Nemotron-H" nemotron-h-8b \
	'.layers_block_type = (.hybrid_override_pattern | split("") |
	 map({"M": "linear_attention", "*": "full_attention", "-": "mlp"}[.])) |
	 del(.hybrid_override_pattern)' --state-dtype=fp16
changed "every layer of Mistral slides" llama-3.1-70b \
	'.model_type = "mistral" | .sliding_window = 4096' "$plane" \
	'["sliding",80,65536]'
unchanged "a null window slides nothing" llama-3.1-70b \
	'.model_type = "mistral" | .sliding_window = null'

# --- lists and MTP layers ---

import "V4: 44 entries for 43 layers" 0 --tp=1 --kv-dtype=fp8 \
	"$(config deepseek-v4-flash)"
query "V4: 44 entries for 43 layers" '[21,21,20]' \
	"$tmp/out" '[.planes[].count]'
import "V4: its MTP layer keeps a window alone" 0 --tp=1 --kv-dtype=fp8 \
	--mtp "$(config deepseek-v4-flash)"
query "V4: its MTP layer keeps a window alone" '[21,21,20]' \
	"$tmp/out" '[.planes[].count]'
says "V4: its MTP layer keeps a window alone" \
	"3 of ratio 0, a window alone: 0-1,43"
for mtp in "" --mtp=0; do
	import "MTP layers are left out ($mtp)" 0 --tp=1 $mtp \
		"$(config deepseek-v3)"
	query "MTP layers are left out ($mtp)" 61 \
		"$tmp/out" .planes[0].count
	says "MTP layers are left out ($mtp)" \
		"MTP: /num_nextn_predict_layers is 1, left out"
done
for mtp in --mtp --mtp=1; do
	import "MTP layers when asked for ($mtp)" 0 --tp=1 $mtp \
		"$(config deepseek-v3.2)"
	query "MTP layers when asked for ($mtp)" '[62,62]' \
		"$tmp/out" '[.planes[].count]'
done
import "MTP of Qwen3.5" 0 --tp=1 --mtp "$(config qwen3.5-27b)"
query "MTP of Qwen3.5" '[17,153944064]' \
	"$tmp/out" '[.planes[0].count, .row_bytes]'
for key in '.mtp_hybrid_override_pattern = "*E"' \
	'.mtp_layers_block_type = ["attention", "moe"]'; do
	change nemotron-h-8b ".num_nextn_predict_layers = 1 | $key"
	import "MTP of Nemotron-H" 0 --tp=1 --state-dtype=fp16 \
		"$tmp/changed.json"
	query "MTP of Nemotron-H: left out" 4 \
		"$tmp/out" .planes[0].count
	import "MTP of Nemotron-H" 0 --tp=1 --state-dtype=fp16 --mtp \
		"$tmp/changed.json"
	query "MTP of Nemotron-H" 5 "$tmp/out" .planes[0].count
done
for both in '.mtp_layers_block_type = ["attention", "moe"]' \
	'.mtp_layers_block_type = ["full_attention", "mlp"]'; do
	change nemotron-h-8b ".num_nextn_predict_layers = 1 |
		.mtp_hybrid_override_pattern = \"*E\" | $both"
	import "MTP steps in both spellings" 0 --tp=1 --state-dtype=fp16 \
		--mtp "$tmp/changed.json"
	query "MTP steps in both spellings" 5 \
		"$tmp/out" .planes[0].count
done
changed "more than one MTP layer, of more than two steps" nemotron-h-8b \
	'.num_nextn_predict_layers = 2 | .mtp_hybrid_override_pattern = "*E*"' \
	.planes[0].count 8 --state-dtype=fp16 --mtp
changed "one of them" nemotron-h-8b \
	'.num_nextn_predict_layers = 2 | .mtp_hybrid_override_pattern = "*E*"' \
	.planes[0].count 6 --state-dtype=fp16 --mtp=1
change llama-3.1-70b '.num_nextn_predict_layers = 1'
import "MTP layers that the family does not know" 0 --tp=1 \
	"$tmp/changed.json"
says "MTP layers that the family does not know" "MTP: /num_nextn_predict" \
	"left out; family grouped does not know MTP layers"
import "MTP layers of another stage" 0 --tp=1 --stage=1/4 --mtp \
	"$(config deepseek-v3)"
says "MTP layers of another stage" "on the last stage only: not on this one"
import "no num_hidden_layers: Nemotron-3-Ultra" 0 --tp=1 \
	"$(config nemotron-3-ultra)"
says "no num_hidden_layers: Nemotron-3-Ultra" \
	"layers: 108, the length of /layers_block_type"

# --- numbers that are none ---

sed 's/Infinity/-Infinity, NaN/' "$(config bamba-9b)" >"$tmp/changed.json"
import "bare Infinity where it does not matter" 0 --tp=1 $bf16 \
	"$tmp/changed.json"
query "bare Infinity where it does not matter" 62287360 \
	"$tmp/out" .row_bytes
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
# Whose rule it is where there is no key: class_says TYPE CLASS JQ EXPECTED
class_says()
{
	changed "no key: $1" "$2" "$4" "$plane" "$5" $6
	says "no key: $1" "$3"
}
class_says "Gemma-3 has 256" gemma-3-27b \
	"head_dim key; 256, the default of Gemma3TextConfig in transformers" \
	'.text_config |= (del(.head_dim) | .hidden_size = 3840 |
	 .num_attention_heads = 16 | .num_key_value_heads = 8 |
	 .num_hidden_layers = 48)' \
	"[\"full\",8,$((16 * 8192)),\"sliding\",40,$((16 * 8192))]"
class_says "gpt-oss has 64, not 45" gpt-oss-120b \
	"head_dim key; 64, the default of GptOssConfig in transformers" \
	'del(.head_dim)' '["full",18,32768,"sliding",18,32768]' --kv-dtype=bf16
class_says "Qwen-3 has 128" qwen3-32b \
	"head_dim key; 128, the default of Qwen3Config in transformers" \
	'del(.head_dim)' '["full",64,65536]'
class_says "Qwen3-Next has 256" qwen3-next-80b-a3b \
	"head_dim key; 256, the default of Qwen3NextConfig in transformers" \
	'del(.head_dim)' '["full",12,32768]' --state-dtype=bf16
class_says "Qwen-3.5 has 256" qwen3.5-27b \
	"head_dim key; 256, the default of Qwen3_5TextConfig in transformers" \
	'del(.text_config.head_dim)' '["full",16,65536]'
class_says "Nemotron-H-8B shares 4096" nemotron-h-8b \
	"4096 / num_attention_heads 32 = 128, which is the default" \
	. '["full",4,65536]' --state-dtype=fp16
for type in gemma2/Gemma2Config gemma3n_text/Gemma3nTextConfig \
	gemma4_text/Gemma4TextConfig; do
	class_says "$type has 256" gemma-3-27b \
		"head_dim key; 256, the default of ${type#*/} in transformers" \
		".text_config |= (del(.head_dim) | .num_kv_shared_layers = 0 |
		 .model_type = \"${type%/*}\" | .layer_types =
		 [range(62) | \"sliding_attention\"]) |
		 if \"$type\" == \"gemma2/Gemma2Config\" then
		 del(.text_config.num_kv_shared_layers) else . end" \
		"[\"sliding\",62,$((16 * 16 * 512 * 2))]"
done
for type in llama/LlamaConfig granite/GraniteConfig olmo/OlmoConfig \
	granitemoe/GraniteMoeConfig olmo2/Olmo2Config phi3/Phi3Config; do
	for how in 'del(.num_key_value_heads)' \
		'.num_key_value_heads = null'; do
		class_says "${type%/*} has all heads" llama-3.1-70b \
			"num_attention_heads 64, the rule of ${type#*/} in" \
			".model_type = \"${type%/*}\" | $how" \
			'["full",80,524288]'
	done
done
class_says "Granite-H has all heads" granite-4.0-h-micro \
	"num_attention_heads 32, the rule of GraniteMoeHybridConfig in" \
	'del(.num_key_value_heads)' '["full",4,131072]' "$bf16"
class_says "Zamba2 has all heads" zamba2-7b \
	"num_attention_heads 32, the rule of Zamba2Config in transformers" \
	'del(.num_key_value_heads)' '["shared",13,458752]' --state-dtype=bf16
class_says "--as has its family's class" llama-3.1-70b \
	"the rule of LlamaConfig in transformers" \
	'.model_type = "brand_new"' '["full",80,65536]' --as=grouped
class_says "a window of Mistral" llama-3.1-70b \
	"sliding_window key; 4096, the default of MistralConfig" \
	'.model_type = "mistral"' '["sliding",80,65536]'
class_says "no window of Mixtral" llama-3.1-70b \
	"as family window has them without a window" \
	'.model_type = "mixtral"' '["full",80,65536]'
class_says "a window of Qwen" qwen3-32b \
	"sliding_window key; 4096, the default of Qwen3Config" \
	'.use_sliding_window = true | .max_window_layers = 60 |
	 del(.sliding_window)' '["full",60,65536,"sliding",4,65536]'
class_says "no window where there is none" qwen3-32b \
	"use_sliding_window: true" \
	'.use_sliding_window = true | .max_window_layers = 60 |
	 .sliding_window = null' '["full",64,65536]'
class_says "no use_sliding_window" qwen3-32b \
	"false, the default of Qwen's classes" \
	'del(.use_sliding_window) | .sliding_window = 4096' \
	'["full",64,65536]'
changed "conv_dim is not hidden_size" lfm2-1.2b '.conv_dim = 1024' \
	.row_bytes 40960
changed "lightning heads of MiniMax-Text-01 in transformers" minimax-m1 \
	'.model_type = "minimax" | del(.head_dim)' .row_bytes \
	$((70 * 64 * 96 * 96 * 2)) --kv-dtype=bf16 --state-dtype=bf16
change lfm2-1.2b 'del(.conv_dim)'
import "no key: the width of LFM2" 0 --tp=1 "$tmp/changed.json"
says "no key: the width of LFM2" "width: no conv_dim; hidden_size 2048"
change granite-4.0-h-micro 'del(.mamba_n_heads)'
import "no key: heads of Mamba-2" 0 --tp=1 $bf16 "$tmp/changed.json"
says "no key: heads of Mamba-2" \
	"no mamba_n_heads; inner width 4096 / mamba_d_head 64 = 64"
import "auto" 0 --tp=1 $bf16 "$(config bamba-9b)"
says "auto" 'mamba_d_head is "auto" or absent; inner width 8192 / mamba_n_h'

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
query "mamba_* keys make no hybrid: Granite" '[0,null,40]' \
	"$tmp/out" '[.execution_rows, .row_bytes, .planes[0].count]'
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

# rows_alone NAME JQ BYTES ARG...: the model keeps rows and nothing else
rows_alone()
{
	name=$1 bytes=$3
	change "$1" "$2"
	shift 3
	import "$name without attention" 1 --tp=1 "$@" "$tmp/changed.json"
	says "$name without attention" "the model has no plane" "$bytes"
}
rows_alone qwen3-next-80b-a3b '.full_attention_interval = 49' \
	"rows alone: $((48 * 1097728)) B each, of 48" --state-dtype=bf16
rows_alone qwen3.5-27b '.text_config |= (.layer_types =
	[range(64) | "linear_attention"] | del(.full_attention_interval))' \
	"of 64 recurrent layers"
rows_alone kimi-linear-48b-a3b '.linear_attn_config |= (.full_attn_layers = []
	| .kda_layers = [range(27) + 1])' "of 27 recurrent layers"
rows_alone minimax-m1 '.attn_type_list = [range(80) | 0]' \
	"of 80 recurrent layers" --state-dtype=bf16
rows_alone nemotron-h-56b '.hybrid_override_pattern |= gsub("[*]"; "M")' \
	"of 64 recurrent layers" --state-dtype=fp16
rows_alone falcon-h1-34b '.model_type = "bamba" | .attn_layer_indices = [] |
	del(.mamba_d_ssm) | .mamba_n_heads = 80 | .mamba_expand = 2' \
	"of 72 recurrent layers" --conv-dtype=bf16 --state-dtype=bf16
rows_alone lfm2-1.2b '.full_attn_idxs = []' "of 16 recurrent layers"
rows_alone zamba2-7b '.layers_block_type |= map("mamba")' \
	"of 81 recurrent layers" --state-dtype=bf16
rows_alone deepseek-v4-flash '.compress_ratios |= map(0)' "no rows either" \
	--kv-dtype=fp8
change falcon-h1-34b '.model_type = "llama"'
import "recurrent keys of a model without such layers" 0 --tp=1 \
	--kv-dtype=bf16 "$tmp/changed.json"
says "recurrent keys of a model without such layers" \
	"not used: mamba_" "; family grouped has no recurrent layers"

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
change qwen3-32b "$gemma4 | .text_config.num_global_key_value_heads = 2"
import "other heads without attention_k_eq_v" 2 --tp=1 "$tmp/changed.json"
says "other heads without attention_k_eq_v" "attention_k_eq_v is not true"
change qwen3-32b "$gemma4 | .text_config += {num_attention_heads: 24,
	num_key_value_heads: 12, num_global_key_value_heads: 8,
	attention_k_eq_v: true}"
import "TP and the heads of full layers" 2 --tp=3 "$tmp/changed.json"
says "TP and the heads of full layers" "the kv heads of full layers, 8, must"
change qwen3-32b "$gemma4 | .text_config.num_kv_shared_layers = 6"
import "all layers share" 2 --tp=1 "$tmp/changed.json"
says "all layers share" "/num_kv_shared_layers: is 6, must be at most 5"
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

unchanged "of two keys the family's says the state's type" qwen3.5-27b \
	'.text_config.mamba_ssm_cache_dtype = "bfloat16"'

# --- what the derivation says of the rest ---

import "where keys were read" 0 --tp=1 "$(config gemma-3-27b)"
says "where keys were read" 'keys read: torch_dtype "bfloat16"' \
	'keys read under /text_config: model_type "gemma3_text"' \
	"num_key_value_heads 16" "head_dim 128" "DCP 1, by default" \
	"1 ranks on a node, by default" "pages: left to kvplan size"
# As published: vLLM's start-up message.
import "the page that vLLM makes" 0 --tp=1 "$(config qwen3.5-27b)"
says "the page that vLLM makes" "= 784, so that a page is as large"
import "the page that vLLM makes" 0 --tp=1 --spec-tokens=7 \
	"$(config qwen3.5-27b)"
says "the page that vLLM makes" "= 832, so that a page is as large"
import "the page that vLLM makes" 0 --tp=1 "$(config qwen3.5-35b-a3b)"
says "the page that vLLM makes" "= 1056, so that a page is as large"
import "a page that is large enough" 0 --tp=1 --page-tokens=784 \
	"$(config qwen3.5-27b)"
grep -q "page tokens in vLLM" "$tmp/err" && fail "raised: 784 to 784" || pass
import "the name" 0 --tp=1 --kv-dtype=fp8 --mtp --spec-tokens=2 \
	"$(config qwen3.5-27b)"
query "the name" '"qwen3.5-27b-tp1-fp8-mtp-spec2"' "$tmp/out" .name
query "rows for speculative tokens" 768 "$tmp/out" .execution_rows
says "rows for speculative tokens" "x 3 for each = 768"
import "rows for speculative tokens, said" 0 --tp=1 --spec-tokens=2 \
	--execution-rows=96 "$(config qwen3.5-27b)"
says "rows for speculative tokens, said" "these are for 32 sequences"

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
