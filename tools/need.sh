#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# need.sh GROUP... - is everything there that a make target takes from the system?
#
# Groups: build, test, lint, asan, long. Says nothing and touches nothing when all is
# there. Otherwise installs the missing Debian packages where it may (root, or sudo
# without a password), else says in one line what to install, and fails.
set -euo pipefail

python=${PYTHON:-python3}
missing=() # Debian packages, in the order they were missed

# need PACKAGES COMMAND... - PACKAGES are missing unless COMMAND succeeds.
need() {
    local packages=$1
    shift
    # shellcheck disable=SC2206  # several packages in one word
    "$@" >/dev/null 2>&1 || missing+=($packages)
}

has() { command -v "$1"; }

# compiles COMPILER [FLAG] <<<SOURCE - does it compile and link?
compiles() {
    local out status=0
    out=$(mktemp)
    "$1" -xc - -o "$out" "${@:2}" || status=$?
    rm -f "$out"
    return "$status"
}

has_cmocka() {
    compiles gcc -lcmocka <<<'#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
int main(void) { print_message("there"); }'
}

has_sqlite() {
    compiles gcc -lsqlite3 <<<'#include <sqlite3.h>
#if SQLITE_VERSION_NUMBER < 3026000
#error too old
#endif
int main(void) { return sqlite3_libversion_number() == 0; }'
}

has_sanitizers() {
    compiles gcc -fsanitize=address,undefined <<<'int main(void) { return 0; }'
}

has_fuzzer() {
    compiles clang -fsanitize=fuzzer <<<'
int LLVMFuzzerTestOneInput(const char *d, long n) { return !d && n; }'
}

# venv and pip to make the environment, Python.h to build the extension.
has_python() {
    "$python" - <<'PY'
import ensurepip, os, sys, sysconfig, venv
header = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(sys.version_info < (3, 11) or not os.path.exists(header))
PY
}

check() {
    missing=()
    local group
    for group in "$@"; do
        case $group in
        build)
            need gcc has gcc
            need libc6-dev compiles gcc <<<'#include <stdio.h>
int main(void) { return 0; }'
            need libsqlite3-dev has_sqlite
            need "python3 python3-venv python3-dev" has_python
            ;;
        test)
            need g++ has g++
            need binutils has nm
            need libcmocka-dev has_cmocka
            need sqlite3 has sqlite3
            need prometheus has promtool
            need time has /usr/bin/time
            ;;
        lint)
            need clang has clang
            need clang-tidy has clang-tidy
            ;;
        asan) need "gcc libasan8 libubsan1" has_sanitizers ;;
        long)
            need valgrind has valgrind
            need "clang libclang-rt-dev" has_fuzzer
            ;;
        *) echo "need.sh: no group called $group" >&2 && exit 2 ;;
        esac
    done
}

install_missing() {
    local sudo=()
    if [[ $(id -u) != 0 ]]; then
        sudo -n true 2>/dev/null || return 1
        sudo=(sudo -n)
    fi
    command -v apt-get >/dev/null || return 1
    echo "installing Debian packages: ${missing[*]}"
    local log
    log=$(mktemp)
    "${sudo[@]}" apt-get update -qq >"$log" 2>&1 || true # a stale list may do
    if ! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
        cat "$log"
        return 1
    fi
    rm -f "$log"
}

# No package helps against a wrong PYTHON=...
if [[ $python != python3 ]] && ! has_python 2>/dev/null; then
    echo "PYTHON=$python: not found, older than 3.11, or without venv, pip or headers" >&2
    exit 1
fi

check "$@"
if ((${#missing[@]})) && install_missing; then
    check "$@"
fi
if ((${#missing[@]})); then
    note=
    has_python 2>/dev/null ||
        note=" ($python lacks 3.11, venv, pip or headers; PYTHON=... chooses another)"
    echo "please install these Debian packages: ${missing[*]}$note" >&2
    exit 1
fi
