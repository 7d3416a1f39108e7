# SPDX-License-Identifier: BSD-3-Clause
"""What the analyses of the trial do with a chunk.

All live in a module, so that processes of a pool and workers can import them. Work of
a chunk is in proportion to its events wherever a chunksize may be advised.
"""

from __future__ import annotations

import gc
import hashlib
import mmap
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
from coffea import processor

from roastcoffea import track_metrics

MB = 10**6
KEPT: list[Any] = []  # what an analysis does not give back

Step = Callable[[Any], Any]  # of a chunk; what it returns is in the output


class Analysis(processor.ProcessorABC):
    """Does some steps with each chunk."""

    def __init__(self, *steps: Step) -> None:
        self.steps = steps

    @track_metrics
    def process(self, events: Any) -> Any:
        output: dict[str, Any] = {"n": len(events)}
        for step in self.steps:
            made = step(events)
            if made is not None:
                output["made"] = made
        return output

    def postprocess(self, accumulator: Any) -> Any:
        return None


# ---- time ----------------------------------------------------------------------------


def rest(events: Any, each_s: float) -> None:
    """Sleep so long per event: work that needs no core."""
    time.sleep(each_s * len(events))


def rest_in(events: Any, dataset: str, each_s: float) -> None:
    """The same in one dataset only."""
    if events.metadata["dataset"] == dataset:
        rest(events, each_s)


def rest_in_file(events: Any, name: str, each_s: float) -> None:
    """The same in one file only."""
    if events.metadata["filename"].endswith(name):
        rest(events, each_s)


def compute(events: Any, each_s: float) -> None:
    """So many seconds of a core per event, without the GIL."""
    end_s = time.thread_time() + each_s * len(events)
    while time.thread_time() < end_s:
        hashlib.pbkdf2_hmac("sha256", b"coffea", b"roast", 30_000)


def loop(events: Any, each_s: float) -> None:
    """The same in plain Python."""
    end_s = time.thread_time() + each_s * len(events)
    while time.thread_time() < end_s:
        sum(range(2000))


def select(events: Any, name: str, each_s: float) -> Any:
    """Cut on a column and fill histograms, so many seconds of a core per event."""
    end_s = time.thread_time() + each_s * len(events)
    values = ak.flatten(events[name], axis=None)
    counts = np.zeros(100)
    while time.thread_time() < end_s:
        for cut in np.linspace(0, 0.5, 20):
            counts = np.histogram(ak.to_numpy(values[values > cut]), 100)[0]
    return counts


# ---- columns -------------------------------------------------------------------------


def read(events: Any, names: tuple[str, ...]) -> None:
    for name in names:
        ak.sum(events[name])


def select_jets(events: Any, each_s: float) -> Any:
    """Of NanoAOD; and sleep so long per event."""
    jets = events.Jet[(events.Jet.pt > 30) & (abs(events.Jet.eta) < 2.4)]
    counts = np.bincount(ak.to_numpy(ak.num(jets)), minlength=20)[:20]
    rest(events, each_s)
    return counts


def read_one(events: Any) -> None:
    """Any column; it takes long enough for every worker to have a chunk."""
    time.sleep(0.2)
    ak.materialize(events[events.fields[0]])


# ---- memory --------------------------------------------------------------------------


def touched(size_bytes: int) -> mmap.mmap:
    """Fresh memory with every page in use."""
    memory = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(0, size_bytes, mmap.PAGESIZE):
        memory[page] = 1
    return memory


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * mmap.PAGESIZE


def keep(events: Any, size_mb: int) -> None:
    """Memory that is not given back."""
    KEPT.append(touched(size_mb * MB))


def fill_up_to(events: Any, size_mb: int, seconds: float) -> None:
    """Hold as much as makes the process so large."""
    missing = size_mb * MB - resident_bytes()
    held = touched(missing) if missing > 0 else None
    time.sleep(seconds)
    if held:
        held.close()


def collect_garbage(events: Any, objects: int, times: int) -> None:
    """Many Python objects, and a collector that looks at them often."""
    held = [{"number": [number]} for number in range(objects)]
    for _ in range(times):
        gc.collect()
    del held


# ---- outputs -------------------------------------------------------------------------


class Heavy:
    """An output that takes long to be merged."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __add__(self, other: Heavy) -> Heavy:
        compute([None], self.seconds)
        return self


def give_heavy(events: Any, seconds: float) -> Any:
    return Heavy(seconds)


# ---- failures ------------------------------------------------------------------------


def is_first_time(folder: str) -> bool:
    """Whether nothing was noted in the folder yet; notes it."""
    try:
        os.close(os.open(f"{folder}/noted", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def fail_in(events: Any, name: str) -> None:
    if events.metadata["filename"].endswith(name):
        raise OSError("no such tape")


def die_once(events: Any, start: int, folder: str) -> None:
    """The first attempt at a chunk kills its process."""
    if events.metadata["entrystart"] == start and is_first_time(folder):
        os.kill(os.getpid(), signal.SIGKILL)


# ---- tasks that are no chunks --------------------------------------------------------


def small_task(number: int, seconds: float = 0.002) -> int:
    """A task of the user's own."""
    time.sleep(seconds)
    return number


def large_result(number: int, size_mb: int) -> Any:
    """Another one: what it gives stays on its worker."""
    time.sleep(0.6)
    return np.random.default_rng(number).bytes(size_mb * MB)


def small_tasks(numbers: list[int]) -> list[int]:
    return [small_task(number) for number in numbers]
