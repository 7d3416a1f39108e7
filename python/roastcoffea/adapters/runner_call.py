# SPDX-License-Identifier: BSD-3-Clause
"""One call of ``Runner.run`` inside a collector's block.

Before: the switch on the processor, an attempt around the work function, a clock around
preprocessing. After: everything as it was, the records to the collector and to whoever
looks for them in the output. What fails in here is counted by the run, never raised.
"""

from __future__ import annotations

import copy
import os
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from roastcoffea import _probe
from roastcoffea.adapters import coffea_result, switch, work_function
from roastcoffea.adapters.work_function import Token, WorkFunction
from roastcoffea.run import Run

OUTPUT_KEY = "__roastcoffea_metrics__"
CARRIES_KEY = (dict, defaultdict, OrderedDict)
PATCHED = ("_work_function", "preprocess")
CHUNKS = "_chunk_metrics"


class ChunkRecords(list[Any]):
    """The records on a processor; they stay here when the processor is sent away."""

    def __reduce__(self) -> Any:
        return list, ()


def begin(
    watchers: list[Any], runner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> RunnerCall | None:
    """What the wrapper on ``Runner.run`` calls first; None: the run goes unwatched."""
    runs = [watcher.run for watcher in watchers]
    try:
        call = RunnerCall(runs, runner, args, kwargs)
    except Exception as error:
        for run in runs:
            run.note_error("before Runner.run", error)
        return None
    try:
        call.start()
    except Exception as error:
        call.note(error)
        call.restore()
        return None
    return call


class RunnerCall:
    """A run of coffea's Runner, from entry to exit."""

    def __init__(
        self,
        runs: list[Run],
        runner: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.runs = runs
        self.runner = runner
        self.processor = kwargs.get("processor_instance", args[1] if args[1:] else None)
        self.fileset = kwargs.get("fileset", args[0] if args else None)
        self.offer = coffea_result.offer_of(runner.executor)
        self.run_id = os.urandom(16)
        self.held = False
        self.before: dict[str, Any] | None = None

    # ---- before ------------------------------------------------------------------

    def start(self) -> None:
        """Make the run measured."""
        spools = () if self.offer.in_process else self.open_spools()
        token = Token(self.run_id, _probe.process_id(), spools, self.must_unpack())
        for run in self.runs:
            run.begin_call(self.run_id, self.processor, self.offer)
        work_function.receivers[self.run_id] = self.receive
        getattr(self.processor, "__dict__", {}).pop(CHUNKS, None)
        self.held = switch.hold(self.processor)
        self.patch(token)
        self.mark("run_begin")

    def open_spools(self) -> tuple[str, ...]:
        spools = (run.open_spool() for run in self.runs)
        return tuple(spool for spool in spools if spool)

    def must_unpack(self) -> bool:
        """Whether the switch gets lost when the processor is pickled."""
        kind: Any = type(switch.owner_of(self.processor))
        names = ("__getstate__", "__reduce__", "__reduce_ex__")
        plain = all(getattr(kind, n, None) is getattr(object, n, None) for n in names)
        return not (plain and hasattr(self.processor, "process"))

    def patch(self, token: Token) -> None:
        """Put our functions on the Runner object, for this call."""
        space = vars(self.runner)
        if isinstance(space.get("_work_function"), WorkFunction):
            self.runner = copy.copy(self.runner)  # another thread is using this one
            space = vars(self.runner)
            original = space.pop("_work_function").function
            space.pop("preprocess", None)
        else:
            original = self.runner._work_function
        self.before = {name: space[name] for name in PATCHED if name in space}
        space["preprocess"] = self.timed(self.runner.preprocess)
        space["_work_function"] = WorkFunction(original, token)

    def timed(self, preprocess: Callable[..., Any]) -> Callable[..., Any]:
        def timed_preprocess(*args: Any, **kwargs: Any) -> Any:
            self.mark("preprocess_begin")
            try:
                return preprocess(*args, **kwargs)
            finally:
                self.mark("preprocess_end")

        return timed_preprocess

    # ---- meanwhile ---------------------------------------------------------------

    def receive(self, frames: bytes) -> None:
        """Frames of attempts in this process."""
        for run in self.runs:
            run.receive(frames)

    def mark(self, name: str) -> None:
        now = time.monotonic_ns()
        for run in self.runs:
            run.core.mark(name, now)

    def note(self, error: Exception) -> None:
        for run in self.runs:
            run.note_error("around Runner.run", error)

    # ---- after -------------------------------------------------------------------

    def restore(self) -> None:
        """Runner and processor as they were."""
        work_function.receivers.pop(self.run_id, None)
        if self.held:
            self.held = False
            switch.release(self.processor)
        if self.before is not None:
            space = vars(self.runner)
            for name in PATCHED:
                space.pop(name, None)
            space.update(self.before)
            self.before = None

    def failed(self, error: BaseException) -> None:
        """The run raised; the user gets that exception, we what was measured."""
        try:
            self.end()
            for run in self.runs:
                run.call_failed(error)
        except Exception as ours:
            self.note(ours)

    def finished(self, result: Any) -> Any:
        """The run returned. Gives the same result, with the records in the output."""
        try:
            self.end()
            self.take(result)
        except Exception as ours:
            self.note(ours)
        return result

    def end(self) -> None:
        self.mark("run_end")
        self.restore()
        for run in self.runs:
            run.end_call(self.fileset)

    def take(self, result: Any) -> None:
        """What coffea wraps around the output of a run."""
        wrapped = coffea_result.unwrap(result)
        if not isinstance(wrapped, dict):
            return
        frames = wrapped.pop(work_function.WRAPPED_KEY, None)
        for run in self.runs:
            if frames:
                run.receive_late(frames)
            run.take_wrapped(wrapped)
        self.give_records(wrapped)

    def give_records(self, wrapped: dict[str, Any]) -> None:
        records = self.runs[-1].records_of(self.run_id)
        if not records:
            return
        space = getattr(self.processor, "__dict__", None)
        if isinstance(space, dict):
            space[CHUNKS] = ChunkRecords(records)
        output: Any = wrapped.get("out")
        if type(output) in CARRIES_KEY:
            wrapped["out"] = output = output.copy()
            output[OUTPUT_KEY] = [*output.get(OUTPUT_KEY, ()), *records]
