#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# bench_envs.sh - the two environments that `make bench` compares, on one Python:
#
#   .venv-ref     roastcoffea 0.1.2 from PyPI, the reference (needs Python 3.12 or 3.13)
#   .venv-bench   this package, on the same coffea
set -euo pipefail

python=$("${PYTHON:-python3}" tools/pythons.py 3.12 3.13 | awk -F'\t' 'NR == 1 { print $2 }')
if [[ -z $python ]]; then
    echo "make bench needs Python 3.12 or 3.13, which the reference runs on: none found" >&2
    exit 1
fi

# fill DIRECTORY REQUIREMENT... - unless it was filled after the requirements changed.
fill() {
    [[ $1/.ready -nt tools/requirements-run.txt && $1/.ready -nt $0 ]] ||
        tools/venv.sh "$python" "$@"
}
fill .venv-ref roastcoffea==0.1.2 tools/requirements-run.txt
fill .venv-bench tools/requirements-build.txt tools/requirements-run.txt
tools/install.sh .venv-bench --config-settings=build-dir=build/bench-wheel
