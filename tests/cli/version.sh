#!/bin/sh
run kvplan --version
run kvcheck --version
