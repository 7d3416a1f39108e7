# SPDX-License-Identifier: BSD-3-Clause
"""Analyses that are ill in one way each, and what the verdict says of a run of them.

Chunks of a healthy one rest: that takes time but no core, so a busy machine hardly adds
to it. All live in a module, so that processes of a pool and workers can import them.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema
from tornado.ioloop import PeriodicCallback

from collector_helpers import make_runner
from roastcoffea import MetricsCollector, track_metrics
from support import touched

MB = 10**6
KEPT: list[Any] = []  # what a leaking analysis does not give back


class Patient(processor.ProcessorABC):
    """An analysis whose chunks do ``work(events, ...)``, and give what that gives."""

    def __init__(self, work: Callable[..., Any], *args: Any) -> None:
        self.work, self.args = work, args

    @track_metrics
    def process(self, events: Any) -> Any:
        output = self.work(events, *self.args)
        return {"n": len(events)} | ({} if output is None else {"output": output})

    def postprocess(self, accumulator: Any) -> Any:
        return None


class Large(Patient):
    """Takes as long to be packed and unpacked as one with large tables."""

    def __getstate__(self) -> Any:
        time.sleep(0.6)
        return dict(self.__dict__)

    def __setstate__(self, state: Any) -> None:
        time.sleep(0.4)
        self.__dict__.update(state)


class SlowSchema(BaseSchema):
    """Takes a while to build."""

    def __init__(self, base_form: Any, *args: Any, **options: Any) -> None:
        time.sleep(0.6)
        super().__init__(base_form, *args, **options)


# ---- what chunks do ------------------------------------------------------------------


def rest(events: Any, seconds: float) -> None:
    time.sleep(seconds)


def rest_in(events: Any, name: str, seconds: float, usual_s: float) -> None:
    """Longer in one file."""
    time.sleep(seconds if events.metadata["filename"].endswith(name) else usual_s)


def rest_in_last(events: Any, folder: Path, chunks: int, seconds: float) -> None:
    """Longer in the chunk that begins last. Which one that is, is up to Dask."""
    for number in range(chunks):
        with contextlib.suppress(FileExistsError):
            (folder / str(number)).touch(exist_ok=False)
            break
    time.sleep(seconds if number == chunks - 1 else 0.5)


def read(events: Any, seconds: float) -> None:
    ak.sum(events.Hit_value)
    time.sleep(seconds)


def fail_in(events: Any, name: str) -> None:
    if events.metadata["filename"].endswith(name):
        raise OSError("no such tape")


def wait_for(events: Any, path: str, seconds: float = 0) -> None:
    while not Path(path).exists():
        time.sleep(0.01)
    time.sleep(seconds)


def keep_the_gil(events: Any, seconds: float) -> None:
    """Python for so many seconds of a core."""
    end_s = time.thread_time() + seconds
    while time.thread_time() < end_s:
        sum(range(2000))


def let_the_gil_go(events: Any, seconds: float) -> None:
    """The same outside of Python."""
    end_s = time.thread_time() + seconds
    while time.thread_time() < end_s:
        hashlib.pbkdf2_hmac("sha256", b"coffea", b"roast", 30_000)


def leak(events: Any, size_mb: int) -> None:
    KEPT.append(touched(size_mb * MB))
    time.sleep(0.1)


def give_back(events: Any, size_mb: int) -> None:
    touched(size_mb * MB).close()
    time.sleep(0.1)


def give_much(events: Any, size_mb: int) -> Any:
    """An output that does not compress."""
    return np.random.default_rng(1).integers(0, 256, size_mb * MB, np.uint8)


class Heavy:
    """An output that takes long to be merged."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __add__(self, other: Heavy) -> Heavy:
        time.sleep(self.seconds)
        return self


def give_heavy(events: Any, seconds: float) -> Any:
    return Heavy(seconds)


# ---- what workers do -----------------------------------------------------------------


def answer_late(dask_worker: Any) -> None:
    """Keep the event loop of a worker busy most of the time."""
    late = PeriodicCallback(lambda: time.sleep(0.1), 110)
    dask_worker.late = late
    late.start()


def answer_at_once(dask_worker: Any) -> None:
    dask_worker.late.stop()
    del dask_worker.late


# ---- what is said of them ------------------------------------------------------------


class Diagnosis:
    """Findings and verdict of a run."""

    def __init__(self, collector: Any) -> None:
        self.metrics = collector.get_metrics()
        assert self.metrics["monitor_errors"] == 0, self.metrics["monitor_first_error"]
        self.wall_s: float = self.metrics["wall_time"]
        self.verdict: str = self.metrics["verdict"]
        self.findings = {row["id"]: row for row in self.metrics["findings"]}

    def __repr__(self) -> str:
        return f"{self.verdict}\n{self.findings}\n{self.metrics['budget']}"

    def of(self, name: str) -> dict[str, Any]:
        """One finding, which must be among them."""
        assert name in self.findings, self
        found: dict[str, Any] = self.findings[name]
        return found

    def first(self, name: str) -> dict[str, Any]:
        """The same, and it is the first thing to change."""
        found = self.of(name)
        assert next(iter(self.findings)) == name, self
        assert self.verdict.startswith(f"First: {found['title']}: ")
        assert found["advice"] in self.verdict
        return found

    def lacks(self, name: str) -> None:
        assert name not in self.findings, self


def diagnose(
    executor: Any,
    fileset: Any,
    analysis: Any,
    *,
    before: Callable[[], Any] | None = None,
    error: str = "",
    **options: Any,
) -> Diagnosis:
    """A run of an analysis; ``before`` is called in the block, ahead of it. With an
    ``error`` the run must end by it."""
    fails = pytest.raises(Exception, match=error) if error else contextlib.nullcontext()
    with fails, MetricsCollector(executor) as collector:
        if before:
            before()
        runner = make_runner(executor, savemetrics=True, **options)
        runner(fileset, processor_instance=analysis)
    return Diagnosis(collector)
