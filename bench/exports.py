# SPDX-License-Identifier: BSD-3-Clause
"""g5: exports of large runs: how long they take, and their memory above that of opening
the run. There is no reference: the limit stands in its place.

    python exports.py    prints time and memory of every format
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
import time
from pathlib import Path

import lasting
from leaving import PIECE, frames
from records import RUN_ID, _core

THEIRS = _core is None
LIMIT_NS = 5_000_000_000
LIMIT_BYTES = 200_000_000
FEW, MANY = 100_000, 1_000_000  # chunks
FORMATS = "openmetrics json csv sqlite perfetto otlp parquet arrow".split()

# In small processes: a new one begins with the peak of the one that started it.
OPENING = """
import os, sys
from roastcoffea import _core

def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

before = resident_bytes()
run = _core.open_run(sys.argv[1])
run.progress()
print(resident_bytes() - before)
"""
RUNNING = """
import os, sys, time
start = time.perf_counter_ns()
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(pid, 0)
print(time.perf_counter_ns() - start, used.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@functools.cache
def run_file(chunks: int) -> Path:
    path = lasting.folder() / f"export-{chunks}.roast"
    run = _core.Run(0, 0)
    run.accept(RUN_ID)
    for number in range(chunks // PIECE):
        run.add_frames(frames(number))
    run.finish(lasting.SECOND_NS)
    run.save(str(path))
    return path


def answer(script: str, *words: object) -> list[int]:
    """The numbers that a script prints."""
    command = [sys.executable, "-c", script, *map(str, words)]
    return [int(word) for word in subprocess.check_output(command, text=True).split()]


def exported(chunks: int, kind: str, *options: str) -> tuple[int, int]:
    """Nanoseconds of the program, and the most memory of it or of the Python that it
    starts, in bytes."""
    target = lasting.folder() / "exported"
    program = Path(sys.executable).with_name("roast")
    words = ["export", run_file(chunks), "-f", kind, "-o", target, *options]
    took_ns, peak_bytes = answer(RUNNING, program, *words)
    lasting.remove(target)
    return took_ns, peak_bytes


@functools.cache
def opened_bytes(chunks: int) -> int:
    return answer(OPENING, run_file(chunks))[0]


def above_bytes(kind: str, *options: str) -> int:
    return exported(MANY, kind, *options)[1] - opened_bytes(MANY)


def exporting(chunks: int, kind: str, count: int) -> int:
    if THEIRS:
        time.sleep(0.02)  # it takes its time, or it would be called ever more
        return LIMIT_NS * count
    return sum(exported(chunks, kind)[0] for _ in range(count))


def g5p(count: int) -> int:
    return exporting(FEW, "perfetto", count)


def g5o(count: int) -> int:
    return exporting(MANY, "openmetrics", count)


def g5j(count: int) -> int:
    return exporting(MANY, "json", count)


def g5m(count: int) -> int:
    """The most of all formats, with names and without."""
    if THEIRS:
        time.sleep(0.02)
        return LIMIT_BYTES * count
    most = max(
        above_bytes(kind, *options)
        for kind in FORMATS
        for options in ((), ("--anonymise",))
    )
    return most * count


CASES = {case.__name__: case for case in (g5p, g5o, g5j, g5m)}


def main() -> None:
    print(f"opening {opened_bytes(MANY) / 1e6:.0f} MB")
    for kind in FORMATS:
        for options in ((), ("--anonymise",)):
            took_ns, peak_bytes = exported(MANY, kind, *options)
            above = (peak_bytes - opened_bytes(MANY)) / 1e6
            name = f"{kind:12}{' '.join(options):12}"
            print(f"{name} {took_ns / 1e9:6.2f} s {above:5.0f} MB", flush=True)
    shutil.rmtree(lasting.folder())


if __name__ == "__main__":
    main()
