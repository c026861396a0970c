#!/bin/sh
# More than 1 GiB of input is refused before memory is.
if [ "$SAN" ]; then
	echo 'sanitizers need more memory'
	exit 77
fi
# shellcheck disable=SC3045
ulimit -v 2500000
head -c 1100000000 /dev/zero | kvplan plan -
echo "exit $?"
