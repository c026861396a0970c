#!/bin/sh
# Makes the geometries in this directory anew, each by one kvplan import from
# a config in tests/import/configs.  usage: make.sh [DIRECTORY], from the top
# directory; KVPLAN is the program.
kvplan=${KVPLAN:-kvplan}
to=${1:-layouts/imported}
failed=0

# import NAME CONFIG ARG...: into NAME.json
import()
{
	name=$1 config=$2
	shift 2
	"$kvplan" import -q --name="$name" -o "$to/$name.json" "$@" \
		"tests/import/configs/$config.json" || failed=1
}

import bamba-9b-tp2 bamba-9b --tp=2 --kv-dtype=bf16 \
	--conv-dtype=bf16 --state-dtype=bf16 \
	--pages=174592 --execution-rows=32 --snapshot-rows=256
import deepseek-v3.2-tp16-dcp8 deepseek-v3.2 --tp=16 --dcp=8 \
	--ranks-per-node=8 --page-tokens=128 --kv-dtype=fp8 \
	--pages=4096 --snapshot-rows=0
import deepseek-v3-tp8-dcp8 deepseek-v3 --tp=8 --dcp=8 \
	--pages=5632 --snapshot-rows=0
import deepseek-v4-flash-tp8 deepseek-v4-flash --tp=8 --kv-dtype=fp8 \
	--pages=16896 --snapshot-rows=0
import falcon-h1-34b-tp4 falcon-h1-34b --tp=4 --kv-dtype=bf16 \
	--conv-dtype=bf16 --state-dtype=bf16 \
	--pages=43520 --execution-rows=16 --snapshot-rows=256
import gemma-3-27b-classdump-tp2 gemma-3-27b-classdump --tp=2 \
	--pages=6144 --snapshot-rows=0
import gemma-3-27b-tp2 gemma-3-27b --tp=2 \
	--pages=6144 --snapshot-rows=0
import gpt-oss-120b-tp2 gpt-oss-120b --tp=2 --kv-dtype=bf16 \
	--pages=28928 --snapshot-rows=0
import granite-4.0-h-micro-tp1 granite-4.0-h-micro --tp=1 --kv-dtype=bf16 \
	--conv-dtype=bf16 --state-dtype=bf16 \
	--pages=196608 --execution-rows=64 --snapshot-rows=256
import jamba-1.5-mini-tp2 jamba-1.5-mini --tp=2 --state-dtype=bf16 \
	--pages=131072 --execution-rows=48 --snapshot-rows=1024
import kimi-k3-tp8-dcp8 kimi-k3 --tp=8 --dcp=8 \
	--pages=14336 --execution-rows=16 --snapshot-rows=128
import kimi-linear-48b-a3b-tp8-dcp8 kimi-linear-48b-a3b --tp=8 --dcp=8 \
	--pages=49920 --execution-rows=64 --snapshot-rows=1024
import lfm2-1.2b-tp1 lfm2-1.2b --tp=1 \
	--pages=87296 --execution-rows=256 --snapshot-rows=8192
import llama-3.1-70b-tp8 llama-3.1-70b --tp=8 \
	--pages=39168 --snapshot-rows=0
import minimax-m1-tp8 minimax-m1 --tp=8 --kv-dtype=bf16 --state-dtype=bf16 \
	--pages=314368 --execution-rows=64 --snapshot-rows=512
import nemotron-h-56b-tp8 nemotron-h-56b --tp=8 --state-dtype=fp16 \
	--pages=314368 --execution-rows=32 --snapshot-rows=128
import nemotron-h-8b-tp2 nemotron-h-8b --tp=2 --state-dtype=fp16 \
	--pages=196608 --execution-rows=64 --snapshot-rows=512
import qwen3-32b-tp4 qwen3-32b --tp=4 \
	--pages=24576 --snapshot-rows=0
import qwen3-next-80b-a3b-tp4-dcp2 qwen3-next-80b-a3b --tp=4 --dcp=2 \
	--state-dtype=bf16 \
	--pages=131072 --execution-rows=32 --snapshot-rows=1024
import qwen3.5-27b-tp4 qwen3.5-27b --tp=4 --mtp \
	--pages=92416 --execution-rows=16 --snapshot-rows=256
import ring-mini-linear-2.0-tp1 ring-mini-linear-2.0 --tp=1 --state-dtype=bf16 \
	--pages=196608 --execution-rows=64 --snapshot-rows=1024
import zamba2-7b-tp1 zamba2-7b --tp=1 --state-dtype=bf16 \
	--pages=5632 --execution-rows=16 --snapshot-rows=128
exit $failed
