#!/bin/sh
# With -o a closed standard output is nothing to complain about, and the plan
# is whole although its file may get descriptor 1.
kvplan plan -q layouts/example.json >"$TMP/expected"
kvplan plan -q -o "$TMP/plan" layouts/example.json >&-
echo "exit $?"
cmp "$TMP/expected" "$TMP/plan"
kvplan plan -o "$TMP/plan" layouts/example.json 2>&- >&- <&-
echo "exit $?"
cmp "$TMP/expected" "$TMP/plan"
