# SPDX-License-Identifier: BSD-3-Clause
"""Records a run while its block lasts: called by the collector, the wrapper on coffea's
Runner and the Dask modules.

Facts go to the run in C at once. Errors in here are counted, never raised.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from roastcoffea import _core, _probe, provenance, spool
from roastcoffea.backends import tracking_data
from roastcoffea.coffea import fileset, plan, results
from roastcoffea.coffea.hot_lines import HotLines, read
from roastcoffea.run_notes import RunNotes, printable

if TYPE_CHECKING:
    from roastcoffea.dask.watch import Watches

NOT_TRACKED = "off"  # how workers were sampled

# Runs whose blocks last, in the order of their begin.
_open: list[RunRecorder] = []
os.register_at_fork(after_in_child=_open.clear)  # its parent reports


class RunRecorder:
    """The writing side of a run; ``core`` is the run in C, ``notes`` are its texts."""

    def __init__(self) -> None:
        self.start_mono_ns = time.monotonic_ns()
        host = socket.gethostname()
        self.core = _core.Run(self.start_mono_ns, time.time_ns(), host)
        self.notes = RunNotes(self.core)
        self.lock = threading.RLock()
        self.changes = 0  # results computed before the latest one are out of date
        self.awaits_counts = False  # of workers, from a backend of the user's
        self.interval_s = 0.0  # between samples of workers on a cluster; 0: none
        self.local_interval_s = 0.0  # the same on this machine, not started yet
        self.sources: tuple[str, ...] = ()  # of the backend
        self._unknowable: dict[str, str] = {}  # by the backend
        self.packages: set[str] = set()  # those that the analysis is in
        self.with_hot_lines = True
        self.puts_records_in_output = True
        self.hot_lines = HotLines()  # of attempts on this machine
        self.reports: list[Mapping[str, Any]] = []  # that were counted
        self.signed_urls: dict[str, str] = {}  # with credentials, never written
        self._dask: Watches | None = None
        self._without_output = 0  # calls of the Runner
        self._offers: list[tuple[int, int]] = []
        self._fileset: dict[str, Any] = {}
        self.originals: dict[Any, Any] = {}  # items that the run file cannot restore
        self.metadata: dict[int, dict[str, Any]] = {}  # of datasets, by call, as given
        self.plans: dict[int, plan.Plan] = {}  # by the number of the call
        self._handed_items: dict[tuple[int, str], set[Any]] = {}  # by call, processor
        self._handed_files: list[tuple[int, str, Any]] = []
        self._calls = 0  # of the Runner
        self._spool: str | None = None
        self._live_errors = 0

    # ---- from the collector ------------------------------------------------------

    def begin(self, labels: Mapping[Any, Any], interval_s: float) -> None:
        """The block begins; workers are sampled at this interval, or not (0)."""
        self.core.set_fact("monitor_errors", 0)
        self.notes.set_text("id", secrets.token_hex(16))
        tracked = f"{interval_s} s" if interval_s else NOT_TRACKED
        provenance.store(self.core, {"worker_tracking": tracked})
        if interval_s:
            self.core.set_fact("sampling_seconds", interval_s)
        for name, text in labels.items():
            self.guarded("labels", self.notes.set_label, name, text)
        self.guarded(
            "provenance",
            lambda: provenance.store(self.core, provenance.at_begin()),
        )

    def open(self) -> None:
        """The innermost block gets the records of calls that no Runner makes."""
        if _open:
            _open[-1].take_calls()
        else:
            _probe.take_records()  # of calls before the block: they belong to no run
        _open.append(self)

    def close(self) -> None:
        try:
            self.take_calls()
        finally:
            if self in _open:  # else an interrupted step is repeated
                _open.remove(self)

    def take_calls(self) -> None:
        """The records of decorated functions that were called directly in the block,
        and whose output cannot carry them: None, an accumulator, an exception."""
        if not _open or _open[-1] is not self:
            return
        records, dropped = _probe.take_records()
        if records:
            self.core.add_frames(b"".join(record.frame for record in records), True)
            self.changes += 1
        if dropped:
            self.core.lose("frames_dropped", dropped)

    def use_backend(self, backend: Any) -> None:
        """What a backend declares: its sources, and what it cannot know."""
        self.sources = tuple(backend.sources())
        self._set_unknowable(backend.cannot_know())

    def _set_unknowable(self, reasons: dict[str, str]) -> None:
        for name in {**self._unknowable, **reasons}:
            self.core.set_note("unknowable", name, reasons.get(name))
        self._unknowable = reasons

    def open_spool(self) -> str | None:
        """The folder that other processes of this machine write their frames to."""
        with self.lock:  # two threads may begin a call at once
            try:
                if self._spool is None:
                    self._spool = spool.make()
                    self.core.read_from(self._spool)
            except Exception as error:  # records come with the output then
                self.note_error("spool", error)
                spool.remove(self._spool)
                self._spool = None
            return self._spool

    def on_dask(self) -> Watches:
        """The schedulers of the run, which report its workers from now on."""
        with self.lock:
            if self._dask is None:
                from roastcoffea.backends.dask import CANNOT_KNOW
                from roastcoffea.dask.watch import Watches

                self._dask = Watches(self, self.interval_s)
                if self._spool is None:
                    self.core.unwatch()  # processes of this machine are no workers
                    self.core.watch(0.0, ())
                self._set_unknowable(CANNOT_KNOW)
            return self._dask

    def end_dask(self) -> None:
        """The run submits no more tasks."""
        if self._dask is not None:
            self._dask.end()
            self.guarded("text of the cluster", self._set_cluster_text)

    def _set_cluster_text(self) -> None:
        text = results.cluster_text(self.core.metrics(True))
        self.notes.set_text("executor", text)

    def finish(self, end_mono_ns: int) -> None:
        """The block has ended; what was waited for since is not part of the run."""
        if self._dask is not None:  # Ctrl-C may have come before end_dask()
            self.guarded("end on Dask", self._dask.leave)
        try:
            with self.lock:  # no other thread reads the spool then
                self.core.unwatch()
        finally:
            self.core.finish(end_mono_ns)
            self.guarded("hot lines", self._add_hot_lines)
            spool.remove(self._spool)
            self._spool = None
            self.changes += 1
        self.guarded("records and sections of the user", self.notes.write_lists)

    def _add_hot_lines(self) -> None:
        if self._spool:  # what is before a damaged line is kept
            self.guarded("hot lines", self.hot_lines.add, read(self._spool))
        self.core.add_hot_lines(self.hot_lines.hottest())

    def take_tracking(self, sampled: Any) -> None:
        """Data of a user's backend; its workers replace those of the executors."""
        counts = 0
        try:
            found = dict(sampled or {})
            counts = tracking_data.feed(self.core, found)
            self._keep_tracking(found)
        except Exception as error:
            self.note_error("tracking_data of the backend", error)
        if not counts:
            self._use_offers()

    def _keep_tracking(self, found: dict[str, Any]) -> None:
        name = "tracking_data"
        try:
            self.notes.set_document(name, found)
        except _probe.RoastError:  # too long for a note: without the samples
            series = _core.series_value_keys()
            self.notes.write(name, {k: v for k, v in found.items() if k not in series})

    def take_spans(self, spans: Any) -> None:
        """Span metrics of a user's backend."""
        self.guarded("span_metrics", self.core.set_activities, spans or {})
        self.keep_spans(spans)

    def keep_spans(self, spans: Any) -> None:
        """Keep the spans unchanged, beside the metrics computed from them."""
        name = "span_metrics"
        self.guarded(name, self.notes.set_document, name, dict(spans or {}))

    def body_failed(self, error: BaseException) -> None:
        """The user's own code in the block raised."""
        if not (isinstance(error, SystemExit) and not error.code):
            self.notes.set_text("failure", _one_line(error))

    # ---- errors of ours ----------------------------------------------------------

    def note_error(self, where: str, error: BaseException, count: int = 1) -> None:
        """Count an error of the monitor; the first one is kept as a text."""
        with contextlib.suppress(MemoryError):  # it is counted anyway
            if not self.notes.text("first_error"):
                text = f"{where}: {_one_line(error)}"[:300]
                self.notes.set_text("first_error", text)
        self.core.add_fact("monitor_errors", count)
        self.changes += 1

    @_probe.leave
    def guarded(self, what: str, step: Callable[..., Any], *args: Any) -> None:
        """Call a step; its error is counted."""
        try:
            step(*args)
        except Exception as error:
            self.note_error(what, error)

    def count_live_errors(self) -> None:
        """Count the errors of the live file since the last call."""
        state = self.core.live_state()
        if state and state["errors"] > self._live_errors:
            new = state["errors"] - self._live_errors
            self._live_errors = state["errors"]
            self.note_error("live file", OSError(state["first_error"]), new)

    # ---- from a call of Runner.run -----------------------------------------------

    def begin_call(
        self,
        run_id: bytes,
        processor: Any,
        offer: results.Offer,
        runner: Any = None,
        given: Any = None,
    ) -> int:
        """Returns the number of the call: 1, 2 ..."""
        with self.lock:
            self._calls += 1
            number = self._calls
        self.core.accept(run_id)
        self.core.add_fact("runner_calls", 1)
        self.core.add_fact("runner_failures", 0)
        self.core.add_fact("runner_outputs", 0)
        self._without_output += 1
        name = getattr(processor, "__name__", type(processor).__name__)
        self.notes.set_text("processor", name)
        self.packages.add(str(type(processor).__module__).partition(".")[0])
        self.notes.set_text("executor", offer.text)
        if offer.is_local:
            self.guarded("start of the sampling", self._sample_here)
        if offer.workers:
            self._offers.append((time.time_ns(), offer.workers))
        if not self.awaits_counts:
            self._use_offers()
        self.guarded(
            "settings of the Runner",
            lambda: provenance.store(self.core, provenance.settings(runner)),
        )
        text = plan.call_text(run_id, processor, runner, given)
        self.note_call(number, "call", text)
        return number

    def hand_out(self, document: Mapping[str, Any], again: Any) -> None:
        """The user got what a call misses, as items or as a fileset."""
        if not again:
            return
        call = document["call"], document["processor"]
        if isinstance(again, list):
            self._handed_items.setdefault(call, set()).update(again)
        else:
            self._handed_files.append((*call, again))

    def take_over_items(self, number: int, processor: Any, given: Iterable[Any]) -> int:
        """A call runs again what was handed out of earlier ones, and nothing else: they
        do not miss it any more, or it would be handed out, and added, twice. Returns
        the number of items."""
        found: dict[int, set[Any]] = {}
        left = set(given)
        for call in sorted(self._handed_items, reverse=True):  # the latest to miss it
            again = left & self._handed_items[call]
            if again and call[1] == plan.name_of(processor):
                found[call[0]] = again
                left -= again
        if left:
            return 0
        for earlier, again in found.items():
            text = self.plans[earlier].result_text(again)
            self._append_to_call(earlier, "moved", text)
            self._append_to_call(number, "call", f"{plan.RERUNS}\t{earlier}")
        return sum(map(len, found.values()))

    def take_over_files(self, number: int, processor: Any, given: Any) -> None:
        """The same for a fileset that was handed out."""
        for earlier, name, files in reversed(self._handed_files):
            if name == plan.name_of(processor) and given == files:
                plain = fileset.plain_fileset(given)
                text = fileset.text_of(fileset.encoded(plain)) or ""
                self._append_to_call(earlier, "moved files", text)
                self._append_to_call(number, "call", f"{plan.RERUNS}\t{earlier}")
                return

    def _append_to_call(self, number: int, what: str, text: str) -> None:
        if text:
            before = self.core.note("call", f"{number} {what}")
            self.note_call(number, what, f"{before}\n{text}" if before else text)

    def note_call(self, number: int, what: str, text: str | None) -> None:
        """``call``, ``given``, ``items`` or ``result`` of a call, for C."""
        self.core.set_note("call", f"{number} {what}", text)
        self.changes += 1

    def _sample_here(self) -> None:
        """Start the sampling of this machine, if it was postponed."""
        interval_s, self.local_interval_s = self.local_interval_s, 0.0
        if interval_s:
            self.core.unwatch()
            self.core.watch(interval_s, self.sources)

    def _use_offers(self) -> None:
        """Count the workers that the executors have."""
        for when_ns, workers in self._offers:
            self.core.offer(when_ns, workers, workers)
        self._offers.clear()

    def take_fileset(self, number: int, given: Any, treename: Any) -> None:
        """The fileset of a call."""
        read = fileset.plain_fileset(given, treename)
        plain = fileset.encoded(read)
        if not plain:
            return
        self.metadata[number] = {
            fileset.stored_name(name): fileset.others_of(entry)
            for name, entry in read.items()
        }
        self.signed_urls |= fileset.signed(given)
        self._fileset = fileset.merged(self._fileset, plain)
        digest = fileset.hash_of(self._fileset)
        provenance.store(self.core, {"fileset_sha256": digest})
        self.note_call(number, "given", fileset.text_of(plain))

    def learn_names(self, items: Any) -> None:
        """Datasets and files that begin frames name by id.

        Called before the first chunk begins: a live file has them even if this process
        is killed."""
        for name in results.names_of(items):
            self.core.learn_name(fileset.stored_name(name))

    def mark(self, name: str, mono_ns: int) -> None:
        """A moment of the client."""
        self.guarded("mark", self.core.mark, name, mono_ns)

    @contextlib.contextmanager
    def own_wait(self) -> Iterator[None]:
        """The monitor makes the thread of the block wait: not the user's time."""
        self.mark("own_begin", time.monotonic_ns())
        try:
            yield
        finally:
            self.mark("own_end", time.monotonic_ns())

    def process_died(self, pid: int, exit_code: int | None, time_ns: int) -> None:
        """A process of a pool died; None: its exit code is not known."""
        code = "?" if exit_code is None else exit_code
        self.guarded(
            "death of a process",
            self.core.set_note,
            "death",
            str(pid),
            f"{code} {time_ns}",
        )

    def client_did(self, prefix: str, start_ns: int, stop_ns: int) -> None:
        """Work of the client itself, where it is the only worker."""
        self.guarded(
            "work of the client", self.core.add_client_task, prefix, start_ns, stop_ns
        )

    def receive(self, frames: bytes) -> None:
        """Frames from this process, as they are made."""
        self.guarded("frames", self.core.add_frames, frames)

    def receive_late(self, frames: Iterable[bytes], lost: bool) -> None:
        """Frames that came with the output: on Dask, or without a spool."""
        pieces = list(frames)
        self.core.add_frames(b"".join(pieces))
        if lost:
            self.core.lose("spool_unwritable", len(pieces))

    def flush(self) -> None:
        """The block ends: what has arrived goes to the live file first."""
        self.take_calls()
        with self.lock:
            self.core.sync()
        self.core.live_flush()

    def end_call(self) -> None:
        with self.lock:
            self.core.sync()
        self.changes += 1

    def call_failed(self, error: BaseException) -> None:
        self.core.add_fact("runner_failures", 1)
        self.notes.set_text("failure", _one_line(error))

    def call_returned(self) -> None:
        """The call returned an output: the results of its chunks are not lost."""
        self.core.add_fact("runner_outputs", 1)
        self._without_output -= 1

    def lacks_output(self) -> bool:
        """Whether results of chunks, and frames with them, may be missing."""
        return self._without_output > 0

    def take_wrapped(self, wrapped: dict[str, Any]) -> None:
        """Report, processed items and exception of a call that returned."""
        report = wrapped.get("metrics")
        if isinstance(report, Mapping):
            self.reports.append(report)
            for fact, value in results.numbers_of(report).items():
                self.core.add_fact(fact, value)
        processed = results.processed_of(wrapped)
        if processed:
            self.core.add_fact("processed_chunks", processed[0])
            self.core.add_fact("processed_events", processed[1])
            self.learn_names(wrapped["processed"])
        error = wrapped.get("exception")
        if isinstance(error, BaseException):
            self.call_failed(error)
        self.changes += 1

    def records_of(self, run_id: bytes) -> Sequence[Mapping[str, Any]]:
        """The records of the chunks that ended well in one call of Runner.run."""
        return _probe.records_at(self.core, self.core.rows(run_id))


def _one_line(error: BaseException) -> str:
    """An exception for the first screen, without secrets."""
    words = " ".join(results.text_of(error).split())
    return printable(words)[:400].removesuffix(":")  # redacted before it is cut
