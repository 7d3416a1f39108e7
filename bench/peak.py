# SPDX-License-Identifier: BSD-3-Clause
"""The peak of a process that takes in a run, adds it up and saves it: prints the bytes
by which it grew, scaled to 10^6 chunks and 10^7 samples."""

from __future__ import annotations

import gc
import os
import resource
from pathlib import Path

import lasting
import records

CHUNKS, VALUES = 1_000_000, 10_000_000


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def now_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def theirs() -> float:
    """Its records and its samples grow one by one: each scaled by itself."""
    before = now_bytes()
    kept = lasting.chunks()
    lasting.saved("chunks")
    of_chunks = peak_bytes() - before
    del kept
    gc.collect()
    before = now_bytes()
    lasting.samples()
    lasting.saved("samples")
    of_samples = max(0, peak_bytes() - before)
    return of_chunks * CHUNKS / lasting.CHUNKS + of_samples * VALUES / lasting.VALUES


def ours() -> float:
    place = lasting.folder() / "spool"
    place.mkdir()
    pid = os.fork()  # making the records is no part of it
    if pid == 0:
        records.write(place)
        os._exit(0)
    os.waitpid(pid, 0)
    before = now_bytes()
    run = records.take_in(place)
    lasting.add_samples(run)
    run.offer(0, 1, 1)  # without threads there is no budget to be made
    run.unwatch()
    run.finish(lasting.TICKS * lasting.SECOND_NS)
    run.metrics()
    run.save(str(lasting.folder() / "all.roast"))
    return peak_bytes() - before


if __name__ == "__main__":
    print(round(theirs() if lasting.THEIRS else ours()))
