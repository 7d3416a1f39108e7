# SPDX-License-Identifier: BSD-3-Clause
"""``MetricsCollector`` and ``monitor()``: a block in which every run is measured."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from roastcoffea import _probe
from roastcoffea.adapters import runner_call, runner_hook, switch
from roastcoffea.adapters.runner_call import OUTPUT_KEY
from roastcoffea.backends.find import find_backend, is_backend_name
from roastcoffea.backends.local import LocalMetricsBackend
from roastcoffea.progress import LiveLine
from roastcoffea.run import NOT_ENDED, NOT_STARTED, Run


class MetricsCollector:
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
        self.labels = dict(labels or {})
        self.measurement_name = measurement_name
        self.measurement_path: Path | None = None
        self.thread = 0
        self._line = LiveLine() if progress else None
        self._run: Run | None = None
        self._entered = False
        self._pid = 0
        self._held = False
        self._span: Any = None

    # ---- the block -----------------------------------------------------------

    def __enter__(self) -> MetricsCollector:
        if self._entered:
            raise RuntimeError("this collector is collecting already; use another one")
        self.thread = threading.get_ident()
        self._pid = os.getpid()
        enabled = _probe.status()["enabled"]
        try:  # coffea's import comes first: it is no part of the run
            why = runner_hook.install(self, runner_call.begin) if enabled else None
            self._run = run = Run(self.labels)
        except BaseException:
            runner_hook.remove(self)
            raise
        self._entered = True
        if not enabled:
            run.why_off = "roastcoffea is switched off (ROASTCOFFEA=off)"
            return self
        if why:
            run.note_error("Runner.run", RuntimeError(why))
        try:
            self._try(run, "switch of the processor", self._hold)
            self._try(run, "start of the sampling", self._start_tracking)
            if self._line:
                self._try(run, "live line", self._line.start)
        except BaseException as error:  # Ctrl-C, while a backend was starting
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def _try(self, run: Run, what: str, step: Callable[[Run], None]) -> None:
        """A step of ours; when it fails, the block runs without."""
        try:
            step(run)
        except Exception as error:
            run.note_error(what, error)

    def _hold(self, run: Run) -> None:
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
        try:
            if error is not None and not run.failure:
                run.body_failed(error)
            if self._line:
                self._line.stop()
            if not run.why_off:
                self._stop_tracking(run)
        except Exception as ours:  # the user's exception is the one to be seen
            run.note_error("end of the block", ours)
        finally:
            self._try(run, "end of the block", Run.finish)
        if self.output_dir is not None and not run.why_off:
            self._write(run)

    def _start_tracking(self, run: Run) -> None:
        interval = self.worker_tracking_interval if self.track_workers else 0.0
        if isinstance(self.backend, LocalMetricsBackend):
            self.backend = LocalMetricsBackend(run.core)
            run.core.watch(interval)
            return
        run.core.watch(0.0)
        run.awaits_counts = self.track_workers
        if self.track_workers:
            self._ask("start_tracking", interval)
        fine = self._ask("supports_fine_metrics")
        self._span = self._ask("create_span", "coffea-processing") if fine else None

    def _stop_tracking(self, run: Run) -> None:
        if isinstance(self.backend, LocalMetricsBackend):
            return  # finish() stops it
        run.take_tracking(self._ask("stop_tracking") if self.track_workers else None)
        if self._span is not None:
            run.span_metrics = self._ask("get_span_metrics", self._span) or {}

    def _ask(self, method: str, *args: Any) -> Any:
        """A method of the user's backend; None where it raises."""
        try:
            return getattr(self.backend, method)(*args)
        except Exception as error:
            self.run.note_error(f"{method}() of the backend", error)
            return None

    def _write(self, run: Run) -> None:
        try:
            self.measurement_path = run.save_measurement(
                self.output_dir, self.measurement_name
            )
        except Exception as error:  # a full disk must not cost the user their result
            run.note_error("output_dir", error)
            text = f"roastcoffea could not write to {self.output_dir}: {error}"
            with contextlib.suppress(UserWarning):  # where warnings are errors
                warnings.warn(text, stacklevel=3)

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

    # ---- what users hand over ------------------------------------------------

    @property
    def run(self) -> Run:
        """The run of the latest block."""
        if self._run is None:
            raise RuntimeError(NOT_STARTED)
        return self._run

    def set_coffea_report(
        self, report: Any, custom_metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Hand over coffea's report, ``(output, report)`` or an Ok/Err of it."""
        self.run.set_report(report, custom_metrics)

    def extract_metrics_from_output(self, output: Any) -> Any:
        """Take our key out of an output; gives the output back."""
        run = self.run
        if isinstance(output, dict) and isinstance(output.get(OUTPUT_KEY), list):
            run.add_records(output.pop(OUTPUT_KEY))
        return output

    def set_chunk_metrics(self, chunk_metrics: Iterable[Any]) -> None:
        """Hand over records; those that are known already are not counted again."""
        self.run.add_records(chunk_metrics or ())

    def record_chunk_metrics(self, chunk_metrics: Mapping[str, Any]) -> None:
        """Hand over one record."""
        self.run.add_records([chunk_metrics], may_repeat=False)

    def record_section_metrics(self, section_metrics: Mapping[str, Any]) -> None:
        """Hand over one section that was measured by other means."""
        self.run.add_section(section_metrics)

    # ---- results -------------------------------------------------------------

    def get_metrics(self) -> dict[str, Any]:
        """All metrics of the run, also while it goes on."""
        return self.run.metrics

    @property
    def metrics(self) -> dict[str, Any] | None:
        """The same; None before the first block."""
        return self._run.metrics if self._run else None

    def print_summary(self) -> None:
        """Print what was measured."""
        self.run.print_summary()

    def save_measurement(
        self, output_dir: Any, measurement_name: str | None = None, config: Any = None
    ) -> Path:
        """Write a measurement directory; its path."""
        if self._run is None:
            raise RuntimeError(NOT_ENDED)
        return self.run.save_measurement(output_dir, measurement_name, config)

    @property
    def chunk_metrics(self) -> list[dict[str, Any]]:
        """A list with a dict for every chunk record."""
        return self._run.chunk_metrics if self._run else []

    @property
    def section_metrics(self) -> list[dict[str, Any]]:
        return self._run.section_metrics if self._run else []

    @property
    def tracking_data(self) -> dict[str, Any] | None:
        """What was sampled of workers; None when nothing was."""
        if self._run is None or not self.track_workers:
            return None
        return self._run.tracking_data

    @property
    def span_metrics(self) -> dict[Any, Any]:
        return self._run.span_metrics if self._run else {}

    @property
    def t_start(self) -> float | None:
        """When the block began, in seconds since 1970."""
        return self._run.t_start if self._run else None

    @property
    def t_end(self) -> float | None:
        """When it ended; None while it goes on."""
        return self._run.t_end if self._run else None

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


def monitor(output_dir: Any = None, **options: Any) -> MetricsCollector:
    """Measure every run of coffea in the block, whatever executor it uses.

    with roastcoffea.monitor() as run:
        out = runner(fileset, processor_instance=MyProcessor())
    run.print_summary()
    """
    return MetricsCollector(None, output_dir, **options)
