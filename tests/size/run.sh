#!/bin/sh
# kvplan size with free memory read from GPUs, on the stand-in driver.  Run
# from the top directory; B is the build directory, CC the compiler.
B=${B:-build}
CC=${CC:-cc}
kvplan=$B/kvplan
. tests/shell.sh

# size WHAT EXIT ARG...: on the stand-in in $driver
size()
{
	what=$1 expected=$2
	shift 2
	rm -f "$tmp/report"
	LD_LIBRARY_PATH=$driver FAKE_CUDA_REPORT=$tmp/report \
		"$kvplan" size "$@" >"$tmp/out" 2>"$tmp/err"
	code=$?
	if [ "$code" -eq "$expected" ]; then
		pass
	else
		fail "$what: exit $code, not $expected: $(cat "$tmp/err")"
	fi
	[ "$expected" -eq 2 ] || same "$what: nothing is left" '[0,0,0,0,[]]' \
		"$(jq -c '[.contexts, .streams, .mappings, .handles,
			   .errors]' "$tmp/report" 2>&1)"
}

# query WHAT EXPECTED JQ
query()
{
	same "$1" "$2" "$(jq -c ".[] | $3" "$tmp/out" 2>&1)"
}

# Four ranks and small pages: 1,000 bytes are less than one of them.
geometry()
{
	jq -n '{format: "kvplan/geometry/1", name: "four", granularity: 4096,
		page_tokens: 4, execution_rows: 1, row_bytes: 8192, ranks: 4,
		dcp_group_size: 2, planes: [{name: "kv", count: 2,
					     bytes_per_page: 4096}]}' \
		>"$tmp/four.json"
}

# --- GPUs that are alike ---

alike()
{
	driver=$B/fake
	FAKE_CUDA_DEVICES=4 FAKE_CUDA_MEMORY=819200
	export FAKE_CUDA_DEVICES FAKE_CUDA_MEMORY
	size "four GPUs" 0 --gpus --json "$tmp/four.json"
	query "four GPUs" '[0,819200,0,99]' \
		'[.rank, .free_bytes, .foreign_bytes, .pages]'
	"$kvplan" size --free=819200 --json "$tmp/four.json" 2>/dev/null |
		jq '.[].foreign_bytes = 0' >"$tmp/told"
	same "four GPUs: as if told" '' "$(jq . "$tmp/out" |
		cmp - "$tmp/told" 2>&1)"
	size "with a limit and a cache" 0 --gpus --memory-limit=-100K \
		--reserve-cache=50K --json "$tmp/four.json"
	query "with a limit and a cache" '[102400,102400,614400]' \
		'[.reserve_bytes, .cache_bytes, .budget_bytes]'
	size "too little" 1 --gpus --memory-limit=8K -o "$tmp/none" \
		"$tmp/four.json"
	says "too little" "no page fits beside 1 execution rows" \
		"rank 0 has 819200 bytes free"
	size "into a file" 0 --gpus -o "$tmp/sized" "$tmp/four.json"
	same "into a file" 99 "$(jq .pages "$tmp/sized")"
	size "no such GPU" 2 --gpus=0,4 "$tmp/four.json"
	size "a GPU twice" 2 --gpus=0,0 "$tmp/four.json"
	for call in cuInit cuMemGetInfo cuDevicePrimaryCtxRetain; do
		FAKE_CUDA_FAIL=$call:1 size "$call fails" 3 --gpus \
			-o "$tmp/none" "$tmp/four.json"
	done
	FAKE_CUDA_FAIL=cuMemGetInfo:3 size "the third reading fails" 3 --gpus \
		-o "$tmp/none" "$tmp/four.json"
	same "no file of what failed" '' "$(ls "$tmp/none"* 2>/dev/null)"
	unset FAKE_CUDA_DEVICES FAKE_CUDA_MEMORY
}

# --- GPUs with different free memory ---

# uneven WHAT DEVICES FREE,... EXPECTED ARG...
uneven()
{
	about=$1 answer=$4
	FAKE_CUDA_DEVICES=$2 UNEVEN_FREE=$3 FAKE_CUDA_MEMORY=10000000
	export FAKE_CUDA_DEVICES UNEVEN_FREE FAKE_CUDA_MEMORY
	shift 4
	size "$about" 0 --json "$@" "$tmp/four.json"
	query "$about" "$answer" '[.rank, .free_bytes, .foreign_bytes]'
}

unlike()
{
	driver=$tmp/uneven
	mkdir "$driver"
	# The stand-in under another name, and in front of it uneven.c.
	"$CC" -shared -Wl,-soname,libeven.so.1 -o "$driver/libeven.so.1" \
		"$B"/tests/fake/libcuda*.o &&
	"$CC" -shared -fPIC -o "$driver/libcuda.so.1" tests/size/uneven.c \
		-L"$driver" -l:libeven.so.1 || fail "uneven.c"
	uneven "the third" 4 900000,800000,700000,800000 '[2,700000,9300000]' \
		--gpus
	uneven "the first of two" 4 900000,700000,700000,800000 \
		'[1,700000,9300000]' --gpus
	uneven "in the order listed" 4 900000,800000,700000,800000 \
		'[1,700000,9300000]' --gpus=3,2,1,0
	uneven "fewer than ranks" 4 900000,800000,100000,700000 \
		'[1,800000,9200000]' --gpus=0,1
	uneven "fewer than ranks, the first" 4 800000,900000 \
		'[0,800000,9200000]' --gpus=0,1
	uneven "more than ranks" 6 900000,800000,700000,800000,100000,0 \
		'[2,700000,9300000]' --gpus
	size "more than ranks, in words" 0 --gpus "$tmp/four.json"
	says "more than ranks, in words" "on rank 2, GPU 2, the least of 4"
	size "in words" 0 --gpus=0,2 "$tmp/four.json"
	says "in words" "free                             700,000  on rank 1, GPU 2, the least of 2" \
		"used by others                 9,300,000  of 10,000,000 bytes"
	size "refused" 1 --gpus=0,1,5,4 "$tmp/four.json"
	says "refused" "rank 2 has 0 bytes free"
	unset FAKE_CUDA_DEVICES UNEVEN_FREE FAKE_CUDA_MEMORY
}

# headroom reads the same GPUs.
headroom()
{
	driver=$tmp/uneven
	FAKE_CUDA_DEVICES=3 UNEVEN_FREE=900000000,274726912,800000000
	FAKE_CUDA_MEMORY=1000000000
	export FAKE_CUDA_DEVICES UNEVEN_FREE FAKE_CUDA_MEMORY
	for each in '--gpus 274726912 67108864 3' \
		'--gpus=2,0 800000000 100000000 2' \
		'--gpus=1 274726912 67108864 1'; do
		set -- $each
		LD_LIBRARY_PATH=$driver "$kvplan" headroom "$1" --json \
			>"$tmp/out" 2>"$tmp/err"
		same "headroom $1" "[$2,$3,$4]" "$(jq -c '[.free_bytes,
			.cap_bytes, (.gpus | length)]' "$tmp/out" 2>&1)"
	done
	LD_LIBRARY_PATH=$driver "$kvplan" headroom --gpus >"$tmp/out" \
		2>"$tmp/err"
	says "headroom in words" "GPU 1      274,726,912 bytes free, the least" \
		"cap        67,108,864 bytes: the floor, 64 MiB"
	LD_LIBRARY_PATH=$driver "$kvplan" headroom --gpus=0,7 >"$tmp/out" \
		2>"$tmp/err"
	same "headroom, no such GPU" 2 $?
	LD_LIBRARY_PATH=$B/fake FAKE_CUDA_FAIL=cuMemGetInfo:2 \
		"$kvplan" headroom --gpus >"$tmp/out" 2>"$tmp/err"
	same "headroom, no reading" 3 $?
	same "headroom, no reading: no answer" '' "$(cat "$tmp/out")"
	unset FAKE_CUDA_DEVICES UNEVEN_FREE FAKE_CUDA_MEMORY
}

no_driver()
{
	mkdir "$tmp/broken"
	: >"$tmp/broken/libcuda.so.1"
	LD_LIBRARY_PATH=$tmp/broken "$kvplan" size --gpus "$tmp/four.json" \
		>"$tmp/out" 2>"$tmp/err"
	same "no driver: exit" 3 $?
	same "no driver: no answer" '' "$(cat "$tmp/out")"
}

geometry
no_driver
if [ -r "$B/fake/libcuda.so.1" ]; then
	alike
	unlike
	headroom
else
	echo "SKIP size on GPUs: no $B/fake/libcuda.so.1"
	skipped=1
fi
close
