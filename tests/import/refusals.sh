# shellcheck shell=sh
# What is refused, and what the refusal says.  Sourced by run.sh.

# refused WHAT TEXT ARG...: the file as it is
refused()
{
	what=$1 text=$2
	shift 2
	import "$what" 2 "$@"
	says "$what" "$text"
	[ ! -s "$tmp/out" ] && pass || fail "$what: wrote a geometry"
}

# refused_change WHAT NAME JQ TEXT ARG...
refused_change()
{
	what=$1 text=$4
	change "$2" "$3"
	shift 4
	refused "$what" "$text" --tp=1 "$@" "$tmp/changed.json"
}

# --- splits ---

refused "query heads" "must be a multiple of TP; legal: 1, 2, 4" --tp=8 \
	$bf16 "$(config falcon-h1-34b)"
change nemotron-h-8b '.num_attention_heads = 48 | .num_key_value_heads = 12 |
	.head_dim = 128 | .mamba_num_heads = 96'
refused "groups" "the Mamba-2 groups, 8, must be a multiple of TP or below" \
	--tp=3 --state-dtype=fp16 "$tmp/changed.json"
says "groups" "legal: 1, 2, 4, 12, 24, 48"
# heads NAME JQ WHAT ARG...: what TP 3 does not divide
heads()
{
	change "$1" "$2"
	what=$3
	shift 3
	refused "TP 3: $what" "$what" --tp=3 "$@" "$tmp/changed.json"
}
heads jamba-1.5-mini '.num_attention_heads = 48 | .num_key_value_heads = 12 |
	.head_dim = 128' "the inner width, 8192, must" --state-dtype=bf16
heads kimi-linear-48b-a3b '.num_attention_heads = 48' "the KDA heads, 32, must"
heads lfm2-1.2b '.num_attention_heads = 48 | .num_key_value_heads = 12 |
	.head_dim = 64' "the width of the convolution, 2048, must"
heads qwen3.5-27b '.text_config |= (.num_key_value_heads = 12 |
	.linear_num_key_heads = 15 | .linear_num_value_heads = 32)' \
	"linear_num_value_heads, 32, must"
change llama-3.1-70b '.num_attention_heads = 48 | .head_dim = 128'
refused "kv heads" "num_key_value_heads, 8, must be a multiple or a divisor" \
	--tp=3 "$tmp/changed.json"
says "kv heads" "legal: 1, 2, 4, 8, 16, 24, 48"
refused "key heads" "linear_num_key_heads, 16" --tp=12 \
	"$(config qwen3.5-27b)"
refused "more ranks than a format has" "--tp=2000: must be a whole number from 1 to 1024" \
	--tp=2000 "$(config deepseek-v3)"
refused "no TP" "--tp: missing" "$(config deepseek-v3)"
refused "nodes" "--ranks-per-node=3: must divide TP 8; legal: 1, 2, 4, 8" \
	--tp=8 --ranks-per-node=3 "$(config deepseek-v3)"
refused "DCP divides TP" "--dcp=3: must divide TP (TP 8" --tp=8 --dcp=3 \
	"$(config deepseek-v3)"
says "DCP divides TP" "legal: 1, 2, 4, 8"
refused "DCP across nodes" "must divide the ranks of a node" --tp=8 --dcp=8 \
	--ranks-per-node=4 "$(config deepseek-v3)"
refused "DCP needs ranks beyond the kv heads" "needs more ranks than kv heads" \
	--tp=8 --dcp=2 "$(config llama-3.1-70b)"
says "DCP needs ranks beyond the kv heads" "legal: 1"
refused "DCP beyond TP / kv heads" "must be at most TP / kv heads" --tp=16 \
	--dcp=4 "$(config llama-3.1-70b)"
says "DCP beyond TP / kv heads" "legal: 1, 2"
import "DCP within TP / kv heads" 0 --tp=16 --dcp=2 "$(config llama-3.1-70b)"
refused_change "DCP divides query heads / kv heads" llama-3.1-70b \
	'.num_attention_heads = 24 | .hidden_size = 3072' \
	"must divide query heads / kv heads" --tp=24 --dcp=2
refused "DCP with sliding layers" "no vLLM splits sliding layers" --tp=32 \
	--dcp=2 "$(config gemma-3-27b)"
refused "DCP of V4" "no source states how" --tp=8 --dcp=2 --kv-dtype=fp8 \
	"$(config deepseek-v4-flash)"
import "DCP of a hybrid" 0 --tp=4 --dcp=2 --state-dtype=bf16 \
	"$(config qwen3-next-80b-a3b)"
says "DCP of a hybrid" "vLLM v0.19 refuses DCP"

# --- pipeline stages ---

import "stage 1" 0 --tp=1 --stage=1/4 "$(config kimi-linear-48b-a3b)"
query "stage 1" '[1,13025280,"kimi-linear-48b-a3b-tp1-stage1of4"]' \
	"$tmp/out" '[.planes[0].count, .row_bytes, .name]'
says "stage 1" "layers 0 to 6, as vLLM splits them; SGLang gives"
sum=0
for stage in 1 2 3 4; do
	import "stage $stage" 0 --tp=1 --stage=$stage/4 \
		"$(config kimi-linear-48b-a3b)"
	row=$(jq .row_bytes "$tmp/out")
	sum=$((sum + ${row:-0}))
done
same "stages add up" 43417600 "$sum"
says "vLLM gives the middle stages more" "layers 21 to 26"
import "layers of each stage" 0 --tp=1 --stage=2/3,24 \
	"$(config kimi-linear-48b-a3b)"
says "layers of each stage" "layers 3 to 26, by the given numbers"
import "a stage without rows" 0 --tp=1 --stage=2/3,1,23 \
	--execution-rows=8 --snapshot-rows=4 "$(config kimi-linear-48b-a3b)"
query "a stage without rows" '[0,0,null,1]' "$tmp/out" '[.execution_rows,
	.snapshot_rows, .row_bytes, .planes[0].count]'
import "a stage without planes" 1 --tp=1 --stage=1/3,1,23 -o "$tmp/new" \
	"$(config kimi-linear-48b-a3b)"
says "a stage without planes" "stage 1 of 3, layers 0 to 2, has no plane" \
	"rows alone: 6512640 B each, of 3 recurrent layers" \
	"3 recurrent: 0-2" "stages with planes: 2, 3"
[ ! -e "$tmp/new" ] && pass || fail "a stage without planes: wrote a file"
import "MTP layers are the last stage's" 0 --tp=1 --stage=4/4 --mtp \
	"$(config deepseek-v3)"
query "MTP layers are the last stage's" 16 "$tmp/out" .planes[0].count
import "MTP layers are not an earlier stage's" 0 --tp=1 --stage=1/4 --mtp \
	"$(config deepseek-v3)"
query "MTP layers are not an earlier stage's" 15 \
	"$tmp/out" .planes[0].count
for stage in 0/4 5/4 1/0 /4 1 1/ 1/4x 1/2,x a/b 1/1000000000000 1/20,8 \
	1/27,0 28/28; do
	import "--stage=$stage" 2 --tp=1 --stage=$stage \
		"$(config kimi-linear-48b-a3b)"
done

# --- models ---

refused_change "an unknown model_type" llama-3.1-70b \
	'.model_type = "brand_new"' \
	'/model_type: is "brand_new", which no family names'
import "--as" 0 --tp=1 --as=grouped "$tmp/changed.json"
refused "no model_type" "/model_type: missing" --tp=1 - <<'END'
{"num_hidden_layers": 2}
END
refused "--as of nobody" "--as=nobody: no such family" --tp=1 --as=nobody \
	"$(config llama-3.1-70b)"
refused "--as and its sensitive keys" "/kv_lora_rank: makes attention MLA" \
	--tp=1 --as=grouped "$(config deepseek-v3)"
refused "--mtp without such layers" "family grouped does not know MTP" --tp=1 \
	--mtp "$(config llama-3.1-70b)"
refused_change "--mtp of a family that knows none" llama-3.1-70b \
	'.num_nextn_predict_layers = 1' "family grouped does not know MTP" \
	--mtp
refused "--mtp of 0 layers" "(num_nextn_predict_layers)" --tp=1 --mtp \
	"$(config kimi-linear-48b-a3b)"
refused "more MTP layers than stated" "states 1" --tp=1 --mtp=2 \
	"$(config deepseek-v3)"

refused_change "MTP layers that no source describes" kimi-linear-48b-a3b \
	'.num_nextn_predict_layers = 1' "no source states what an MTP layer" \
	--mtp
refused_change "the same of Ring" ring-mini-linear-2.0 \
	'.num_nextn_predict_layers = 1' "no source states what an MTP layer" \
	--mtp --state-dtype=bf16
refused_change "a list that is neither with nor without MTP layers" \
	deepseek-v4-flash '.num_nextn_predict_layers = 2' \
	"has 44 entries, must have one for each of the 43" --kv-dtype=fp8
for key in '.mtp_hybrid_override_pattern = "M*" |
	.mtp_layers_block_type = ["attention"]' \
	'.mtp_hybrid_override_pattern = "*E" |
	.mtp_layers_block_type = ["attention"]' \
	'.mtp_hybrid_override_pattern = "*" |
	.mtp_layers_block_type = ["mamba"]'; do
	refused_change "MTP steps that contradict" nemotron-h-8b \
		".num_nextn_predict_layers = 1 | $key" \
		"/mtp_layers_block_type: states other steps than mtp_hybrid" \
		--state-dtype=fp16 --mtp
done
for key in '.mtp_hybrid_override_pattern = ""' '.mtp_layers_block_type = []' \
	'.mtp_hybrid_override_pattern = "" | .mtp_layers_block_type = []'; do
	refused_change "MTP steps that are none: $key" nemotron-h-8b \
		".num_nextn_predict_layers = 1 | $key" \
		"is empty; an MTP layer has at least one step" \
		--state-dtype=fp16 --mtp
done
refused_change "a pattern of layers and MTP steps" nemotron-h-8b \
	'.num_nextn_predict_layers = 1 | .hybrid_override_pattern += "*"' \
	"has 53 entries, must have one for each of the 52" --state-dtype=fp16
refused_change "a list that may have MTP layers: how many are the model's" \
	qwen3.5-27b '.text_config |= (del(.num_hidden_layers,
	.full_attention_interval) | .layer_types += ["full_attention"])' \
	"/text_config/num_hidden_layers: missing; layer_types has 65"
refused_change "the same of V4" deepseek-v4-flash 'del(.num_hidden_layers)' \
	"/num_hidden_layers: missing; compress_ratios has 44" --kv-dtype=fp8
refused_change "an unknown model in a known one" gemma-3-27b \
	'.text_config.model_type = "brand_new"' \
	'/text_config/model_type: is "brand_new", which no family names'
refused_change "an unknown model in an unknown one" gemma-3-27b \
	'.model_type = "other" | .text_config.model_type = "brand_new"' \
	'/text_config/model_type: is "brand_new"'
refused_change "no model_type in either" gemma-3-27b \
	'del(.model_type, .text_config.model_type)' '/model_type: missing'
refused "a geometry" '/format: is "kvplan/geometry/1", which kvplan made' \
	--tp=1 layouts/example.json

# --- what a class has where there is no key ---

# Whose class has the number of one model among many, or is not known.
while read -r name more; do
	refused_change "$name: kv heads are asked for" "$name" \
		'del(.num_key_value_heads) |
		 del(.text_config?.num_key_value_heads?)' \
		"num_key_value_heads: missing" $more
	refused_change "$name: null kv heads are asked for" "$name" \
		'(.text_config // .).num_key_value_heads = null' \
		"num_key_value_heads: missing" $more
done <<'END'
qwen3-32b
qwen3.5-27b
qwen3-next-80b-a3b --state-dtype=bf16
gemma-3-27b
gpt-oss-120b --kv-dtype=bf16
nemotron-h-8b --state-dtype=fp16
jamba-1.5-mini --state-dtype=bf16
falcon-h1-34b --kv-dtype=bf16 --conv-dtype=bf16 --state-dtype=bf16
bamba-9b --kv-dtype=bf16 --conv-dtype=bf16 --state-dtype=bf16
minimax-m1 --kv-dtype=bf16 --state-dtype=bf16
ring-mini-linear-2.0 --state-dtype=bf16
lfm2-1.2b
END
for type in mistral mixtral starcoder2 qwen2 qwen2_moe qwen3 qwen3_moe; do
	refused_change "$type: kv heads are asked for" llama-3.1-70b \
		".model_type = \"$type\" | .sliding_window = null |
		 .head_dim = 128 | del(.num_key_value_heads)" \
		"/num_key_value_heads: missing"
done
refused_change "kv heads of an unknown class" llama-3.1-70b \
	'.sliding_window = null | del(.num_key_value_heads)' \
	"/num_key_value_heads: missing" --as=window
while read -r name more; do
	refused_change "$name: head_dim is asked for" "$name" \
		'del(.head_dim, .attention_head_dim)' "/head_dim: missing" $more
done <<'END'
falcon-h1-34b --kv-dtype=bf16 --conv-dtype=bf16 --state-dtype=bf16
minimax-m1 --kv-dtype=bf16 --state-dtype=bf16
ring-mini-linear-2.0 --state-dtype=bf16
END
refused_change "head_dim of Qwen3-MoE" qwen3-32b \
	'.model_type = "qwen3_moe" | del(.head_dim)' "/head_dim: missing"
refused_change "head_dim where classes differ" qwen3-32b \
	'.model_type = "brand_new" | del(.head_dim)' "/head_dim: missing" \
	--as=qwen
refused_change "hidden / heads is not what the class has" nemotron-nano-9b-v2 \
	'del(.head_dim)' \
	"is 112, but 128 is the default of NemotronHConfig" \
	--state-dtype=fp16
for name in qwen3-32b qwen3.5-27b gemma-3-27b; do
	refused_change "$name: a head_dim of null is nobody's" $name \
		'(.text_config // .).head_dim = null' "head_dim: missing"
done
refused_change "upper layers slide, but which" qwen3-32b \
	'.use_sliding_window = true | .sliding_window = 4096 |
	 del(.max_window_layers)' "/max_window_layers: missing; use_sliding"
refused_change "a window where classes differ" llama-3.1-70b . \
	"/sliding_window: missing; family window needs this key, null where" \
	--as=window
refused_change "sliding layers of no window" gemma-3-27b \
	'.text_config.sliding_window = null' "/sliding_window: missing"
refused_change "mamba_d_ssm is not expand x hidden where it is absent" \
	falcon-h1-34b 'del(.mamba_d_ssm)' "/mamba_d_ssm: missing" $bf16

# --- sensitive keys: one of each kind ---

for key in '.kv_lora_rank = 512' '.index_topk = 2048' \
	'.num_kv_shared_layers = 4' '.global_head_dim = 512' \
	'.block_configs = [{}]' '.attention_chunk_size = 8192' \
	'.sliding_window = 4096' '.use_cla = true' \
	'.hybrid_override_pattern = "M*"' '.full_attention_interval = 4' \
	'.swa_head_dim = 1' '.cross_attention_layers = [3]' \
	'.linear_attn_config = {}' '.multi_query_group_num = 2' \
	'._sliding_window_pattern = 6' '.sliding_window_size = 512' \
	'.window_size = 512' '.attention_k_eq_v = true' '.head_size = 64' \
	'.attn_config = {kv_n_heads: 1}' '.n_kv_heads = 1' '.d_kv = 64' \
	'.block_types = ["attention"]' '.hybrid_layer_ids = [1]' \
	'.attention_types = [[["global"], 2]]' '.ssm_cfg = {layer: 1}' \
	'.use_mamba = true' '.qk_head_dim = 192' '.kv_channels = 64' \
	'.num_kv_heads = 8' '.n_head_kv = 8' '.num_query_groups = 8' \
	'.num_attention_groups = 8' '.multi_query = true' \
	'.multi_query_attention = true' '.attention_hidden_size = 64' \
	'.num_key_value_heads_per_layer = [8]' \
	'.num_global_key_value_heads = 4' '.swa_v_head_dim = 64' \
	'.swa_num_key_value_heads = 8' '.swa_num_attention_heads = 8' \
	'.num_kv_heads_for_linear_attn = 8' '.index_head_dim = 128' \
	'.cla_share_factor = 2' '.per_layer_config = {}' \
	'.hybrid_layer_pattern = [1]' '._block_types = ["attention"]' \
	'.attn_layers = [1]' '.full_attention_layers = [1]' \
	'.use_sliding_window = true' '.interleaved_sliding_window = [1]' \
	'.attention_window_size = 64' '.local_attention_window = 64' \
	'.is_encoder_decoder = true' '.layers_block_type = ["attention"]' \
	'.attn_type_list = [1]' '.compress_ratios = [4]' \
	'.attn_layer_indices = [1]' '.full_attn_idxs = [1]' \
	'.attn_layer_period = 8' '.layer_group_size = 5' \
	'.sliding_window_pattern = 6'; do
	name=${key%% *}
	refused_change "sensitive: $key" llama-3.1-70b "$key" \
		"/${name#.}: "
	says "sensitive: $key" "family grouped does not know this key"
done
for key in '.kv_lora_rank = null' '.use_cla = false' \
	'.num_kv_shared_layers = 0' '.cross_attention_layers = []' \
	'.layer_types = null' '.sliding_window = null' '.novelty = 3' \
	'.block_types = ""' '.kv_channels = 0' '.max_window_layers = 3'; do
	unchanged "nothing to be sensitive about: $key" llama-3.1-70b "$key"
done
refused_change "sensitive: families that know the key are named" \
	llama-3.1-70b '.kv_lora_rank = 512' \
	"these do, see --as=FAMILY: mla, sparse-mla, kimi-linear"
refused_change "sensitive: no family knows the key" llama-3.1-70b \
	'.attention_chunk_size = 8192' "no family does"
refused_change "the whole is an encoder and a decoder" gemma-3-27b \
	'.is_encoder_decoder = true' "/is_encoder_decoder: adds keys"
refused_change "the whole crosses" gemma-3-27b \
	'.cross_attention_layers = [3]' "/cross_attention_layers: adds keys"

# --- layer kinds ---

refused_change "a word that is none" qwen3.5-27b \
	'.text_config.layer_types[5] = "holographic"' \
	'/text_config/layer_types/5: is "holographic", must be one of'
refused_change "a word of another family" llama-3.1-70b \
	'.layer_types = ["mamba"]' '/layer_types/0: is "mamba"'
refused_change "a word of a family that has layers without a cache" \
	llama-3.1-70b '.layer_types = ["moe"]' '/layer_types/0: is "moe"'
refused_change "a word for both of a family without recurrent layers" \
	llama-3.1-70b '.layer_types = ["hybrid"]' '/layer_types/0: is "hybrid"'
refused_change "a list that is too long" llama-3.1-70b \
	'.layer_types = [range(16449) | "attention"]' "more than 16448 layers"
refused_change "a list that is not" llama-3.1-70b \
	'.layer_types = [range(16448) | "attention"]' "has 16448 entries"
refused_change "a letter that is no letter" nemotron-h-8b \
	'.hybrid_override_pattern |= sub("M-"; "M\u00e9")' \
	"byte 1 is 0xc3, must be one of M" --state-dtype=fp16
refused_change "a letter that is none" nemotron-h-8b \
	'.hybrid_override_pattern |= sub("M-"; "Mx")' "character 1 is 'x'" \
	--state-dtype=fp16
refused_change "kinds do not sum to the layers" nemotron-h-8b \
	'.num_hidden_layers = 53' \
	"has 52 entries, must have one for each of the 53 layers" \
	--state-dtype=fp16
refused_change "two spellings disagree" qwen3.5-27b \
	'.text_config.full_attention_interval = 8' \
	"makes layer 3 recurrent, but layer_types makes it full attention"
refused_change "a layer listed twice" kimi-linear-48b-a3b \
	'.linear_attn_config.kda_layers[0] = 4' "is 4, which is listed twice"
refused_change "a layer listed nowhere" kimi-linear-48b-a3b \
	'.linear_attn_config.kda_layers |= .[1:]' "lists layer 1"
refused_change "a list from 0" kimi-linear-48b-a3b \
	'.linear_attn_config.kda_layers[0] = 0' "is 0, must be at least 1"
refused_change "an index beyond the layers" bamba-9b \
	'.attn_layer_indices[2] = 32' "is 32, must be at most 31" $bf16
refused_change "an index twice" lfm2-1.2b '.full_attn_idxs[0] = 5' \
	"is 5, which is listed twice"
refused_change "a type that is none" minimax-m1 '.attn_type_list[4] = 2' \
	"/attn_type_list/4: is 2" --kv-dtype=bf16 --state-dtype=bf16
refused_change "a ratio that is none" deepseek-v4-flash \
	'.compress_ratios[4] = 16' "/compress_ratios/4: is 16, must be 0, 4" \
	--kv-dtype=fp8
refused_change "a group that leaves layers over" ring-mini-linear-2.0 \
	'.layer_group_size = 6' "must divide num_hidden_layers, 20" \
	--state-dtype=bf16
refused_change "no offset" jamba-1.5-mini 'del(.attn_layer_offset)' \
	"/attn_layer_offset: missing" --state-dtype=bf16
refused_change "an offset beyond the period" jamba-1.5-mini \
	'.attn_layer_offset = 8' "is 8, must be at most 7" --state-dtype=bf16
refused_change "no spelling" granite-4.0-h-micro 'del(.layer_types)' \
	"which layers are of which kind: layer_types" $bf16
refused_change "no number of layers" llama-3.1-70b 'del(.num_hidden_layers)' \
	"/num_hidden_layers: missing"
refused_change "too many layers" llama-3.1-70b '.num_hidden_layers = 16385' \
	"is 16385, must be at most 16384"
refused_change "shared layers are not stated" gemma-3-27b \
	'.text_config.model_type = "gemma3n_text" | .text_config.layer_types =
	 [range(62) | "full_attention"]' "/num_kv_shared_layers: missing"

# --- numbers ---

for value in 0 -1 0.5 1e40 '"64"' '[]' null true 2147483648; do
	refused_change "a width of $value" llama-3.1-70b \
		".num_attention_heads = $value" "/num_attention_heads: "
done
refused_change "a hidden size that heads do not divide" llama-3.1-70b \
	'.hidden_size = 8191' "/hidden_size: is 8191, must be a multiple"
refused_change "kv heads that do not divide" llama-3.1-70b \
	'.num_key_value_heads = 7' "must divide num_attention_heads, 64"
refused_change "heads that do not make the inner width" granite-4.0-h-micro \
	'.mamba_n_heads = 63' "must make the inner width, 4096" $bf16
refused_change "two spellings of a width" zamba2-7b '.mamba_d_state = 65' \
	"state_size, another name of this key, is 64" --state-dtype=bf16
refused_change "a product beyond 2^53" qwen3-next-80b-a3b \
	'.linear_num_value_heads = 2147483647 |
	 .linear_value_head_dim = 2147483647' "2^53" --state-dtype=bf16
refused "a page beyond 2^53" "2^53" --tp=1 --page-tokens=2147483647 \
	"$tmp/changed.json"
refused "a key twice" "given twice" --tp=1 - <<'END'
{"model_type": "llama", "num_hidden_layers": 2, "num_hidden_layers": 3,
 "num_attention_heads": 2, "hidden_size": 64, "torch_dtype": "bfloat16"}
END

# --- types ---

for name in qwen3-next-80b-a3b jamba-1.5-mini nemotron-h-8b zamba2-7b \
	ring-mini-linear-2.0; do
	refused "$name: the state's type is asked for" \
		"does not state the state's dtype" --tp=1 "$(config $name)"
	says "$name: engines differ" "vLLM: " "SGLang: fp32"
done
says "lightning: vLLM" "the model's dtype, and v0.19 refuses fp32"
refused "the kv type is asked for" "give --kv-dtype" --tp=1 \
	"$(config gpt-oss-120b)"
refused "the conv type is asked for" "give --conv-dtype" --tp=1 \
	--kv-dtype=bf16 --state-dtype=bf16 "$(config bamba-9b)"
refused "KDA has fp32" "must be fp32, which this kind" --tp=1 \
	--state-dtype=bf16 "$(config kimi-linear-48b-a3b)"
refused "V4 in bf16" "no source defines the pages of family deepseek-v4" \
	--tp=1 "$(config deepseek-v4-flash)"
refused "a page that no ratio divides" "must be a multiple of the ratio 128" \
	--tp=1 --kv-dtype=fp8 --page-tokens=64 "$(config deepseek-v4-flash)"
refused "a state type for none" "keeps no recurrent state" --tp=1 \
	--state-dtype=fp32 "$(config llama-3.1-70b)"
refused "a conv type for none" "keeps no convolution" --tp=1 \
	--conv-dtype=bf16 "$(config llama-3.1-70b)"
refused "spec tokens for none" "no recurrent layer and so no rows" --tp=1 \
	--spec-tokens=3 "$(config llama-3.1-70b)"
refused_change "a kv type for none" minimax-m1 \
	'.attn_type_list = [range(80) | 0]' "keeps no keys and values" \
	--kv-dtype=garbage --state-dtype=bf16
refused_change "a state type in a key that nobody reads" nemotron-h-8b \
	'.mamba_ssm_dtype = "float32"' "does not state the state's dtype"
refused_change "the same of a family without such a key" jamba-1.5-mini \
	'.mamba_ssm_cache_dtype = "float32"' "does not state the state's dtype"
refused "rows for none" "no recurrent layer and so no rows" --tp=1 \
	--snapshot-rows=1 "$(config llama-3.1-70b)"
refused "a type that is none" "--kv-dtype=fp7: must be one of bf16, fp16" \
	--tp=1 --kv-dtype=fp7 "$(config llama-3.1-70b)"
refused "a state of fp8" "--state-dtype=fp8: must be one of bf16, fp16, fp32" \
	--tp=1 --state-dtype=fp8 "$(config qwen3-next-80b-a3b)"
refused "the slot of sparse MLA for heads" "is the slot of sparse MLA" \
	--tp=1 --kv-dtype=fp8_ds_mla "$(config llama-3.1-70b)"
refused "scales per head for a latent" "no source defines it" --tp=1 \
	--kv-dtype=int8_per_token_head "$(config deepseek-v3)"
refused_change "the slot of sparse MLA is for one width" deepseek-v3.2 \
	'.kv_lora_rank = 256' "not for 256 and 64" --kv-dtype=fp8
refused_change "the slot of sparse MLA is for one width of rope" \
	deepseek-v3.2 '.qk_rope_head_dim = 32' "not for 512 and 32" \
	--kv-dtype=fp8
refused_change "heads that nvfp4 does not fit" llama-3.1-70b \
	'.head_dim = 40' "must be multiples of 16" --kv-dtype=nvfp4
refused_change "heads of Zamba2 that are not twice as wide" zamba2-7b \
	'.attention_head_dim = 112' "must be 2 x hidden_size" \
	--state-dtype=bf16
refused_change "an indexer of another width" deepseek-v3.2 \
	'.index_head_dim = 64' "/index_head_dim: is 64, must be 128"
refused_change "a model in float32" llama-3.1-70b \
	'.torch_dtype = "float32"' "/torch_dtype: is float32"
refused_change "a model in something else" llama-3.1-70b \
	'.torch_dtype = "float8_e4m3fn"' '/torch_dtype: is "float8_e4m3fn"'
refused_change "two types" qwen3.5-27b '.torch_dtype = "float16"' \
	"/torch_dtype: is fp16, but another key of the config is bf16"
for key in quantization_config.kv_cache_scheme kv_cache_dtype \
	quantization_config.kv_cache_dtype kv_cache_scheme \
	quantization_config.kv_cache_quant_config \
	quantization_config.export.kv_cache_group \
	quantization_config.config_groups.group_0.kv_cache_scheme \
	quantization.kv_cache_quant_algo compression_config.kv_cache_scheme; do
	refused_change "a quantized KV cache: $key" llama-3.1-70b \
		".$key = {num_bits: 8}" "/$(echo "$key" | tr . /): the check"
	unchanged "no quantized KV cache: $key" llama-3.1-70b ".$key = null"
	unchanged "no quantized KV cache: $key" llama-3.1-70b ".$key = {}"
done
refused_change "a quantized KV cache of the whole" gemma-3-27b \
	'.quantization = {kv_cache_quant_algo: "FP8"}' \
	"/quantization/kv_cache_quant_algo: "
refused_change "a quantized KV cache" llama-3.1-70b \
	'.quantization_config = {kv_cache_scheme: {num_bits: 8}}' \
	"/quantization_config/kv_cache_scheme: "
import "a quantized KV cache, said" 0 --tp=1 --kv-dtype=fp8 \
	"$tmp/changed.json"
refused_change "use_mla false" deepseek-v3 '.use_mla = false' \
	"/use_mla: is false"

# --- texts ---

head -c 4194305 /dev/zero | tr '\0' ' ' >"$tmp/large.json"
refused "a config of 4 MiB and a byte" "has 4194305 bytes" --tp=1 \
	"$tmp/large.json"
refused "no object" "/: is a list, must be an object" --tp=1 - <<'END'
[]
END
for word in Infinit -Infinit nan infinity +Infinity -NaN --Infinity; do
	printf '{"a": %s}' "$word" >"$tmp/word.json"
	refused "no word of Python's: $word" "word.json:1:" --tp=1 \
		"$tmp/word.json"
done
refused "no JSON" "<stdin>:1:1: empty text" --tp=1 - </dev/null
