#!/bin/sh
run kvcheck
run kvcheck --nosuch
run kvcheck -x plan
run kvcheck --warn
run kvcheck --warn=nosuch plan
run kvcheck --help=yes
run kvcheck plan plan
run kvcheck --
run kvcheck ''
run kvcheck - </dev/null
