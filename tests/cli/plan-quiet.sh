#!/bin/sh
# -q leaves the summary out and keeps warnings.
run kvplan plan -q -o "$TMP/plan" layouts/example.json
run kvplan plan --quiet -o "$TMP/plan" layouts/example.json
run kvplan plan -q --merge=none -o "$TMP/plan" \
	layouts/kimi-k3.1-pro-tp16-dcp16.json
