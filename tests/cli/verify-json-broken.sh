#!/bin/sh
# JSON is on stdout also where files cannot be read or judged: each has its
# entry, and the exit status is the highest.
kvplan plan -q -o "$TMP/good" layouts/example.json
jq -c '.summary.kv_tokens = 1' "$TMP/good" >"$TMP/bad"
sed 's/"snapshot_rows": 6/"snapshot_rows": 60/' layouts/example.json \
	>"$TMP/rows"
echo '{' >"$TMP/broken"
: >"$TMP/empty"
mkdir "$TMP/directory"
cd "$TMP" || exit
for files in broken nosuch empty directory rows 'good broken bad' \
	'nosuch good broken rows' 'good good nosuch'; do
	echo "verify --json $files"
	# shellcheck disable=SC2086
	kvplan verify --json $files >report
	echo "exit $?"
	jq -c '[.format, .verified], (.plans[] | [.file, .verified, .chunks,
		(.findings // [] | length), .error])' report
done
echo 'one of them is the standard input'
kvplan verify --json good - <broken | jq -c '.plans[] | [.file, .error]'
kvplan verify --json good - <&- | jq -c '.plans[] | [.file, .error]'
echo 'what they are judged by cannot be read'
run kvplan verify --json --geometry=nosuch good bad
run kvplan verify --json --limits=broken good
run kvplan verify --limits=broken good
run kvplan verify --json --limits=broken <good
