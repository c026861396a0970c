#!/bin/sh
# The table in layouts/README.md against the plans.
thousands() {
	awk '{ n = $1; s = ""
		while (length(n) > 3) {
			s = "," substr(n, length(n) - 2) s
			n = substr(n, 1, length(n) - 3)
		}
		printf " %s%s", n, s }'
}
for file in layouts/*.json; do
	for mode in none row span; do
		kvplan plan -q --merge="$mode" "$file" 2>/dev/null
	done | jq -s '(.[0] | .geometry.pages, .summary.kv_tokens,
		       .geometry.snapshot_rows),
		      (.[] | .summary.chunks),
		      (.[:2][] | .summary.entries.per_node | max)' >"$TMP/figures"
	printf '%s' "${file#layouts/}"
	thousands <"$TMP/figures"
	echo
done | sort >"$TMP/computed"
# The column "rows that fit" is the sixth; rows-too-many has that message.
awk -F' *[|] *' '$2 ~ /^`.*json`$/ {
	gsub(/`/, "", $2)
	print $2, $3, $4, $5, $7, $8, $9, $10, $11
}' layouts/README.md | sort >"$TMP/written"
diff "$TMP/written" "$TMP/computed" && echo "layouts/README.md is right"
