# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of tables share: runs made by hand, of any size."""

from __future__ import annotations

from typing import Any

from handmade_frames import frame, pairs
from roastcoffea import _core

EPOCH_NS = 1_700_000_000_000_000_000
TABLES = (
    "chunks tasks sections branches files datasets workers endpoints failures metrics "
    "findings losses labels provenance chunk_sections chunk_branches activities "
    "hot_lines timeline file_branches samples read_sizes hosts critical_path"
).split()
OK = 1
FAILED = 2


def empty_run() -> _core.Run:
    return _core.Run(0, EPOCH_NS, "here")


def chunk(**fields: Any) -> bytes:
    """A record made by hand: it has no identity, so it never repeats another."""
    return frame(**({"status": OK, "dataset": "ttbar", "file": "a.root"} | fields))


def made_run(*frames: bytes) -> _core.Run:
    run = empty_run()
    for each in frames:
        run.add_frames(each, True)
    return run


def mixed_run() -> _core.Run:
    """Three chunks, of which each knows something that the others do not."""
    run = made_run(
        chunk(duration_ns=1_500_000_000, num_events=10, undecorated=1, pid=7),
        chunk(file="b.root", dataset="", bytes_read=2**62, ladder=pairs(2, 25 * 10**7)),
        chunk(file="\U0001f525 é/中.root", rss_peak_bytes=5, thread=9),
        chunk(status=FAILED, error_type="OSError", error_message="gone"),
    )
    run.add_sample("w1", EPOCH_NS + 10**9, {"worker_memory": 5e6})
    run.add_sample("w1", EPOCH_NS + 2 * 10**9, {"worker_memory": 6e6})
    return run


def large_run(rows: int) -> _core.Run:
    """Chunks that are all alike but for every tenth."""
    run = empty_run()
    slices = [part for item in range(1, 16) for part in (item, item * 10**8)]
    usual = chunk(duration_ns=10**9, num_events=100, pid=7, ladder=pairs(*slices))
    other = chunk(file="b.root", undecorated=1, pid=8)
    run.add_frames((usual * 9 + other) * (rows // 10), True)
    return run
