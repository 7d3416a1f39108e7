#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# ctest.sh PRESET [build] - configure and build a preset of CMakePresets.json; run its
# tests unless told to build only. Uses the cmake and ninja of the virtual environment.
set -euo pipefail

preset=$1
venv=$(realpath "${VENV:-.venv}")
PATH=$venv/bin:$PATH

tools/quiet.sh "$preset: configure" cmake --preset "$preset" \
    -DPython_EXECUTABLE="$venv/bin/python" --no-warn-unused-cli
tools/quiet.sh "$preset: build" cmake --build --preset "$preset"
[[ ${2:-} == build ]] || tools/quiet.sh -s 'tests passed' "$preset: C tests" \
    ctest --preset "$preset" -j 2
