# SPDX-License-Identifier: BSD-3-Clause
"""Where the program under test is, and the environment it is run in."""

from __future__ import annotations

import os

import pytest

from roastcoffea.__main__ import find_program

# No terminal, no colours, no locale, no Python but that of the test.
ENVIRONMENT = {"LC_ALL": "C", "TERM": "dumb", "HOME": "/nonexistent"} | {
    name: os.environ[name]
    for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "LD_PRELOAD", "PYTHONPATH")
    if name in os.environ
}


def program() -> str:
    """The installed program; ROAST_PROGRAM names another build."""
    found = os.environ.get("ROAST_PROGRAM") or find_program()
    if not found:
        pytest.fail("the program roast is not installed; make build installs it")
    return found
