#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# lint.sh - format, static checks and types, and a build by both compilers.
#
# The cheap checks come first. `tools/lint.sh --fix` rewrites what can be rewritten.
set -euo pipefail

venv=${VENV:-.venv}
python=$venv/bin/python
mapfile -t c_files < <(find include src cli python/ext tests \
    -name '*.[ch]' 2>/dev/null | sort)

if [[ ${1:-} == --fix ]]; then
    clang-format -i "${c_files[@]}"
    "$python" -m ruff check -q --fix .
    "$python" -m ruff format -q .
fi

tools/quiet.sh "ruff check" "$python" -m ruff check .
tools/quiet.sh "ruff format" "$python" -m ruff format --diff .
tools/quiet.sh "clang-format" clang-format --dry-run -Werror "${c_files[@]}"
tools/quiet.sh "include law" "$python" tools/check_includes.py
tools/quiet.sh "sizes" "$python" tools/check_sizes.py
tools/quiet.sh "mypy" "$python" -m mypy

tools/ctest.sh dev build
tools/ctest.sh clang build

# What ships is checked in depth; tests are full of macros that are not ours.
find src cli python/ext -name '*.c' 2>/dev/null |
    tools/quiet.sh "clang-tidy" xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p build/clang
