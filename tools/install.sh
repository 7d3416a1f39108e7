#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# install.sh VENV [PIP OPTION...] - build this package and install it into VENV.
#
# With the cmake and ninja of VENV and without build isolation, so that nothing is
# fetched and only changed files are compiled again. Warnings are errors here. (pip 23.0,
# which Debian 12 has, does not know -C for --config-settings.)
set -euo pipefail

venv=$1
shift
tools/quiet.sh "roastcoffea built and installed" \
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-deps \
    --no-build-isolation --config-settings=cmake.define.ROAST_WERROR=ON "$@" .
