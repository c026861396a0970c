#!/bin/sh
# Help is an answer: on stdout, status 0.
run kvplan --help
run kvplan plan --help
run kvplan verify --help
run kvplan probe --help
kvplan --help >"$TMP/all"
kvplan plan --help >"$TMP/plan"
kvplan verify --help >"$TMP/verify"
kvplan -h | cmp "$TMP/all"
kvplan help | cmp "$TMP/all"
kvplan help plan | cmp "$TMP/plan"
kvplan plan -h | cmp "$TMP/plan"
kvplan plan -q -h nosuch | cmp "$TMP/plan"
kvplan help verify | cmp "$TMP/verify"
kvplan verify -h | cmp "$TMP/verify"
