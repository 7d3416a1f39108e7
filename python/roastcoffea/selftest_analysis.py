# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of ``selftest()``: all that it does is known, or timed by itself.

What is sent to workers is defined inside functions and uses nothing else of this
module: so it is pickled by value, and runs where roastcoffea is not installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

CHUNK_EVENTS = 4000
LOOP_S = 0.1  # of CPU time, in each chunk
SLEEP_S = 0.05
DELAY_S = 0.05  # of each basket
MEMORY_BYTES = 32 * 2**20


def write_file(path: Path, chunks: int) -> float:
    """A tree with one column, a basket for each chunk; the sum of that column."""
    import numpy as np
    import uproot

    values = np.arange(chunks * CHUNK_EVENTS, dtype=np.float64)
    with uproot.recreate(path, compression=None) as root:
        tree = root.mktree("Events", {"value": "float64"})
        for part in np.split(values, chunks):
            tree.extend({"value": part})
    return float(values.sum())  # whole numbers: exact in any order


def make_source() -> Any:
    """A source of uproot that delays baskets, the large reads, by a known time.

    The methods that our hooks patch stay uproot's own: a class that is pickled by value
    gets new methods whenever it is unpickled."""
    import time

    from uproot.source.file import FileResource, MultithreadedFileSource
    from uproot.source.futures import ResourceFuture

    delay_s, large_bytes = DELAY_S, 8 * CHUNK_EVENTS

    class LateResource(FileResource):  # type: ignore[misc]
        @staticmethod
        def future(source: Any, start: int, stop: int) -> Any:
            def task(resource: Any) -> Any:
                if stop - start >= large_bytes:
                    time.sleep(delay_s)
                return resource.get(start, stop)

            return ResourceFuture(task)

    class ThrottledSource(MultithreadedFileSource):  # type: ignore[misc]
        ResourceClass = LateResource

    return ThrottledSource


def make_processor() -> Any:
    """Reads delayed columns, loops, sleeps and allocates; its output has its own times.

    Taken around a section and inside of it: our measurement lies between them.
    """
    import mmap
    import time

    import numpy as np
    from coffea.processor import ProcessorABC

    from roastcoffea import track_memory, track_metrics, track_time

    loop_s, sleep_s, memory_bytes = LOOP_S, SLEEP_S, MEMORY_BYTES
    clock, cpu_clock = time.perf_counter, time.thread_time

    class SelfTest(ProcessorABC):  # type: ignore[misc]
        @track_metrics
        def process(self, events: Any) -> dict[str, Any]:
            begin_s, begin_cpu_s = clock(), cpu_clock()
            total = float(np.asarray(events.value).sum())
            read_s = clock() - begin_s
            loop_begin_s, loop_begin_cpu_s = clock(), cpu_clock()
            while cpu_clock() - loop_begin_cpu_s < loop_s:
                sum(range(1000))
            looped_s, looped_cpu_s = clock(), cpu_clock()
            with track_time(self, "sleep"):
                sleep_begin_s = clock()
                time.sleep(sleep_s)
                inside_s = clock() - sleep_begin_s
            around_s = clock() - looped_s
            with track_memory(self, "allocation"):
                memory_begin_s = clock()
                memory = mmap.mmap(-1, memory_bytes)
                memory[:: mmap.PAGESIZE] = b"1" * (memory_bytes // mmap.PAGESIZE)
                memory_s = clock() - memory_begin_s
            memory.close()
            return {
                "sum": total,
                "read": read_s,
                "loop": looped_s - loop_begin_s,
                "loop_cpu": looped_cpu_s - loop_begin_cpu_s,
                "sleep_inside": inside_s,
                "sleep_around": around_s,
                "memory": memory_s,
                "cpu": cpu_clock() - begin_cpu_s,
                "process": clock() - begin_s,
            }

        def postprocess(self, accumulator: Any) -> None:
            pass

    return SelfTest()
