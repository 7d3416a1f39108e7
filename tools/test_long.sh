#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_long.sh - what takes too long for `make test`: the C tests under clang, valgrind
# and ThreadSanitizer, clang-tidy at full depth, 200 kills, damaged files, and some
# minutes of fuzzing.
# FUZZ_SECONDS is per target.
set -euo pipefail

seconds=${FUZZ_SECONDS:-60}

tools/ctest.sh clang
tools/tidy.sh 225000
tools/ctest.sh tsan

for program in build/test/tests/test_*; do
    [[ -f $program && -x $program ]] || continue
    tools/quiet.sh "valgrind ${program##*/}" valgrind -q --error-exitcode=9 \
        --leak-check=full --errors-for-leak-kinds=definite "$program"
done

ROAST_KILLS=200 tools/quiet.sh "200 kills of a writer" \
    build/test/tests/test_file_live_kill
ROAST_MUTATIONS=5000 tools/quiet.sh "25,000 damaged files" \
    build/test/tests/test_file_mutations

tools/ctest.sh fuzz build
for program in build/fuzz/tests/fuzz_*; do
    [[ -f $program && -x $program ]] || continue
    name=${program##*/fuzz_}
    # New inputs go to the first directory; the stored corpus is only read. What breaks
    # is kept as build/fuzz/<name>-crash-*: move it to the corpus with its fix.
    mkdir -p "build/fuzz/corpus/$name"
    tools/quiet.sh -s '^Done' "fuzz $name" "$program" -max_total_time="$seconds" \
        -rss_limit_mb=1024 -artifact_prefix="build/fuzz/$name-" \
        "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name"
done
