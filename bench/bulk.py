# SPDX-License-Identifier: BSD-3-Clause
"""The cases of many records: merged by coffea, kept at the client, aggregated.

Each returns what `count` records cost, in nanoseconds of CPU or in bytes. The records
are made once per process. Bytes are exact or nearly so: those rows take few rounds.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import records

TREE = 400  # chunks below one merged output: two levels of reducers
cpu_clock = time.thread_time_ns


@functools.cache
def tree_outputs() -> tuple[list[records.Output], list[records.Output]]:
    return records.outputs(TREE)


@functools.cache
def run_folder() -> tuple[tempfile.TemporaryDirectory[str], Path, int]:
    """A folder with the records of a run, and how many they are."""
    holder = tempfile.TemporaryDirectory()
    folder = Path(holder.name)
    return holder, folder, records.write(folder)


@functools.cache
def taken_in() -> Any:
    _, folder, wanted = run_folder()
    kept = records.take_in(folder)
    if records.count_of(kept) != wanted:
        raise RuntimeError(f"{records.count_of(kept)} records of {wanted} came in")
    return kept


def merging_ns(outputs: list[records.Output]) -> int:
    start = cpu_clock()
    records.merge(outputs)
    return cpu_clock() - start


def c1(count: int) -> int:
    """Net of merging the same outputs without records; both change places each time."""
    loaded, plain = tree_outputs()
    net_ns = sum(merging_ns(loaded) - merging_ns(plain) for _ in range(count))
    return round(net_ns / TREE)


def c2(count: int) -> int:
    """Bytes that a fresh process grows by."""
    _, folder, wanted = run_folder()
    command = [sys.executable, Path(__file__).with_name("kept.py"), folder]
    grown_bytes = int(subprocess.check_output(command, text=True))
    return round(grown_bytes * count / wanted)


def c3(count: int) -> int:
    """Bytes over all hops."""
    loaded, plain = tree_outputs()
    net_bytes = records.merge(loaded)[1] - records.merge(plain)[1]
    return round(net_bytes * count / TREE)


def e1(count: int) -> int:
    kept = taken_in()
    aggregate = records.aggregator(kept)
    start = cpu_clock()
    for _ in range(count):
        aggregate()
    return round((cpu_clock() - start) / records.count_of(kept))


CASES = {"c1": c1, "c2": c2, "c3": c3, "e1": e1}
