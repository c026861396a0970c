#!/bin/sh
# Help is an answer, and says what it is about.
run kvplan size --help
kvplan help size >"$TMP/help"
kvplan size -h | cmp "$TMP/help"
