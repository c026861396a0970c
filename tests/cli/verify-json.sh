#!/bin/sh
# --format=json: one object, its keys and types as kvplan(1) says.
kvplan plan -q -o "$TMP/good" layouts/example.json
jq -c '.summary.kv_tokens = 1 | .summary.lower_bound = 1' "$TMP/good" \
	>"$TMP/bad"
sed 's/"pages": 512/"pages": 513/' layouts/example.json >"$TMP/other"
sed 's/"snapshot_rows": 6/"snapshot_rows": 60/' layouts/example.json \
	>"$TMP/rows"
shape() {
	jq -ec 'def shape: if type == "object" then map_values(shape)
		elif type == "array" then map(shape) | unique else type end;
		shape'
}
for files in good bad 'good bad' rows 'rows good' 'good good'; do
	echo "$files"
	# shellcheck disable=SC2086
	(cd "$TMP" && kvplan verify --format=json $files) >"$TMP/report"
	echo "exit $?"
	jq -ec '[.format, .verified, [.plans[] | .file, .verified]]' \
		"$TMP/report"
	shape <"$TMP/report"
done
run kvplan verify --format=json "$TMP/good"
run kvplan verify --format=text --format json "$TMP/bad"
run kvplan verify --format=json --geometry="$TMP/other" "$TMP/good"
run kvplan verify --format=json --format=text "$TMP/good"
# Names that JSON has to escape.
jq '.name = "a \"b\" \\ / \u00e9 \ud83d\ude00"' layouts/example.json \
	>"$TMP/a \"quote\" \\"
kvplan verify --format=json "$TMP/a \"quote\" \\" |
	jq -c '.plans[] | .file, .name'
kvplan verify --json "$TMP/good" >"$TMP/short"
kvplan verify --format=json "$TMP/good" | cmp - "$TMP/short"
