#!/bin/sh
# Bad usage of import: one line that says what is wrong, status 2.
config=tests/import/configs/llama-3.1-70b.json
run kvplan import
run kvplan import "$config"
run kvplan import --tp "$config"
run kvplan import --tp=0 "$config"
run kvplan import --tp=1025 "$config"
run kvplan import --tp=two "$config"
run kvplan import --tp=1 "$config" "$config"
run kvplan import --tp=1 --page-tokens=0 "$config"
run kvplan import --tp=1 --pages=0 "$config"
run kvplan import --tp=1 --spec-tokens=9999 "$config"
run kvplan import --tp=1 --mtp=65 "$config"
run kvplan import --tp=1 --stage=1 "$config"
run kvplan import --tp=1 --stage=3/2 "$config"
run kvplan import --tp=1 --as=nobody "$config"
run kvplan import --tp=1 --name= "$config"
run kvplan import --list-families "$config"
cp "$config" "$TMP/config.json"
run kvplan import --tp=1 -o "$TMP/config.json" "$TMP/config.json"
run kvplan import --tp=1 -o "$TMP/none/new.json" "$TMP/config.json"
run kvplan import --tp=1 "$TMP/none.json"
run kvplan import --tp=1 layouts/example.json
left_behind
