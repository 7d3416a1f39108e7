#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# venv.sh PYTHON DIRECTORY REQUIREMENT... - make a virtual environment, or bring it up
# to date. A requirement is what pip takes; a *.txt is a file of them.
set -euo pipefail

python=$1 dir=$2
shift 2
wanted=()
for item in "$@"; do
    case $item in
    *.txt) wanted+=(-r "$item") ;;
    *) wanted+=("$item") ;;
    esac
done

# An interpreter that was removed or upgraded leaves a directory that does not run.
"$dir/bin/python" -c 'import pip' 2>/dev/null || "$python" -m venv --clear "$dir"
echo "filling $dir from PyPI (the first time about 2 minutes and 1 GB)"
tools/quiet.sh "$dir" "$dir/bin/python" -m pip install -q --disable-pip-version-check \
    "${wanted[@]}"
touch "$dir/.ready"
