#!/bin/sh
# What was asked for does not fit though pages do: the answer is no, with the
# nearest that fits, and nothing is written.
cat >"$TMP/g.json" <<'END'
{"format": "kvplan/geometry/1", "name": "two planes", "page_tokens": 16,
"execution_rows": 0, "ranks": 1, "dcp_group_size": 1,
"planes": [{"name": "kv", "count": 2, "bytes_per_page": 65536}]}
END
cd "$TMP" || exit
exits() {
	"$@" >.out 2>.err
	echo "exit $?: $(cat .err)"
}
run kvplan size --free=100MiB --length=69000 g.json
kvplan size --free=100MiB --length=69000 --json g.json 2>/dev/null |
	jq -c '.[] | [.pages, .concurrency]'
# The longest that is named fits, and one token more does not.
exits kvplan size --free=100MiB --length=12800 g.json
exits kvplan size --free=100MiB --length=12801 g.json
exits kvplan size --pages=10 --length=161 g.json
exits kvplan size --tokens=69000 --length=69001 g.json
exits kvplan size --tokens=69000 --length=69008 g.json
exits kvplan size --tokens=69000 --length=69009 g.json
# What was there stays, and the standard output stays empty for -o -.
echo old >sized.json
exits kvplan size --free=100MiB --length=69000 -o sized.json g.json
cat sized.json
kvplan size --free=100MiB --length=69000 -o - g.json 2>/dev/null
echo "exit $?"
# Of several limits one has to have room for one sequence.
run kvplan size --free=1000MiB --memory-limit=-900M --memory-limit=-0G \
	--length=69000 g.json
exits kvplan size --free=1000MiB --memory-limit=-900M --memory-limit=-800M \
	--length=69000 g.json
# One that does not fit at all is an error as ever.
exits kvplan size --free=1000MiB --memory-limit=0% --memory-limit=-0G \
	--length=69000 g.json
# Rows: fewer than asked for are a warning, not a single one is no.
small | sed '/"pages"/d; /"snapshot_rows"/d' >rows.json
exits kvplan size --pages=3 --snapshots=9 rows.json
exits kvplan size --pages=1 --snapshots=9 rows.json
exits kvplan size --pages=1 --snapshots=0 rows.json
exits kvplan size --pages=1 rows.json
sed 's/4096}/4096, "alias": false}/' rows.json >apart.json
exits kvplan size --pages=100 --snapshots=9 apart.json
exits kvplan size --free=1MiB --memory-limit=40KiB --memory-limit=28KiB \
	--snapshots=9 rows.json
exits kvplan size --pages=1 --snapshots=9 --length=99 rows.json
# The limit on rows is told as what it is.
sed 's/4096}/64}/; s/: 8192/: 100/; s/y": 4096/y": 65536/' rows.json >many.json
exits kvplan size --pages=9000000 --snapshots=2097152 many.json
# Without rows there is nothing to fit: a warning.
exits kvplan size --pages=100 --snapshots=9 g.json
left_behind
