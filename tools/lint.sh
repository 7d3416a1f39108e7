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
    "$venv/bin/clang-format" -i "${c_files[@]}"
    "$python" -m ruff check -q --fix .
    "$python" -m ruff format -q .
fi

tools/quiet.sh "ruff check" "$python" -m ruff check --output-format concise .
tools/quiet.sh "ruff format" "$python" -m ruff format --diff .
tools/quiet.sh "clang-format" "$venv/bin/clang-format" --dry-run -Werror "${c_files[@]}"
tools/quiet.sh "include law" "$python" tools/check_includes.py
tools/quiet.sh "tables of docs" "$python" tools/doc_tables.py --check
tools/quiet.sh "lists" "$python" tools/check_lists.py
tools/quiet.sh "sizes" "$python" tools/check_sizes.py
tools/quiet.sh "mypy" "$python" -m mypy

tools/ctest.sh test build
tools/quiet.sh "symbol law" "$python" tools/check_symbol_law.py build/test
tools/ctest.sh clang build
tools/tidy.sh 50000
