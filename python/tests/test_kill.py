# SPDX-License-Identifier: BSD-3-Clause
"""SIGKILL in the middle of a run: what was acknowledged is there, and opens."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import roastcoffea
from collector_helpers import starts

HERE = Path(__file__).parent
KILLED = HERE / "killed_runs.py"


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


KILLED_AT_THE_END = """
    import os, signal, sys
    import roastcoffea
    from collector_helpers import *
    from roastcoffea.run_recorder import RunRecorder

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    RunRecorder.end_dask = die  # the next step of the end that may take long
    with roastcoffea.monitor(sys.argv[2], measurement_name="x"):
        make_runner(threads())(fileset_of(sys.argv[1]), Measured())
"""


def test_what_was_measured_is_written_when_the_block_begins_to_end(tiny_file, tmp_path):
    script = textwrap.dedent(KILLED_AT_THE_END)
    died = subprocess.run(
        [sys.executable, "-c", script, tiny_file, tmp_path],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])},
    )
    assert died.returncode == -signal.SIGKILL
    left = roastcoffea.open_run(tmp_path / "x.roast-live")
    assert starts(left.chunk_metrics) == [0, 1000, 2000]
    assert left.partial
