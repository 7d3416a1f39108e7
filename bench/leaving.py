# SPDX-License-Identifier: BSD-3-Clause
"""g1: leaving a block with `output_dir`, and the bytes of what it leaves.

The block is filled with records as they come from workers; what is timed is its end
alone. There is no reference: the limit stands in its place.

    python leaving.py 1000000 [interrupt]    one block, in a process of its own
"""

from __future__ import annotations

import functools
import shutil
import sys
import tempfile
import time
from pathlib import Path

from records import RUN_ID, _core, sent_plain

THEIRS = _core is None
LIMIT_MS = {10_000: 300, 100_000: 1000, 1_000_000: 5000}
LIMIT_BYTES = 300
PIECE = 10_000
clock = time.perf_counter_ns


@functools.cache
def frames(number: int) -> bytes:
    """Those of PIECE chunks."""
    first = number * PIECE
    return b"".join(sent_plain(n)[0] for n in range(first, first + PIECE))


def left(chunks: int, interrupt: bool = False) -> tuple[int, int]:
    """Nanoseconds to leave a block of so many chunks, and the bytes in its folder."""
    from roastcoffea import monitor

    pieces = [frames(number) for number in range(chunks // PIECE)]
    error = KeyboardInterrupt() if interrupt else None
    folder = Path(tempfile.mkdtemp())
    try:
        block = monitor(folder)
        run = block.__enter__()
        run._core.accept(RUN_ID)
        for piece in pieces:
            run._core.add_frames(piece)
        start = clock()
        block.__exit__(type(error) if error else None, error, None)
        took_ns = clock() - start
        done = run._core.progress()["done"]
        if done != chunks or run.measurement_path is None:
            raise RuntimeError(f"{done} of {chunks} chunks in {run.measurement_path}")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        return took_ns, size
    finally:
        shutil.rmtree(folder)


def leaving(chunks: int, count: int, interrupt: bool = False) -> int:
    if THEIRS:
        time.sleep(0.02)  # it takes its time, or it would be called ever more
        return LIMIT_MS[chunks] * 1_000_000 * count
    return sum(left(chunks, interrupt)[0] for _ in range(count))


def g1a(count: int) -> int:
    return leaving(10_000, count)


def g1b(count: int) -> int:
    return leaving(100_000, count)


def g1c(count: int) -> int:
    return leaving(1_000_000, count)


def g1i(count: int) -> int:
    return leaving(1_000_000, count, interrupt=True)


def g1f(count: int) -> int:
    """Of a chunk, in bytes."""
    if THEIRS:
        time.sleep(0.02)
        return LIMIT_BYTES * count
    return count * left(100_000)[1] // 100_000


CASES = {case.__name__: case for case in (g1a, g1b, g1c, g1i, g1f)}

if __name__ == "__main__":
    took_ns, size = left(int(sys.argv[1]), len(sys.argv) > 2)
    print(f"{took_ns / 1e9:.3f} s, {size / int(sys.argv[1]):.1f} bytes per chunk")
