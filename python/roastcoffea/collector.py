# SPDX-License-Identifier: BSD-3-Clause
"""``MetricsCollector`` and ``monitor()``: a block in which every run is measured."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from roastcoffea import _probe
from roastcoffea.backends.base import RunTracking, track_run
from roastcoffea.backends.registry import find_backend, is_backend_name
from roastcoffea.coffea import runner_call, runner_hook, switch
from roastcoffea.export.measurements import names_of
from roastcoffea.known import check_label
from roastcoffea.latest import LatestRun
from roastcoffea.progress import LiveLine
from roastcoffea.run import NOT_TRACKED, Run
from roastcoffea.writing import Writing, refuse_taken


def _labels(given: Any) -> dict[Any, Any]:
    if given is not None and not isinstance(given, Mapping):
        kind = type(given).__name__
        raise TypeError(f"labels must be a mapping of names to texts, not {kind}")
    labels = dict(given or {})
    for name in labels:
        check_label(name)
    return labels


class MetricsCollector(LatestRun):
    """Measures what happens inside its ``with`` block.

    ``client`` is a coffea executor, a Runner, a ``distributed.Client`` or None
    (whatever runs in this thread). Every ``with`` starts a new run; the one before
    stays whole in the ``run`` object it left.
    """

    def __init__(
        self,
        client: Any = None,
        output_dir: Any = None,
        track_workers: bool = True,
        worker_tracking_interval: float = 1.0,
        processor_instance: Any = None,
        *,
        backend: Any = None,
        labels: Mapping[str, str] | None = None,
        progress: bool = False,
        measurement_name: str | None = None,
    ) -> None:
        if backend is None and is_backend_name(output_dir):
            backend, output_dir = output_dir, None  # 0.1.2 had the backend here
        self.client = client
        self.output_dir = output_dir
        self.backend = find_backend(backend, client)
        self.track_workers = track_workers
        self.worker_tracking_interval = float(worker_tracking_interval)
        if not 0 < self.worker_tracking_interval < math.inf:
            raise ValueError("worker_tracking_interval must be above 0 seconds")
        self.processor_instance = processor_instance
        self.labels = _labels(labels)
        self.measurement_name = measurement_name
        names_of(measurement_name)  # a name that is none is refused now
        if measurement_name is not None and self._writes():
            refuse_taken(output_dir, measurement_name)
        self.thread = 0
        self._line = LiveLine() if progress else None
        super().__init__()
        self._writing: Writing | None = None
        self._entered = False
        self._pid = 0
        self._held = False
        self._tracking: RunTracking | None = None

    # ---- the block -----------------------------------------------------------

    def __enter__(self) -> MetricsCollector:
        if self._entered:
            raise RuntimeError("this collector is collecting already; use another one")
        self.thread = threading.get_ident()
        self._pid = os.getpid()
        enabled = _probe.status()["enabled"]
        try:  # coffea's import comes first: it is no part of the run
            why = runner_hook.install(self, runner_call.begin) if enabled else None
            self._run = run = self._begin()
        except BaseException:
            runner_hook.remove(self)
            raise
        self._entered = True
        if not enabled:
            run.set_word("why_off", "roastcoffea is switched off (ROASTCOFFEA=off)")
            return self
        if why:
            run.note_error("Runner.run", RuntimeError(why))
        try:
            run.guarded("switch of the processor", self._hold)
            run.guarded("start of the sampling", self._start_tracking, run)
            if self._line:
                run.guarded("live line", self._line.start, run)
        except BaseException as error:  # Ctrl-C, while a backend was starting
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def _writes(self) -> bool:
        return self.output_dir is not None and _probe.status()["enabled"]

    def _begin(self) -> Run:
        """A new run, written to disk from its first moment on if it is to be."""
        run = Run()
        self._writing = None
        if self._writes():
            self._writing = Writing(self.output_dir, self.measurement_name)
            self._writing.begin(run.core)
        interval = f"{self.worker_tracking_interval} s"
        run.begin(self.labels, interval if self.track_workers else NOT_TRACKED)
        if self._writing:
            self._writing.tell_begun(run)
        return run

    def _hold(self) -> None:
        if self.processor_instance is not None:
            self._held = switch.hold(self.processor_instance)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        run, self._entered = self.run, False
        if os.getpid() != self._pid:
            return  # a forked child: the threads of the run are its parent's
        runner_hook.remove(self)
        if self._held:
            self._held = False
            switch.release(self.processor_instance)
        tracking, self._tracking = self._tracking, None
        try:
            if tracking:
                run.guarded("end of the sampling", tracking.end)
            if error is not None and not run.failure:
                run.body_failed(error)
            if self._line:
                self._line.stop()
            run.end_dask()
        except Exception as ours:  # the user's exception is the one to be seen
            run.note_error("end of the block", ours)
        finally:
            run.guarded("end of the block", run.finish)
        if self._writing:
            run.measurement_path = self._writing.end(run)

    def _start_tracking(self, run: Run) -> None:
        interval = self.worker_tracking_interval if self.track_workers else 0.0
        run.interval_s = interval
        self._tracking = track_run(self.backend, run, interval, self.client)
        self._tracking.begin()

    # ---- which runs of coffea are ours ---------------------------------------

    def is_for(self, runner: Any) -> bool:
        """Whether a Runner uses what this collector was given."""
        given = self.client
        if given is None:
            return False
        executors = [getattr(runner, x, None) for x in ("executor", "pre_executor")]
        clients = [getattr(executor, "client", None) for executor in executors]
        return given is runner or any(given is x for x in (*executors, *clients))

    def wants(self, runner: Any) -> bool:
        """Whether it takes what runs in its thread."""
        return self.client is None


class Monitor(MetricsCollector):
    """The collector of :func:`monitor`: its block gives the run itself."""

    def __enter__(self) -> Run:  # type: ignore[override]
        super().__enter__()
        return self.run


def monitor(output_dir: Any = None, **options: Any) -> Monitor:
    """Measure every run of coffea in the block, whatever executor it uses.

    with roastcoffea.monitor() as run:
        out = runner(fileset, processor_instance=MyProcessor())
    run.print_summary()
    """
    return Monitor(None, output_dir, **options)
