#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# quiet.sh [-s REGEX] LABEL COMMAND... - one line on success, the full log on failure.
#
# With -s also the lines of the log that match REGEX (a test runner's closing line).
set -euo pipefail

show=
if [[ $1 == -s ]]; then
    show=$2
    shift 2
fi
label=$1
shift

log=$(mktemp)
trap 'rm -f "$log"' EXIT
start=$SECONDS
if "$@" >"$log" 2>&1; then
    echo "$label: ok ($((SECONDS - start)) s)"
    if [[ -n $show ]]; then grep -E "$show" "$log" || true; fi
else
    status=$?
    cat "$log"
    echo "$label: FAILED: $*" >&2
    exit "$status"
fi
