#!/bin/sh
# A geometry among the operands is planned first, in the mode asked for.
run kvplan verify layouts/example.json
run kvplan verify --merge=none layouts/example.json
run kvplan verify --merge span layouts/example.json
kvplan plan -q --merge=none -o "$TMP/none" layouts/example.json
run kvplan verify --merge=span "$TMP/none" layouts/example.json
run kvplan verify --merge=none layouts/kimi-k3.1-pro-tp16-dcp16.json
