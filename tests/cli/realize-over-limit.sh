#!/bin/sh
# A plan over the table's limit: verify counts the whole node, realize the
# ranks that it realizes.  One of the node's two ranks fits.
small | sed 's/^"ranks":/"entry_limit": 30, "entry_reserve": 0, &/' \
	>"$TMP/geometry"
run kvplan plan -q --merge=none -o "$TMP/plan" "$TMP/geometry"
run kvplan verify "$TMP/plan"
run kvplan realize --ranks=0-1 "$TMP/plan"
kvplan realize --ranks=0 --json "$TMP/plan" >"$TMP/answer"
echo "exit $?"
jq -c "[.ranks[].entries]" "$TMP/answer"
