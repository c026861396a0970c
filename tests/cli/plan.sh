#!/bin/sh
# The whole plan of a small geometry.
kvplan plan layouts/example.json
