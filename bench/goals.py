# SPDX-License-Identifier: BSD-3-Clause
"""What is measured and how much faster than the reference it has to be.

One row per case; the function of the same name in cases.py, nano.py, bulk.py,
lasting.py, leaving.py, exports.py, dask_scheduler.py or dask_exit.py does the work. A
row without a goal is printed for the record and stays out of results.json. What no
reference has is in LIMITS: the most that it may be; or the limit stands in its place.
The ratios of c2, c3, e1 and f1b stand for 160 B, 850 B, 40 ns and 250 B.
"""

from __future__ import annotations

from typing import NamedTuple

REFERENCE_VERSION = "0.1.2"
GATE = 0.8  # the share of a goal below which a run counts as failed


class Row(NamedTuple):
    """One case: its id, what it stands for, the unit shown and the goal ratio."""

    id: str
    path: str
    unit: str
    goal: float | None
    rounds: int | None = None  # at most so many, where a round takes long


ROWS = (
    Row("a1", "track_time section, collecting", "ns", 6.0),
    Row("a2", "track_time section, not collecting", "ns", 7.0),
    Row("a3", "@track_metrics per chunk, back to back", "us", 25.0),
    Row("a3r", "@track_metrics per chunk, 1500 branches", "us", 100.0),
    Row("a4", "chunk with 2 time + 1 memory sections", "us", 25.0),
    Row("a5", "decorator while off, above the bare call", "ns", 3.0),
    Row("b1", "RSS read", "us", 40.0),
    Row("b2", "track_memory section, collecting", "us", 35.0),
    Row("c1", "CPU per record through coffea's merging", "us", 6.0),
    Row("c2", "resident bytes per record at the client", "B", 19.0, rounds=3),
    Row("c3", "bytes sent per record, all hops", "B", 1.19, rounds=2),
    Row("d1", "tick of 1000 workers on the scheduler", "us", 8.0),
    Row("d3", "bytes kept of 1000 samples of workers", "B", 75.0, rounds=2),
    Row("d4", "stop and ship, per 1000 samples", "us", 200.0, rounds=3),
    Row("d4h", "longest hold of the loop; limit: 10 ms", "ms", 1.0, rounds=3),
    Row("d5", "leaving the block; limit: 100 ms", "ms", 1.0, rounds=20),
    Row("d5r", "leaving the block, 2 workers", "ms", None, rounds=10),
    Row("d6", "hook for a step of a task; limit: 3 us", "ns", 1.0),
    Row("d6e", "hook for a task that ends; limit: 3 us", "ns", None),
    Row("d6b", "bytes of a task there; limit: 40 B", "B", 1.0, rounds=2),
    Row("e1", "aggregation per chunk record", "ns", 50.0, rounds=10),
    Row("e2", "aggregation of 1000 samples of memory", "us", 100.0, rounds=5),
    Row("e3", "peak memory, 10^6 chunks + 10^7 samples", "MB", 20.0, rounds=2),
    Row("f1", "saving a chunk record", "us", 40.0, rounds=4),
    Row("f1b", "bytes saved of a chunk record", "B", 3.5, rounds=2),
    Row("f2", "saving 1000 sampled values", "us", 160.0, rounds=4),
    Row("f2b", "bytes saved of 1000 sampled values", "B", 35.0, rounds=2),
    Row("f3", "open, show a saved run, per 1000 records", "us", 500.0, rounds=5),
    Row("f5", "cold start: show a small saved run", "ms", 15.0, rounds=20),
    Row("g1a", "leaving a block, 10^4 chunks; limit: 0.3 s", "ms", 1.0, rounds=20),
    Row("g1b", "leaving a block, 10^5 chunks; limit: 1 s", "ms", 1.0, rounds=10),
    Row("g1c", "leaving a block, 10^6 chunks; limit: 5 s", "ms", 1.0, rounds=3),
    Row("g1i", "the same by Ctrl-C; limit: 5 s", "ms", 1.0, rounds=3),
    Row("g1f", "bytes left of a chunk; limit: 300 B", "B", 1.0, rounds=2),
    Row("g5p", "Perfetto of 10^5 chunks; limit: 5 s", "ms", 1.0, rounds=5),
    Row("g5o", "OpenMetrics of 10^6 chunks; limit: 5 s", "ms", 1.0, rounds=5),
    Row("g5j", "JSON of 10^6 chunks; limit: 5 s", "ms", 1.0, rounds=5),
    Row("g5m", "export of 10^6, above opening; limit: 200 MB", "MB", 1.0, rounds=1),
    Row("e2s", "as e2, of five series instead of two", "us", None, rounds=5),
    Row("a3s", "as a3, chunks of 5 ms with 5 ms between", "us", None),
    Row("a4s", "as a4, chunks of 5 ms with 5 ms between", "us", None),
)


class Limit(NamedTuple):
    """What a6 may cost at most, in percent of a chunk of 1500 branches."""

    id: str
    path: str
    most: float
    columns: str  # key of ladder.py's answer, and ...
    value: str  # ... of what is below it


LADDER = "a6"  # what all of them are asked for by
LIMITS = (
    Limit("a6", "hooks: calls x cost of one", 0.1, "20 columns", "share"),
    Limit("a6all", "hooks: calls x cost of one", 0.5, "every column", "share"),
    Limit("a6cpu", "CPU time added, upper end", 2.0, "20 columns", "high"),
    Limit("a6cpuall", "CPU time added, upper end", 2.0, "every column", "high"),
    Limit("g3", "CPU time added, 200 sections a chunk", 2.0, "32 threads", "high"),
)

UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "B": 1.0, "MB": 1e6}  # in what a case returns
