# SPDX-License-Identifier: BSD-3-Clause
"""What a block leaves behind when it has ended: there must be nothing."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import uproot
from coffea.processor import Runner

from roastcoffea import _probe, run_recorder, spool
from roastcoffea.coffea import (
    hooks,
    hot_lines,
    packing,
    runner_hook,
    switch,
    work_function,
)
from roastcoffea.run_recorder import RunRecorder

ORIGINAL = vars(Runner)["run"]
FRAMES = (
    *("frames_damaged", "frames_dropped", "scheduler_dropped", "spool_unreadable"),
    "records_missing",
)

begun: dict[RunRecorder, list[int]] = {}  # the runs since clear(): chunks of results


def _init(self: RunRecorder, *, init: Any = RunRecorder.__init__) -> None:
    init(self)
    begun[self] = []


def _take(
    self: RunRecorder, wrapped: Any, *, take: Any = RunRecorder.take_wrapped
) -> None:
    if wrapped.get("exception") is None and "processed" in wrapped:
        begun[self].append(len(wrapped["processed"]))
    take(self, wrapped)


RunRecorder.__init__ = _init  # type: ignore[method-assign]
RunRecorder.take_wrapped = _take  # type: ignore[method-assign]


def in_place() -> set[str]:
    """What is there only while a block lasts."""
    found = {
        "Runner.run": vars(Runner)["run"] is not ORIGINAL or runner_hook._active,
        "hooks": hooks._hooks.users or hooks._hooks.in_place,
        "gc.callbacks": _probe.gc_callback in gc.callbacks,
        "uproot.open": type(uproot.open).__module__ == _probe.__name__,
        "coffea's _compress": packing.packing.ours or packing.packing.waiting,
        "switch of a processor": switch._held,
        "receivers of frames": work_function.receivers,
        "receivers of hot lines": hot_lines.receivers,
        "receivers of file reads": work_function.file_read_receivers,
        "open runs": run_recorder._open,
        "spools": spool._locks,
        "threads": [t for t in threading.enumerate() if t.name.startswith("roast")],
    }
    return {what for what, is_there in found.items() if is_there}


def descriptors() -> set[str]:
    """Numbers of open files, with their names."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.add(f"{number} {os.readlink(f'/proc/self/fd/{number}')}")
    return found


def _of_runs(files: set[str]) -> list[str]:
    ours = (spool.PREFIX, "roast-live", "run.roast")
    return [name for name in files if any(each in name for each in ours)]


def uncounted(run: RunRecorder, results: list[int]) -> str:
    """Chunks in the results of coffea that the run neither kept nor counts as lost, or
    chunks that it has twice. What calls without a result produced is not known."""
    produced = sum(results)
    kept = run.core.metrics(True).get("num_successful_chunks", 0)
    if kept == produced:
        return ""
    metrics = run.core.metrics()
    lost = sum(metrics["losses"].get(name, 0) for name in FRAMES)
    lost += metrics.get("monitor_errors", 0)
    has_all = metrics.get("runner_calls") == len(results) > 0
    wrong = kept + lost < produced or (has_all and kept > produced)
    return f"{kept} + {lost} of {produced} chunks" if wrong else ""


@contextlib.contextmanager
def none_left(
    folder: Callable[[], Path | None], with_all_chunks: bool = True
) -> Iterator[None]:
    """Blocks that are entered inside leave nothing; coffea's results have no chunks of
    which the runs do not know, unless some are not measured."""
    begun.clear()
    before, opened = in_place(), descriptors()
    yield
    if not begun:
        return
    left = sorted(in_place() - before)
    if _of_runs(descriptors() - opened):
        gc.collect()  # runs that were opened and are in cycles
    left += _of_runs(descriptors() - opened)
    if (place := folder()) is not None:
        left += map(str, place.glob("**/.saving-*-*-*"))
    if with_all_chunks:
        left += filter(None, itertools.starmap(uncounted, begun.items()))
    begun.clear()
    assert not left, left
