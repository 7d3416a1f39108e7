# SPDX-License-Identifier: BSD-3-Clause
"""SIGKILL in the middle of a run: what was acknowledged is there, and opens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

KILLED = Path(__file__).parent / "killed_runs.py"


def trials(tiny_file: Path, folder: Path, count: int, seed: int) -> int:
    """How many of the processes had not ended when they were killed."""
    done = subprocess.run(
        [sys.executable, KILLED, tiny_file, folder, str(count), str(seed)],
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return int(re.search(r"killed in the middle: (\d+)", done.stdout)[1])


def test_killed_process_leaves_all_that_it_acknowledged(tiny_file, tmp_path):
    assert trials(tiny_file, tmp_path, 8, 1) > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_process_killed_at_many_moments(seed, tiny_file, tmp_path):
    assert trials(tiny_file, tmp_path, 20, seed) > 0
