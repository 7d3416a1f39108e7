# SPDX-License-Identifier: BSD-3-Clause
"""``MetricsCollector`` and ``monitor()``: a block in which every run is measured."""

from __future__ import annotations

import functools
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from roastcoffea import _probe
from roastcoffea._setup import is_switched_off
from roastcoffea.aggregation.core import MetricsAggregator
from roastcoffea.backends.base import RunTracking, track_run
from roastcoffea.backends.registry import find_backend, is_backend_name
from roastcoffea.coffea import runner_call, runner_hook, switch
from roastcoffea.export.measurements import names_of
from roastcoffea.output_dir import OutputDir, refuse_taken
from roastcoffea.progress import LiveLine
from roastcoffea.run import NOT_ENDED, NOT_STARTED, Run
from roastcoffea.run_notes import check_label
from roastcoffea.run_recorder import RunRecorder

P = ParamSpec("P")
T = TypeVar("T")


def _run_method(
    method: Callable[Concatenate[Run, P], T],
) -> Callable[Concatenate[MetricsCollector, P], T]:
    """A method of the latest run, as one of the collector."""

    @functools.wraps(method)
    def call(self: MetricsCollector, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return method(self.run, *args, **kwargs)

    return call


def _run_value(name: str, empty: Callable[[], Any] = lambda: None) -> Any:
    """A property of the latest run, as one of the collector; ``empty()`` before."""

    def value(self: MetricsCollector) -> Any:
        return getattr(self._run, name) if self._run else empty()

    return property(value, doc=getattr(Run, name).__doc__)


class RunnerFilter:
    """Selects the Runner calls that a collector measures; ``run`` records them."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.thread = threading.get_ident()
        self.run: RunRecorder | None = None

    def is_for(self, runner: Any) -> bool:
        """Whether a Runner uses what the collector was given."""
        given = self.client
        if given is None or self.run is None:
            return False
        executors = [getattr(runner, x, None) for x in ("executor", "pre_executor")]
        clients = [getattr(executor, "client", None) for executor in executors]
        return given is runner or any(given is x for x in (*executors, *clients))

    def wants(self, runner: Any) -> bool:
        """Whether the collector measures all calls of its thread."""
        return self.client is None


def _labels(given: Any) -> dict[Any, Any]:
    if given is not None and not isinstance(given, Mapping):
        kind = type(given).__name__
        raise TypeError(f"labels must be a mapping of names to texts, not {kind}")
    labels = dict(given or {})
    for name in labels:
        check_label(name)
    return labels


class MetricsCollector:
    """Measures what happens inside its ``with`` block.

    ``client`` is a coffea executor, a Runner, a ``distributed.Client`` or None
    (everything in this thread). Every ``with`` starts a new run; the ``run`` object of
    the one before stays valid.
    """

    _puts_records_in_output = True  # until extract_metrics_from_output()

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
        hot_lines: bool = True,
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
        self._hot_lines = bool(hot_lines) and not is_switched_off(
            "ROASTCOFFEA_HOT_LINES"
        )
        self.measurement_name = measurement_name
        names_of(measurement_name)  # refuses an invalid name now
        if measurement_name is not None and self._writes():
            refuse_taken(output_dir, measurement_name)
        self._run: Run | None = None
        self._recorder: RunRecorder | None = None
        self._files: OutputDir | None = None
        self._filter = RunnerFilter(client)
        self._line = LiveLine() if progress else None
        self._steps: list[Callable[[], None]] = []  # of leaving, while entered
        self._pid = 0
        self._ended_ns = 0
        self._tracking: RunTracking | None = None
        self._span_info: Any = None

    # ---- the block -----------------------------------------------------------

    def _enter(self) -> MetricsCollector:
        if self._steps:
            raise RuntimeError("this collector is collecting already; use another one")
        self._pid = os.getpid()
        enabled = _probe.status()["enabled"]
        self._filter = RunnerFilter(self.client)
        self._recorder = self._files = None
        self._steps = [
            *(self._restore, self._flush, self._keep_span, self._end_tracking),
            *(self._end_live_line, self._end_dask, self._close, self._finish),
            self._save,
        ]
        try:  # coffea's import comes first: it is no part of the run
            why = None
            if enabled:
                why = runner_hook.install(self._filter, runner_call.begin)
            run = self._begin()
            run.guarded("records of calls", run.open)
            if not enabled:
                text = "roastcoffea is switched off (ROASTCOFFEA=off)"
                run.notes.set_text("why_off", text)
                return self
            if why:
                run.note_error("Runner.run", RuntimeError(why))
            run.guarded("switch of the processor", self._hold)
            run.guarded("start of the sampling", self._start_tracking, run)
            if self._line:
                run.guarded("live line", self._line.start, run)
        except Exception as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def _writes(self) -> bool:
        return self.output_dir is not None and _probe.status()["enabled"]

    def _begin(self) -> RunRecorder:
        """A new run; with an ``output_dir`` it is written to disk from the start."""
        self._recorder = run = RunRecorder()
        self._run, self._span_info = Run(run.core, recorder=run), None
        run.with_hot_lines = self._hot_lines
        run.puts_records_in_output = self._puts_records_in_output
        if self._writes():
            self._files = OutputDir(self.output_dir, self.measurement_name)
            self._files.open_live(run.core)
        interval_s = self.worker_tracking_interval if self.track_workers else 0.0
        run.begin(self.labels, interval_s)
        if self._files:
            self._files.warn_begun(run)
        self._filter.run = run
        return run

    def _hold(self) -> None:
        if self.processor_instance is not None:
            switch.hold(self.processor_instance, self)

    def _leave(
        self,
        exc_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> list[Callable[[], None]]:
        """The steps, which C takes one by one, whatever raises (ext/probe/held.c)."""
        if os.getpid() != self._pid:
            return []  # a forked child: the threads of the run are its parent's
        if error is not None and self._recorder and self._steps:
            recorder = self._recorder  # str() of the error may raise anything
            note = functools.partial(recorder.guarded, "failure", recorder.body_failed)
            self._steps.insert(0, functools.partial(note, error))
        return self._steps

    __enter__ = _probe.enter(_enter, _probe.leave(_leave))
    __exit__ = _probe.leave(_leave)

    # ---- what leaving does -------------------------------------------------------

    def _restore(self) -> None:
        self._ended_ns = time.monotonic_ns()
        runner_hook.remove(self._filter)
        if self.processor_instance is not None:
            switch.release(self.processor_instance, self)

    def _flush(self) -> None:
        if self._recorder:
            self._recorder.flush()

    def _keep_span(self) -> None:
        if self._tracking:
            self._span_info = self._tracking.span_info()

    def _end_tracking(self) -> None:
        if self._tracking:
            self._tracking.end()

    def _end_live_line(self) -> None:
        if self._line:
            self._line.stop()

    def _end_dask(self) -> None:
        if self._recorder:
            self._recorder.end_dask()

    def _close(self) -> None:
        if self._recorder:
            self._recorder.close()

    def _finish(self) -> None:
        self._tracking = None
        if self._recorder:
            self._recorder.finish(self._ended_ns)

    def _save(self) -> None:
        if self._files and self._recorder:
            self.run._measurement_path = self._files.save(self.run, self._recorder)
        self._files = None

    def _note_failed(self, step: Callable[[], None], error: Exception) -> None:
        """Count an error of a step; C calls it."""
        note = self._recorder.note_error if self._recorder else _probe.note_error
        note(step.__name__.replace("_", " ").strip(), error)

    def _start_tracking(self, run: RunRecorder) -> None:
        interval = self.worker_tracking_interval if self.track_workers else 0.0
        run.interval_s = interval
        self._tracking = track_run(self.backend, run, interval, self.client)
        self._tracking.begin()

    # ---- the latest run ------------------------------------------------------

    @property
    def run(self) -> Run:
        """The run of the latest block."""
        if self._run is None:
            raise RuntimeError(NOT_STARTED)
        return self._run

    set_coffea_report = _run_method(Run.set_coffea_report)
    extract_metrics_from_output = _run_method(Run.extract_metrics_from_output)
    set_chunk_metrics = _run_method(Run.set_chunk_metrics)
    record_chunk_metrics = _run_method(Run.record_chunk_metrics)
    record_section_metrics = _run_method(Run.record_section_metrics)
    get_metrics = _run_method(Run.get_metrics)
    print_summary = _run_method(Run.print_summary)
    save = _run_method(Run.save)
    export = _run_method(Run.export)
    to_prometheus = _run_method(Run.to_prometheus)

    def save_measurement(
        self,
        output_dir: str | os.PathLike[str],
        measurement_name: str | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write a measurement directory with a run file in it and return its path."""
        if self._run is None:
            raise RuntimeError(NOT_ENDED)
        return self._run.save_measurement(output_dir, measurement_name, config)

    metrics = _run_value("metrics")
    chunk_metrics = _run_value("chunk_metrics", list)
    section_metrics = _run_value("section_metrics", list)
    tracking_data = _run_value("tracking_data")
    span_metrics = _run_value("span_metrics", dict)
    measurement_path = _run_value("measurement_path")
    t_start = _run_value("t_start")
    t_end = _run_value("t_end")

    # ---- names of 0.1.2 ------------------------------------------------------

    @property
    def metrics_backend(self) -> Any:
        """The backend."""
        return self.backend

    @property
    def aggregator(self) -> MetricsAggregator:
        """What 0.1.2 aggregated with; get_metrics() does not need it."""
        is_local = getattr(self.backend, "is_local", False)
        return MetricsAggregator("local" if is_local else "dask")

    @property
    def processor_name(self) -> str | None:
        """The class of the processor that ran, or that the collector was given."""
        ran = self._run._notes.text("processor") if self._run else None
        if ran or self.processor_instance is None:
            return ran
        return type(self.processor_instance).__name__

    @property
    def coffea_report(self) -> Any:
        """The latest report that was passed, or that the Runner gave."""
        reports = self._recorder.reports if self._recorder else []
        return reports[-1] if reports else None

    @property
    def custom_metrics(self) -> dict[str, Any] | None:
        """What came with set_coffea_report()."""
        return (self._run.custom_metrics if self._run else None) or None

    @property
    def span_info(self) -> Any:
        """The span of the run, for get_span_metrics() of the backend."""
        return self._tracking.span_info() if self._tracking else self._span_info

    def __str__(self) -> str:
        return str(self._run) if self._run else repr(self)

    def _repr_html_(self) -> str:
        if self._run:
            return self._run._repr_html_()
        import html

        return f"<pre>{html.escape(repr(self))}</pre>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In IPython on a terminal, where there are no cards."""
        printer.text(str(self))


class Monitor(MetricsCollector):
    """The collector of :func:`monitor`: entering it returns the run."""

    _puts_records_in_output = False

    def _enter_run(self) -> Run:
        self._enter()
        return self.run

    __enter__ = _probe.enter(_enter_run, MetricsCollector.__exit__)  # type: ignore[assignment]


def monitor(output_dir: Any = None, **options: Any) -> Monitor:
    """Measure every run of coffea in the block, whatever executor it uses.

    with roastcoffea.monitor() as run:
        out = runner(fileset, processor_instance=MyProcessor())
    run.print_summary()
    """
    return Monitor(None, output_dir, **options)
