#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tidy.sh NODES - clang-tidy over what ships; the preset clang must have been configured.
#
# Most of its time goes into following paths through functions. NODES is where it gives
# up on one function: 225000 is clang's own limit (make test-long), 50000 takes less than
# half of the time (make lint). Tests are left out: they are full of macros that are not
# ours. One file per process: clang-tidy 14 mixes up va_lists when it is given several.
set -euo pipefail

config=(-Xclang -analyzer-config -Xclang "max-nodes=$1")
find src cli python/ext -name '*.c' | sort |
    tools/quiet.sh "clang-tidy" xargs -P "$(nproc)" -n 1 \
        clang-tidy --quiet -p build/clang "${config[@]/#/--extra-arg=}"
