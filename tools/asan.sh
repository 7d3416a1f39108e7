#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# asan.sh [PYTEST ARGUMENT...] - C tests and Python tests under ASan and UBSan.
#
# Of the Python tests those in which our C code works in the process of the test or as
# the program `roast`: the families of files below, or what the arguments name. One pool
# of processes and one cluster are among them; more of these would sanitize Dask.
#
# The sanitized package goes to a directory of its own in front of sys.path; the rest
# (coffea, pytest) comes from the virtual environment. Leaks are looked for in the C
# tests only: CPython and its extensions keep much memory until the end.
set -euo pipefail

tests=python/tests/test_
families=(
    {record,record_ladder,reading,pickle,packing,chunk_record,current_chunk,kinds}
    {sections,section_misuse,section_names,nested,frameless_call,unswitched_calls,switch,threads}
    {hooks,hooks_missing,hook_*,decorated_calls,foreign_code,guard,hostile_events}
    {custom_*,outputs,failures,branch_reads,damaged_baskets,ladder_split}
    {memory_safety,nomemory,fork,secrets,progress}
    {core_*,columns_*,arrow,summary,findings,compare,metrics_dict,seed_formulas}
    {aggregation_*,export_*,import,import_*,runs,runs_import,runs_live,runs_nomemory,runs_opening}
    {runs_round_trip,runs_saving,live_file,saved_runs,kill,cli,cli_output,cli_folders,facility}
    {collector_exits,collector_failures,collector_records,collector_reuse}
    {transport_spool,dask_hooks,dask_shared}
)
if (($# == 0)); then
    shopt -s failglob # a family without a file is a mistake
    for family in "${families[@]}"; do
        set -- "$@" "$tests"$family.py
    done
    shopt -u failglob
    set -- "$@" "${tests}project.py::test_the_sanitized_extension_is_the_one_loaded"
fi

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
export ROAST_SANITIZED=$site # the tests refuse another build
export ROAST_PROGRAM=$site/bin/roast PATH=$site/bin:$venv/bin:$PATH
status=0
LD_PRELOAD=${preload%:} "$venv/bin/python" tools/pytests.py --capture=sys \
    --timeout=900 "$@" || status=$?
if compgen -G "$reports.*" >/dev/null; then
    cat "$reports".*
    echo "the sanitizers reported errors, see above" >&2
    status=1
fi
exit "$status"
