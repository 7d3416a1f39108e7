# SPDX-License-Identifier: BSD-3-Clause
"""One call of ``Runner.run`` inside a collector's block.

Before it: sets the switch of the processor, puts an attempt around the work function
and a clock around preprocessing. After it: restores everything, and adds the records to
the run and to the output. Errors in here are counted by the run, never raised.
"""

from __future__ import annotations

import copy
import os
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Generator, Mapping
from typing import Any

from roastcoffea import _probe
from roastcoffea.backends.dask import EXECUTORS
from roastcoffea.coffea import hooks, hot_lines, results, switch, work_function
from roastcoffea.coffea.client_work import ClientWork, workers_read_entries
from roastcoffea.coffea.guard import ForkSafeLock
from roastcoffea.coffea.packing import packing
from roastcoffea.coffea.plan import Plan, recorded
from roastcoffea.coffea.work_function import Token, WorkFunction
from roastcoffea.dask import task
from roastcoffea.dask.runner import DaskCall
from roastcoffea.run_recorder import RunRecorder
from roastcoffea.user_records import OUTPUT_KEY

CARRIES_KEY = (dict, defaultdict, OrderedDict)
FETCHERS = ("metadata_fetcher_root", "metadata_fetcher_parquet")
PATCHED = ("_work_function", "preprocess", *FETCHERS)
CHUNKS = "_chunk_metrics"

_patching = ForkSafeLock()  # two threads may use one Runner, or begin and end at once


class ChunkRecords(list[Any]):
    """The records on a processor; they are not pickled with it."""

    def __reduce__(self) -> Any:
        return list, ()


def begin(
    watchers: list[Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    undo: list[Callable[[BaseException], None]],
) -> RunnerCall | None:
    """Called first by the wrapper on ``Runner.run``; None: the call is not measured."""
    runs = [watcher.run for watcher in watchers]
    try:
        call = RunnerCall(runs, args[0], args[1:], kwargs)
        undo.append(call.restore)
        call.start()
    except Exception as error:
        for step in undo:
            step(error)
        for run in runs:
            run.note_error("before Runner.run", error)
        return None
    return call


class RunnerCall:
    """One call of coffea's ``Runner.run``."""

    def __init__(
        self,
        runs: list[RunRecorder],
        runner: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.runs = runs
        self.runner = runner
        self.args = args
        self.kwargs = kwargs
        self.numbers: list[int] = []  # of this call, in each run
        self.plan = Plan()
        self.processor = kwargs.get("processor_instance", args[1] if args[1:] else None)
        self.fileset = kwargs.get("fileset", args[0] if args else None)
        self.treename = kwargs.get("treename")
        self.offer = results.offer_of(runner.executor)
        self.run_id = os.urandom(16)
        self.pid = os.getpid()
        self.own = ClientWork(runs, self.processor)
        self.dask = DaskCall(runs, runner, self.own.end_postprocess)
        self.before: dict[str, Any] | None = None

    # ---- before ------------------------------------------------------------------

    def start(self) -> None:
        for run in self.runs:
            number = run.begin_call(
                self.run_id, self.processor, self.offer, self.runner, self.fileset
            )
            self.numbers.append(number)
        marks = self.dask.begin()
        spools: list[str | None] = []  # one for each collector
        if self.offer.is_local and not self.offer.in_process:
            spools = [run.open_spool() for run in self.runs]
        if all(spools):  # else one of the collectors would miss frames
            self.own.spools = tuple(filter(None, spools))
        token = Token(
            self.run_id,
            _probe.process_id(),
            self.own.spools,
            self.must_unpack(),
            packs=results.packs(self.runner.executor),
            with_hooks=not switch.is_off(self.processor),
            marks=marks,
            samples_lines=not self.dask.is_dask
            and all(run.with_hot_lines for run in self.runs),
            packages=tuple(
                sorted({name for run in self.runs for name in run.packages})
            ),
            name_key=_probe.name_key(),
        )
        for run, number in zip(self.runs, self.numbers, strict=True):
            given = (number, self.fileset, self.treename)
            run.guarded("fileset", run.take_fileset, *given)
            run.guarded("names of the fileset", run.learn_names, self.fileset)
        self.watch_items()
        with _patching:
            work_function.receivers[self.run_id] = self.receive
            hot_lines.receivers[self.run_id] = self.receive_hot_lines
            if workers_read_entries(self.runner):
                work_function.file_read_receivers[self.run_id] = self.own.file_read
        if isinstance(self.space().get(CHUNKS), ChunkRecords):  # of an earlier run
            del self.space()[CHUNKS]
        switch.hold(self.processor, self)
        with _patching:
            self.patch(token)
        self.mark("run_begin")

    def watch_items(self) -> None:
        """Note the items that the user gave; those of preprocess() come later."""
        if isinstance(self.fileset, Generator):
            chunks = recorded(self.fileset, self.take_given)
            if "fileset" in self.kwargs:
                self.kwargs = self.kwargs | {"fileset": chunks}
            else:
                self.args = (chunks, *self.args[1:])
        elif isinstance(self.fileset, (Mapping, str)):
            for run, number in zip(self.runs, self.numbers, strict=True):
                given = number, self.processor, self.fileset
                self.guarded(run.take_over_files, *given)
        else:
            self.take_given(self.fileset)

    def take_given(self, items: Any) -> None:
        """All items that the user gave, before the first one begins."""
        self.take_items(items)
        for run, number in zip(self.runs, self.numbers, strict=True):
            self.guarded(self.take_over, run, number, items)

    def take_over(self, run: RunRecorder, number: int, items: Any) -> None:
        again = run.take_over_items(number, self.processor, items)
        run.core.add_fact("planned_chunks", -again)  # planned by an earlier call

    def take_items(self, items: Any) -> None:
        """All items of the call are known, before the first one begins."""
        self.guarded(self.note_items, items)
        self.guarded(self.count_items, items)

    def count_items(self, items: Any) -> None:
        for run in self.runs:
            run.core.add_fact("planned_chunks", len(items))

    def note_items(self, items: Any) -> None:
        text = self.plan.items_text(items)
        for run, number in zip(self.runs, self.numbers, strict=True):
            run.originals |= self.plan.originals
            run.plans[number] = self.plan
            run.note_call(number, "items", text)

    def note_result(self, wrapped: dict[str, Any]) -> None:
        """The items in the result; if that fails, it is not known what to run again."""
        for run, number in zip(self.runs, self.numbers, strict=True):
            run.note_call(number, "result", "unknown")
        processed = wrapped.get("processed")
        is_known = isinstance(processed, (set, frozenset, list, tuple))
        text = self.plan.result_text(processed if is_known else None)
        for run, number in zip(self.runs, self.numbers, strict=True):
            run.note_call(number, "result", text)

    def space(self) -> dict[str, Any]:
        """The ``__dict__`` of the processor; for a method, of its object."""
        owner = getattr(self.processor, "__self__", self.processor)
        space = getattr(owner, "__dict__", None)
        return space if isinstance(space, dict) else {}

    def must_unpack(self) -> bool:
        """Whether the switch is lost when the processor is pickled."""
        kind: Any = type(switch.owner_of(self.processor))
        names = ("__getstate__", "__reduce__", "__reduce_ex__")
        plain = all(getattr(kind, n, None) is getattr(object, n, None) for n in names)
        return not (plain and hasattr(self.processor, "process"))

    def patch(self, token: Token) -> None:
        """Replace functions of the Runner object for this call."""
        space = vars(self.runner)
        if isinstance(space.get("_work_function"), WorkFunction):
            self.runner = copy.copy(self.runner)  # another thread is using this one
            space = vars(self.runner)
            for name in PATCHED:
                ours = space.pop(name, None)
                if name != "preprocess" and isinstance(ours, WorkFunction):
                    space[name] = ours.function
        names = (*PATCHED, *EXECUTORS)
        self.before = {name: space[name] for name in names if name in space}
        for name in EXECUTORS:
            if name in space:
                space[name] = self.dask.replaced(self.own.replaced(space[name]))
        space["preprocess"] = self.timed(self.runner.preprocess)
        work = self.runner._work_function
        space["_work_function"] = WorkFunction(work, token)
        for name in FETCHERS:
            fetch = getattr(self.runner, name, None)
            if callable(fetch):
                counting = token._replace(counts_entries=True)
                space[name] = WorkFunction(fetch, counting)

    def timed(self, preprocess: Callable[..., Any]) -> Callable[..., Any]:
        def timed_preprocess(*args: Any, **kwargs: Any) -> Any:
            self.mark("preprocess_begin")
            try:
                if kwargs.get("trace") is None:
                    chunks = preprocess(*args, **kwargs)
                else:
                    switch.pause(self.processor, self)  # traced: no chunk
                    chunks = preprocess(*args, **kwargs)
                is_plain = isinstance(chunks, Generator)
                return recorded(chunks, self.take_items) if is_plain else chunks
            finally:
                self.end_preprocess()

        return timed_preprocess

    @_probe.leave
    def end_preprocess(self) -> None:
        switch.pause(self.processor, self, on=True)
        self.mark("preprocess_end")
        self.guarded(self.own.take_notes)

    # ---- meanwhile ---------------------------------------------------------------

    def receive(self, frames: bytes) -> None:
        """Frames of attempts in this process."""
        for run in self.runs:
            run.receive(frames)

    def receive_hot_lines(self, rows: list[hot_lines.Row]) -> None:
        for run in self.runs:
            run.hot_lines.add(rows)

    def mark(self, name: str) -> None:
        now = time.monotonic_ns()
        for run in self.runs:
            run.mark(name, now)

    def note(self, error: Exception) -> None:
        for run in self.runs:
            run.note_error("around Runner.run", error)

    # ---- after -------------------------------------------------------------------

    def restore(self, error: BaseException | None = None) -> None:
        """Restore Runner and processor; may be called again."""
        self.guarded(packing.flush, self.run_id)
        self.guarded(hot_lines.flush)
        with _patching:
            work_function.receivers.pop(self.run_id, None)
            hot_lines.receivers.pop(self.run_id, None)
            work_function.file_read_receivers.pop(self.run_id, None)
            if not work_function.receivers and not task.runs:
                packing.clear()
                hooks.clear()
        self.guarded(self.dask.end)
        switch.pause(self.processor, self, on=True)
        switch.release(self.processor, self)
        if self.before is not None:
            with _patching:
                space = vars(self.runner)
                for name in PATCHED:
                    space.pop(name, None)
                space.update(self.before)
            self.before = None

    def failed(self, error: BaseException) -> None:
        """The call raised: keep what was measured."""
        if self.is_forked():
            return
        self.guarded(self.mark, "run_raised")
        self.guarded(self.end)
        for run in self.runs:
            self.guarded(run.call_failed, error)
        self.guarded(self.give_records, {})

    def finished(self, result: Any) -> Any:
        """The call returned: the same result, with the records in the output."""
        if self.is_forked():
            return result
        self.guarded(self.end)
        self.guarded(self.take, result)
        return result

    def is_forked(self) -> bool:
        """Whether this is a child of the process that made the call."""
        forked = os.getpid() != self.pid
        if forked:
            self.restore()
        return forked

    @_probe.leave
    def guarded(self, step: Callable[..., None], *args: Any) -> None:
        """Run a step; its error is counted, not raised."""
        try:
            step(*args)
        except Exception as error:
            self.note(error)

    def end(self) -> None:
        self.own.end_postprocess()
        self.mark("run_end")
        self.restore()
        for run in self.runs:
            run.end_call()

    def take(self, result: Any) -> None:
        """Read what coffea wraps around the output."""
        error = results.error_of(result)
        wrapped = results.unwrap(result)
        gave_output = wrapped is not None  # an Err may have none
        if not isinstance(wrapped, dict):
            wrapped = {}
        frames = wrapped.pop(work_function.WRAPPED_KEY, None)
        if gave_output:
            self.guarded(self.note_result, wrapped)
        for run in self.runs:
            if gave_output:
                run.call_returned()
            if error is not None:
                run.call_failed(error)
            if frames:
                run.receive_late(frames, lost=not self.dask.is_dask)
            run.take_wrapped(wrapped)
        self.give_records(wrapped)

    def give_records(self, wrapped: dict[str, Any]) -> None:
        records = self.runs[-1].records_of(self.run_id)
        if not records:
            return
        self.space()[CHUNKS] = ChunkRecords(records)
        output: Any = wrapped.get("out")
        is_wanted = any(run.puts_records_in_output for run in self.runs)
        if type(output) not in CARRIES_KEY or not is_wanted:
            return
        others = output.get(OUTPUT_KEY, [])
        if isinstance(others, list):
            wrapped["out"] = output = output.copy()
            output[OUTPUT_KEY] = [*others, *records]
