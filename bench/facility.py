# SPDX-License-Identifier: BSD-3-Clause
"""How long `roast facility` takes for many runs: 10,000 in at most 10 s.

    python bench/facility.py [--runs 10000] [--chunks 200] [--folder /dev/shm]

Makes the run files below a temporary folder: one run, and copies of it with other ids,
users, sites and weeks. The program is the one installed beside this Python.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from roastcoffea import _core, _probe
from roastcoffea.__main__ import find_program

SECOND = 1_000_000_000
WEEK_NS = 7 * 24 * 3600 * SECOND
EPOCH_NS = 1_763_215_323 * SECOND


def make(number: int, chunks: int) -> _core.Run:
    """A run with four datasets of ten files each on eight threads."""
    start_ns = EPOCH_NS + number % 50 * WEEK_NS
    run = _core.Run(SECOND, start_ns, "here")
    notes = {"id": f"{number:032x}", "processor": f"Analysis{number % 7}"}
    for name, text in notes.items():
        run.set_note("run", name, text)
    for name, text in {
        "user": f"user{number % 40}",
        "site": f"T2_{number % 9}",
    }.items():
        run.set_note("label", name, text)
    run.offer(start_ns, 8, 8)
    for i in range(chunks):
        record = {
            "dataset": f"dataset{i % 4}",
            "file": f"root://host.example//store/nano/{i % 40}.root",
            "entry_start": 100_000 * i,
            "entry_stop": 100_000 * (i + 1),
            "num_events": 100_000,
            "t_start": start_ns / 1e9 + i // 8,
            "duration": 0.75,
            "task_time": 0.9,
            "cpu_time": 0.5,
            "host": "here",
            "pid": 4242 + i % 8,
            "status": "failed" if i % 50 == 49 else "ok",
        }
        run.add_frames(_probe.frame_of(record, i + 1), True)
    run.finish(SECOND + (chunks // 8 + 2) * SECOND)
    return run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--folder", default="/dev/shm")
    wanted = parser.parse_args()
    program = find_program()
    if not program:
        sys.exit("roast is not installed beside this Python; make build installs it")
    with tempfile.TemporaryDirectory(dir=wanted.folder) as folder:
        for number in range(wanted.runs):
            make(number, wanted.chunks).save(Path(folder) / f"{number}.roast")
        files = [entry.stat().st_size for entry in os.scandir(folder)]
        print(f"{len(files)} runs of {wanted.chunks} chunks, {sum(files) / 1e6:.0f} MB")
        for command in ("facility", "ls"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.perf_counter()
            subprocess.run(
                [program, command, folder], check=True, stdout=subprocess.DEVNULL
            )
            wall = time.perf_counter() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            print(f"roast {command}: {wall:.2f} s, {cpu:.2f} s of them on a CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
