#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# asan.sh [PYTEST ARGUMENT...] - C tests and Python tests under ASan and UBSan.
#
# The sanitized package goes to a directory of its own in front of sys.path; the rest
# (coffea, pytest) comes from the virtual environment. Leaks are looked for in the C
# tests only: CPython and its extensions keep much memory until the end.
set -euo pipefail

venv=$(realpath "${VENV:-.venv}")
site=$PWD/build/asan-site

tools/ctest.sh asan

# What that has built, beside the modules in Python.
rm -rf "$site"
mkdir "$site"
cp -r python/roastcoffea python/coffea_metrics "$site"
tools/quiet.sh "sanitized package" "$venv/bin/cmake" --install build/asan --prefix "$site"

# Python itself is not sanitized, so the runtimes are loaded before it; libstdc++ too,
# because ASan looks for __cxa_throw only once, at the start.
preload=
for library in libasan.so libubsan.so libstdc++.so.6; do
    preload+=$(gcc -print-file-name=$library):
done
# pytest must not swallow what a dying process writes: ASan reports to files, which are
# shown at the end (those of child processes too), UBSan to the open standard error.
reports=$PWD/build/asan-report
rm -f "$reports".*
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:log_path=$reports
export UBSAN_OPTIONS=print_stacktrace=1
export PYTHONMALLOC=malloc PYTHONPATH=$site
export ROAST_SANITIZED=$site # test_project.py checks that this is what was loaded
export ROAST_PROGRAM=$site/bin/roast PATH=$site/bin:$PATH
status=0
LD_PRELOAD=${preload%:} "$venv/bin/python" tools/pytests.py --capture=sys \
    --timeout=900 -m "not long and not no_asan" "$@" || status=$?
if compgen -G "$reports.*" >/dev/null; then
    cat "$reports".*
    echo "the sanitizers reported errors, see above" >&2
    status=1
fi
exit "$status"
