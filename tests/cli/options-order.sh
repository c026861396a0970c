#!/bin/sh
# "Options stand before operands.  -- ends them."  (kvplan(1))
cp layouts/example.json "$TMP/-q"
cd "$TMP" || exit
run kvplan plan -q -o plan -- -q
run kvplan verify -- -q
run kvplan verify plan -- -q
run kvcheck -- plan
