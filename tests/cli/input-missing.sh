#!/bin/sh
# Input that cannot be read: status 3.
run kvplan plan "$TMP/nosuch"
run kvplan plan "$TMP/nosuch/geometry"
run kvplan plan ''
run kvplan plan layouts
run kvplan verify "$TMP/nosuch"
run kvplan verify layouts
run kvplan verify --geometry="$TMP/nosuch" layouts/example.json
run kvcheck "$TMP/nosuch"
run kvcheck layouts
