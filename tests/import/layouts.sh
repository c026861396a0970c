# shellcheck shell=sh
# The geometries in layouts/imported are what their commands make, byte for
# byte, can be planned, and agree with those derived by hand.  Sourced by
# run.sh.
mkdir "$tmp/made"
KVPLAN=$kvplan sh layouts/imported/make.sh "$tmp/made" >"$tmp/out" 2>"$tmp/err"
same "layouts/imported/make.sh: exit" 0 $?
for file in layouts/imported/*.json; do
	cmp "$file" "$tmp/made/${file##*/}" >"$tmp/out" 2>&1 && pass ||
		fail "$file: $(cat "$tmp/out")"
	"$kvplan" plan -q "$file" 2>"$tmp/err" | "$B/kvcheck" - \
		>"$tmp/out" 2>&1 && pass ||
		fail "$file: no good plan: $(cat "$tmp/err" "$tmp/out")"
done
same "one layout for each config" \
	"$(ls "$here"/configs/*.json | wc -l)" "$(ls "$tmp/made" | wc -l)"
same "as many files as were made" "$(ls "$tmp/made")" \
	"$(cd layouts/imported && ls *.json)"

# What both files must say: bytes per token of each plane class, row bytes,
# ranks and groups.
facts='def bytes: if . == "8 MiB" then 8388608 else . end;
	[[.planes[] | [.count // 1, .bytes_per_page]] as $p |
	.page_tokens as $t | $p[] | [.[0], .[1] / $t]],
	(if .execution_rows > 0 then .row_bytes | bytes else 0 end), .ranks,
	.ranks_per_node // .ranks, .dcp_group_size'
while read -r imported derived; do
	same "$imported and layouts/$derived" \
		"$(jq -c "$facts" "layouts/$derived.json" | tr '\n' ' ')" \
		"$(jq -c "$facts" "layouts/imported/$imported.json" |
		   tr '\n' ' ')"
done <<'END'
deepseek-v3-tp8-dcp8 deepseek-v3-tp8-dcp8
deepseek-v3.2-tp16-dcp8 deepseek-v3.2-tp16-dcp8
falcon-h1-34b-tp4 falcon-h1-34b-tp4
jamba-1.5-mini-tp2 jamba-1.5-mini-tp2
kimi-linear-48b-a3b-tp8-dcp8 kimi-linear-48b-tp8-dcp8
lfm2-1.2b-tp1 lfm2-1.2b-tp1
llama-3.1-70b-tp8 llama-3.1-70b-tp8
minimax-m1-tp8 minimax-m1-tp8
qwen3-next-80b-a3b-tp4-dcp2 qwen3-next-80b-tp4-dcp2
ring-mini-linear-2.0-tp1 ring-mini-linear-2.0-tp1
zamba2-7b-tp1 zamba2-7b-tp1
END

# From a config to a proven plan.
"$kvplan" import -q --tp=4 --dcp=2 --state-dtype=bf16 \
	"$(config qwen3-next-80b-a3b)" 2>"$tmp/err" |
	"$kvplan" size --free=40GiB -o "$tmp/sized.json" - >"$tmp/out" \
	2>>"$tmp/err"
"$kvplan" plan -q "$tmp/sized.json" 2>>"$tmp/err" | "$B/kvcheck" - \
	>"$tmp/out" 2>&1 && pass ||
	fail "import, size, plan, prove: $(cat "$tmp/err" "$tmp/out")"
