#!/bin/sh
# Every term, for people: planes of two sizes, one kept out, static storage.
run kvplan size --free=100MiB layouts/example.json
run kvplan size --pages=512 --snapshots=6 layouts/example.json
# What others hold of the table is told apart from what is planned.
run kvplan size --free=6GiB --memory-limit=-1G \
	layouts/kimi-k3.1-pro-tp16-dcp16.json
# Pages that no budget is given for have no bound but the rows'.
run kvplan size --tokens=65537 layouts/example.json
