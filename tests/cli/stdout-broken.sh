#!/bin/sh
# shellcheck disable=SC2069,SC2094
# A standard output that is full, closed or a pipe without a reader: a
# message and status 3, whatever was to be written.
kvplan plan -q -o "$TMP/plan" layouts/kimi-k3.1-pro-tp16-dcp16.json
mkfifo "$TMP/pipe"
broken() {
	echo "\$ $*"
	"$@" 2>&1 >/dev/full
	echo "  /dev/full: exit $?"
	"$@" 2>&1 >&-
	echo "  closed: exit $?"
	# A writer is there while a reader is; then the reader goes.
	exec 3<>"$TMP/pipe" 4>"$TMP/pipe" 3<&-
	"$@" 2>&1 >&4
	echo "  pipe: exit $?"
	exec 4>&-
}
broken kvplan plan -q layouts/example.json
broken kvplan plan -q layouts/kimi-k3.1-pro-tp16-dcp16.json
broken kvplan verify "$TMP/plan"
broken kvplan verify --format=json "$TMP/plan"
broken kvplan verify --list-rules
broken kvplan --help
broken kvplan --version
broken kvplan help plan
broken kvplan verify --help
broken kvcheck "$TMP/plan"
broken kvcheck --help
broken kvcheck --version
