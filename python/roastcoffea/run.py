# SPDX-License-Identifier: BSD-3-Clause
"""A run: what one block measured, and what it means.

The facts are in C columns (``core``); this object hands facts in and gives meaning out.
It lives on after its collector is used again.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from roastcoffea import _core, _probe, spool
from roastcoffea.adapters import coffea_result, tracking
from roastcoffea.handed import HandOver
from roastcoffea.metrics import Metrics, chunk_dicts, heading, shown

NOT_STARTED = "Timing not available: enter the collector's block first"
NOT_ENDED = "Cannot save measurement before context manager completes"


class Run:
    """Everything that was measured between entering a block and leaving it."""

    def __init__(self, labels: Mapping[str, str] | None = None) -> None:
        self.start_mono_ns = time.monotonic_ns()
        self.start_epoch_ns = time.time_ns()
        self.core = _core.Run(
            self.start_mono_ns, self.start_epoch_ns, socket.gethostname()
        )
        self.core.set_fact("monitor_errors", 0)
        self.labels = dict(labels or {})
        self.t_start = self.start_epoch_ns / 1e9
        self.t_end: float | None = None
        self.processor_name: str | None = None
        self.executor_text: str | None = None
        self.failure: str | None = None
        self.why_off: str | None = None
        self.first_error = ""
        self.custom_metrics: dict[str, Any] = {}
        self.span_metrics: dict[Any, Any] = {}
        self.section_metrics: list[dict[str, Any]] = []
        self.foreign_tracking: dict[str, Any] = {}
        self.awaits_counts = False  # of workers, from a backend of the user's
        self._offers: list[tuple[int, int]] = []
        self._reports: list[Mapping[str, Any]] = []
        self._handed = HandOver(self.core)
        self._spool: str | None = None
        self._lock = threading.RLock()
        self._chunks: list[dict[str, Any]] | None = None
        self._metrics: Metrics | None = None

    # ---- from the collector ------------------------------------------------------

    def open_spool(self) -> str | None:
        """The folder that other processes of this machine write their frames to."""
        with self._lock:  # two threads may begin a call at once
            try:
                if self._spool is None:
                    self._spool = spool.make()
                    self.core.read_from(self._spool)
            except Exception as error:  # records come with the output then
                self.note_error("spool", error)
                spool.remove(self._spool)
                self._spool = None
            return self._spool

    def finish(self) -> None:
        """The block ends."""
        now = time.monotonic_ns()
        self.t_end = self.t_start + (now - self.start_mono_ns) / 1e9
        try:
            with self._lock:  # nobody is reading the spool then
                self.core.unwatch()
        finally:
            self.core.finish(now)
            spool.remove(self._spool)
            self._spool = None
            self._changed()

    def take_tracking(self, sampled: Any) -> None:
        """What a backend of the user's sampled; it knows workers better than we do."""
        counts = 0
        try:
            self.foreign_tracking = dict(sampled or {})
            counts = tracking.feed(self.core, self.foreign_tracking)
        except Exception as error:
            self.note_error("tracking_data of the backend", error)
        if not counts:
            self._use_offers()

    def note_error(self, where: str, error: BaseException) -> None:
        """Something of ours failed: counted and shown, never raised."""
        self.first_error = self.first_error or f"{where}: {_one_line(error)}"[:300]
        self.core.add_fact("monitor_errors", 1)
        self._changed()

    def body_failed(self, error: BaseException) -> None:
        """The user's own code in the block raised."""
        if not (isinstance(error, SystemExit) and not error.code):
            self.failure = _one_line(error)

    # ---- from a call of Runner.run ---------------------------------------------------

    def begin_call(
        self, run_id: bytes, processor: Any, offer: coffea_result.Offer
    ) -> None:
        self.core.accept(run_id)
        self.core.add_fact("runner_calls", 1)
        self.core.add_fact("runner_failures", 0)
        name = getattr(processor, "__name__", type(processor).__name__)
        self.processor_name = shown(name)
        self.executor_text = offer.text
        if offer.workers:
            self._offers.append((time.time_ns(), offer.workers))
        if not self.awaits_counts:
            self._use_offers()

    def _use_offers(self) -> None:
        """Count the workers that the executors have."""
        for when_ns, workers in self._offers:
            self.core.offer(when_ns, workers, workers)
        self._offers.clear()

    def mark(self, name: str, mono_ns: int) -> None:
        """A moment of the client."""
        try:
            self.core.mark(name, mono_ns)
        except Exception as error:
            self.note_error("mark", error)

    def receive(self, frames: bytes) -> None:
        """Frames from this process, as they are made."""
        try:
            self.core.add_frames(frames)
        except Exception as error:
            self.note_error("frames", error)

    def receive_late(self, frames: Iterable[bytes]) -> None:
        """Frames that came with the output, because the spool could not be written."""
        pieces = list(frames)
        self.core.add_frames(b"".join(pieces))
        self.core.lose("spool_unwritable", len(pieces))

    def end_call(self, fileset: Any) -> None:
        with self._lock:
            self.core.sync()
        self._learn_names(fileset)
        self._changed()

    def _learn_names(self, items: Any) -> None:
        """Chunks without a record are known by the ids of their names alone."""
        for name in coffea_result.names_of(items):
            self.core.learn_name(name)

    def call_failed(self, error: BaseException) -> None:
        self.core.add_fact("runner_failures", 1)
        self.failure = _one_line(error)

    def take_wrapped(self, wrapped: dict[str, Any]) -> None:
        """Report, processed items and exception of a run that returned."""
        report = wrapped.get("metrics")
        if isinstance(report, Mapping):
            self._reports.append(report)
            for fact, value in coffea_result.numbers_of(report).items():
                self.core.add_fact(fact, value)
        processed = coffea_result.processed_of(wrapped)
        if processed:
            self.core.add_fact("processed_chunks", processed[0])
            self.core.add_fact("processed_events", processed[1])
            self._learn_names(wrapped["processed"])
        error = wrapped.get("exception")
        if isinstance(error, BaseException):
            self.call_failed(error)
        self._changed()

    def records_of(self, run_id: bytes) -> Sequence[Mapping[str, Any]]:
        """The records of the chunks that ended well in one call of Runner.run."""
        return _probe.records_at(self.core, self.core.rows(run_id))

    # ---- from the user ---------------------------------------------------------------

    def set_report(
        self, report: Any, custom_metrics: Mapping[str, Any] | None = None
    ) -> None:
        """A report that the user hands over; one that was taken already is the same."""
        found = coffea_result.report_of(report)
        if found is None and coffea_result.is_result(report):
            return  # an Err without a value
        if found is None:
            raise TypeError(
                "set_coffea_report: expected coffea's report, (output, report) or an "
                f"Ok/Err of it, not {type(report).__name__}"
            )
        if not any(found is known for known in self._reports):
            self._reports = [found]
            for fact, value in coffea_result.numbers_of(found).items():
                self.core.set_fact(fact, value)
        custom = dict(custom_metrics or {})
        for fact, value in coffea_result.numbers_of_custom(custom).items():
            self.core.set_fact(fact, value)
        self.custom_metrics.update(custom)
        self._changed()

    def add_records(self, records: Iterable[Any], may_repeat: bool = True) -> None:
        """Records from an output, as bytes, as we made them, or made by hand."""
        self._handed.begin(may_repeat)
        for record in records:
            try:
                frame = self._handed.frame(record)
            except Exception as error:
                self.note_error("a chunk record", error)
                continue
            if frame is not None:
                self.core.add_frames(frame, True)
        self._changed()

    def add_section(self, section: Mapping[str, Any]) -> None:
        self.section_metrics.append(dict(section))
        self._changed()

    # ---- results ---------------------------------------------------------------------

    def _changed(self) -> None:
        with self._lock:
            self._chunks = None
            self._metrics = None

    @property
    def chunk_metrics(self) -> list[dict[str, Any]]:
        """One dict per chunk record, by start; built on first use."""
        with self._lock:
            self.core.sync()
            if self._chunks is None or self.t_end is None:
                self._chunks = chunk_dicts(self.core.chunks(), self._handed.made)
            return self._chunks

    @property
    def tracking_data(self) -> dict[str, Any]:
        """What was sampled of workers; with what a user's backend added."""
        return self.core.tracking() | self.foreign_tracking

    @property
    def metrics(self) -> Metrics:
        """All metrics, under all their names."""
        with self._lock:
            self.core.sync()
            if self._metrics is None or self.t_end is None:
                self._metrics = Metrics(self)
            return self._metrics

    def get_metrics(self) -> dict[str, Any]:
        """All metrics, under all their names."""
        return self.metrics

    def print_summary(self) -> None:
        """Print what was measured."""
        print(self.page("text"))

    def page(self, kind: str) -> str:
        """The run as text, as its first lines, or as a card for notebooks."""
        if self.why_off:
            return f"<div>{self.why_off}</div>" if kind == "card" else self.why_off
        with self._lock:
            self.core.sync()
        text: str = self.core.page(kind, **heading(self))
        return text

    def save_measurement(
        self, output_dir: Any, name: str | None = None, config: Any = None
    ) -> Path:
        """Write the measurement directory."""
        from roastcoffea.export.measurements import save_measurement

        if self.t_end is None:
            raise RuntimeError(NOT_ENDED)
        return save_measurement(
            self.metrics, self.t_start, self.t_end, output_dir, name, config
        )

    def __str__(self) -> str:
        return self.page("headline")

    def _repr_html_(self) -> str:
        return self.page("card")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def _one_line(error: BaseException) -> str:
    """An exception for the first screen, without secrets."""
    lines = coffea_result.text_of(error).splitlines() or [""]
    return shown(lines[0][:400]).removesuffix(": ")
