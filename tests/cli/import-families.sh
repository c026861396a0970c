#!/bin/sh
# The families and their model_type.
run kvplan import --list-families
run kvplan import --help
