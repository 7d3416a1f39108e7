# SPDX-License-Identifier: BSD-3-Clause
"""g5: exports of large runs: how long they take, and their memory above that of opening
the run. There is no reference: the limit stands in its place.

    python exports.py RUN       prints the bytes by which a process grows that opens it
    python exports.py           prints time and memory of every format
"""

from __future__ import annotations

import functools
import os
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
clock = time.perf_counter_ns


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


def exported(chunks: int, kind: str, *options: str) -> tuple[int, int]:
    """Nanoseconds of the program, and the most memory of it or of the Python that it
    starts, in bytes."""
    target = lasting.folder() / "exported"
    program = Path(sys.executable).with_name("roast")
    words = [program, "export", run_file(chunks), "-f", kind, "-o", target, *options]
    start = clock()
    started = subprocess.Popen(list(map(str, words)))
    _, status, used = os.wait4(started.pid, 0)
    took_ns = clock() - start
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode != 0:
        raise RuntimeError(f"{kind} of {chunks} chunks ended with {started.returncode}")
    lasting.remove(target)
    return took_ns, used.ru_maxrss * 1024


@functools.cache
def opened_bytes(chunks: int) -> int:
    command = [sys.executable, __file__, str(run_file(chunks))]
    return int(subprocess.check_output(command, text=True))


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


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    if len(sys.argv) > 1:
        before = resident_bytes()
        run = _core.open_run(sys.argv[1])
        run.progress()
        print(resident_bytes() - before)
        return
    print(f"opening {opened_bytes(MANY) / 1e6:.0f} MB")
    for kind in FORMATS:
        for options in ((), ("--anonymise",)):
            took_ns, most_bytes = exported(MANY, kind, *options)
            above = (most_bytes - opened_bytes(MANY)) / 1e6
            print(f"{kind:12}{' '.join(options):12} {took_ns / 1e9:6.2f} s {above:5.0f} MB")
    shutil.rmtree(lasting.folder())


if __name__ == "__main__":
    main()
