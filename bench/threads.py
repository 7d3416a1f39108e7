# SPDX-License-Identifier: BSD-3-Clause
"""g3: what 32 threads with 200 sections per chunk pay. There is no reference.

    python threads.py PAIRS MOST    prints one JSON object

The same chunks run through coffea's Runner on a pool of threads without a collector and
with one, in turns in one process. Sections are there in both.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from coffea.nanoevents import BaseSchema
from coffea.processor import FuturesExecutor, ProcessorABC, Runner

from lasting import folder
from pairs import Pairs
from records import ROWS, write_file
from roastcoffea import MetricsCollector, track_metrics, track_time

THREADS, CHUNKS, SECTIONS = 32, 96, 200
WORK = np.random.default_rng(1).random(20_000)


class Sections(ProcessorABC):  # type: ignore[misc]
    """An analysis of many short steps, most of them in NumPy: without the GIL."""

    @track_metrics
    def process(self, events: Any) -> dict[str, float]:
        total = 0.0
        for step in range(SECTIONS):
            with track_time(self, f"step {step}"):
                total += float(np.sqrt(WORK).sum()) + sum(range(500))
        return {"total": total}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


def chunks(path: Path, block: Any) -> float:
    """CPU seconds of a run inside of a block."""
    start = time.process_time()
    with block, ThreadPoolExecutor(THREADS) as pool:
        executor = FuturesExecutor(pool=pool, status=False)
        runner = Runner(executor, schema=BaseSchema, chunksize=ROWS)
        runner({"data": {"files": {str(path): "Events"}}}, Sections())
    return time.process_time() - start


def measure(least: int, most: int) -> dict[str, float]:
    path = folder() / "events.root"
    write_file(path, CHUNKS * ROWS)
    pairs = Pairs(
        lambda: chunks(path, nullcontext()), lambda: chunks(path, MetricsCollector())
    )
    pairs.take(least, most)
    return pairs.figures()


if __name__ == "__main__":
    print(json.dumps({"32 threads": measure(*map(int, sys.argv[1:]))}))
