#!/bin/sh
# All of them at once.
kvplan verify layouts/*.json
kvplan verify --merge=span layouts/*.json
