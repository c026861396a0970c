#!/bin/sh
# The waste that a plan's summary states, against a count of every byte: on
# small random geometries, always the same ones.  Run from the top directory;
# B is the build directory.
kvplan=${B:-build}/kvplan
count=50
. tests/shell.sh

# One geometry to a line.  The rows always fit: at most 4 * 9,000 bytes.
geometries()
{
	awk -v count="$count" '
	function draw(low, high)
	{
		seed = seed * 16807 % 2147483647
		return low + seed % (high - low + 1)
	}
	BEGIN {
		seed = 20261201
		for (i = 0; i < count; i++) {
			stride = draw(0, 3) ? draw(1, 9000) : 4096 * draw(1, 2)
			bytes = draw(0, 1) ? stride : draw(1, stride)
			printf "{\"format\":\"kvplan/geometry/1\"," \
				"\"name\":\"%d\",\"granularity\":%d," \
				"\"pages\":%d,\"page_tokens\":1,", \
				i, draw(0, 2) ? 4096 : 8192, draw(5, 6)
			printf "\"execution_rows\":%d,\"snapshot_rows\":%d,", \
				draw(0, 3), draw(0, 4)
			printf "\"row_bytes\":%d,\"row_stride\":%d," \
				"\"ranks\":1,\"dcp_group_size\":1,", \
				bytes, stride
			printf "\"planes\":[{\"name\":\"a\",\"count\":2," \
				"\"bytes_per_page\":%d},{\"name\":\"b\"," \
				"\"bytes_per_page\":%d}]}\n", \
				draw(2000, 4000), draw(2000, 4000)
		}
	}'
}

# A plan as "plane PAGES BYTES_PER_PAGE BACKING" and
# "rows D EXECUTION ALL BYTES STRIDE".
numbers()
{
	jq -r '. as $plan | .geometry as $g |
		(range($g.planes | length) as $i | ["plane", $g.pages,
		 $g.planes[$i].bytes_per_page, ([$plan.chunks[] |
		 select(.plane == $i) | .offset + .bytes] | max)]),
		["rows", .dedicated_bytes, $g.execution_rows,
		 $g.execution_rows + $g.snapshot_rows, $g.row_bytes,
		 $g.row_stride] | join(" ")' "$1"
}

# "ROUNDING PADDING", and what kinds of rows these are.
count_bytes()
{
	awk '
	$1 == "plane" {
		for (i = 0; i < $4; i++)
			rounding += int(i / $3) >= $2
	}
	$1 == "rows" {
		for (i = 0; i < $2; i++)
			rounding += int(i / $6) >= $4
		for (i = 0; i < $4 * $6; i++)
			padding += i % $6 >= $5
		first = $3 * $6
		if (!$2)
			kind["no-backing"]
		if ($4 > $3 && $2 > first && $2 < first + $6)
			kind["cut-row"]
		if ($4 > $3 && $2 >= first + $6)
			kind["whole-row"]
		if ($2 > $4 * $6)
			kind["all-rows"]
		if ($2 && $6 > $5)
			kind["padding"]
	}
	END {
		printf "%d %d", rounding, padding
		for (each in kind)
			printf " %s", each
		print ""
	}'
}

# The two numbers of the summary.
stated()
{
	sed -n 's/,//g
		s/^  waste *\([0-9]*\) bytes by rounding up \([0-9]*\) by .*/\1 \2/p' \
		"$1"
}

geometries >"$tmp/geometries"
while read -r geometry; do
	echo "$geometry" | "$kvplan" plan -o "$tmp/plan" - 2>"$tmp/err" ||
		fail "plan of $geometry: $(cat "$tmp/err")"
	set -- $(numbers "$tmp/plan" | count_bytes)
	same "waste of $geometry" "$1 $2" "$(stated "$tmp/err")"
	shift 2
	echo "$*" >>"$tmp/kinds"
done <"$tmp/geometries"
for kind in no-backing cut-row whole-row all-rows padding; do
	seen=$(grep -c "$kind" "$tmp/kinds")
	[ "$seen" -ge 5 ] && pass || fail "only $seen geometries with $kind"
done
close
