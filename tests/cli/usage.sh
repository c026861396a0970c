#!/bin/sh
# Bad usage: one line that says what is wrong, status 2, nothing on stdout.
run kvplan
run kvplan nosuch
run kvplan pla layouts/example.json
run kvplan --nosuch
run kvplan -q plan layouts/example.json
run kvplan help nosuch
run kvplan plan
run kvplan plan layouts/example.json layouts/example.json
run kvplan plan -q --
run kvplan plan --nosuch layouts/example.json
run kvplan plan -x layouts/example.json
run kvplan plan -qx layouts/example.json
run kvplan plan -xq layouts/example.json
run kvplan plan --quiet=yes layouts/example.json
run kvplan plan -o
run kvplan plan --output
run kvplan plan --geometry=layouts/example.json layouts/example.json
run kvplan verify --nosuch
run kvplan verify -q layouts/example.json
run kvplan verify --format
run kvplan verify --format=xml layouts/example.json
run kvplan verify --merge=all layouts/example.json
run kvplan verify --warn
run kvplan verify --warn=nosuch layouts/example.json
run kvplan verify --error=nosuch layouts/example.json
run kvplan verify --list-rules=yes
