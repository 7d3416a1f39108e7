# SPDX-License-Identifier: BSD-3-Clause
"""Interrupts at any line of our Python code, once or at random times."""

from __future__ import annotations

import contextlib
import functools
import random
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import roastcoffea
from collector_helpers import Measured, Surroundings, fileset_of, starts
from leftovers import in_place
from roastcoffea import MetricsCollector

PACKAGE = str(Path(roastcoffea.__file__).parent)
CATCHERS = ("dask/tokenize.py", "distributed/protocol/pickle.py")  # of any Exception


class Mine(BaseException):
    """What a handler of the user raises, as KeyboardInterrupt is."""


class Alarm(Exception):
    """The same, of a kind that our own errors have too."""


class AtLine:
    """Calls ``act`` before the ``time``-th run of a line (file, number) of our code in
    this thread. None: counts how often each line runs."""

    def __init__(
        self, line: tuple[str, int] | None, time: int, act: Callable[[], None]
    ) -> None:
        self.line = line
        self.time = time
        self.act = act
        self.counts: dict[tuple[str, int], int] = {}
        self.has_acted = False
        self.may_be_caught = False  # by foreign code that called ours

    def _global(self, frame: FrameType, event: str, arg: Any) -> Any:
        name = frame.f_code.co_filename
        if self.line is None:
            return self._local if name.startswith(PACKAGE) else None
        return self._local if name == self.line[0] else None

    def _local(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event != "line":
            return self._local
        line = frame.f_code.co_filename, frame.f_lineno
        if self.line is not None and line != self.line:
            return self._local
        count = self.counts[line] = self.counts.get(line, 0) + 1
        if line == self.line and count == self.time:
            sys.settrace(None)
            self.has_acted = True
            callers = [f.f_code for f, _ in traceback.walk_stack(frame)]
            self.may_be_caught = any(c.co_filename.endswith(CATCHERS) for c in callers)
            self.act()
            return None
        return self._local

    def acted(self, files: list[str]) -> bool:
        return self.has_acted

    def acted_uncaught(self, files: list[str]) -> bool:
        return self.has_acted and not self.may_be_caught

    def __enter__(self) -> AtLine:
        sys.settrace(self._global)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)


@contextlib.contextmanager
def handled(number: int, error: BaseException) -> Iterator[list[str]]:
    """A handler of the user's that raises; gives the files whose code it interrupts."""
    files: list[str] = []

    def handler(number: int, frame: FrameType | None) -> None:
        files.append(frame.f_code.co_filename if frame else "")
        raise error

    before = signal.signal(number, handler)
    try:
        yield files
    finally:
        signal.signal(number, before)


def is_ours(files: list[str]) -> bool:
    """Whether they are of the package or of the tests. Exceptions in others may be
    ignored, as in callbacks of weak references, or caught."""
    places = (PACKAGE, str(Path(__file__).parent))
    return all(name.startswith(places) for name in files)


def arrived(error: BaseException, seen: BaseException | None) -> bool:
    """Whether it is what was raised, or what coffea made of it."""
    while seen is not None and seen is not error:
        seen = seen.__cause__ or seen.__context__
    return seen is error


def throw(error: BaseException) -> None:
    raise error


class Counting(Measured):
    """Notes the chunks that it began, where that is this process."""

    def __init__(self) -> None:
        self.begun: list[int] = []

    def process(self, events: Any) -> Any:
        self.begun.append(events.metadata["entrystart"])
        return super().process(events)


class Block:
    """A block with one run of three chunks, and what must hold if it is interrupted."""

    def __init__(self, runner: Any, file: Path, folder: Path) -> None:
        self.runner, self.file, self.folder = runner, file, folder
        self.client = getattr(runner.executor, "client", None)  # of Dask
        self.analysis = Counting()
        self.there = in_place()

    def run(self, around: Any) -> tuple[BaseException | None, MetricsCollector]:
        """What it raises, if it does."""
        self.analysis.begun.clear()
        collector = MetricsCollector(
            self.client, self.folder, processor_instance=self.analysis
        )
        seen = None
        try:
            with around, collector:
                self.runner(fileset_of(self.file), self.analysis)
        except BaseException as error:
            seen = error
        return seen, collector

    def lines(self) -> dict[tuple[str, int], int]:
        """The lines of ours in this thread, and how often they run."""
        self.run(contextlib.nullcontext())  # imports
        tracer = AtLine(None, 0, int)
        assert self.run(tracer)[0] is None
        return tracer.counts

    def raise_at_lines(self, every: int) -> list[str]:
        """The same after exceptions that no handler raises, as those that are set from
        another thread (PyThreadState_SetAsyncExc): an interrupted step is repeated."""
        found = []
        for line in list(self.lines())[::every]:
            error = Mine()
            tracer = AtLine(line, 1, functools.partial(throw, error))
            wrong = self.interrupt(signal.SIGINT, error, tracer, tracer.acted)
            found += [f"{Path(line[0]).name}:{line[1]}: {what}" for what in wrong]
        return found

    def interrupt_lines(self, every: int) -> list[str]:
        """What is wrong after an interrupt at some of them: a Ctrl-C when a line first
        runs, or an alarm when it runs for the last time. 1: both at all of them."""
        found = []
        kinds = [(signal.SIGINT, Mine), (signal.SIGALRM, Alarm)]
        points = [
            (line, count if number == signal.SIGALRM else 1, number, kind)
            for line, count in self.lines().items()
            for number, kind in kinds
        ]
        step = 1 if every == 1 else 2 * every + 1  # an odd one takes turns
        for line, time_, number, kind in points[::step]:
            error = kind()  # not kept: its traceback holds the whole block
            send = functools.partial(signal.raise_signal, number)
            tracer = AtLine(line, time_, send)
            is_error = issubclass(kind, Exception)
            must_arrive = tracer.acted_uncaught if is_error else tracer.acted
            where = f"{Path(line[0]).name}:{line[1]} {kind.__name__}"
            wrong = self.interrupt(number, error, tracer, must_arrive)
            found += [f"{where}: {what}" for what in wrong]
        return found

    def interrupt(
        self,
        number: int,
        error: BaseException,
        around: Any,
        must_arrive: Callable[[list[str]], bool] = is_ours,
    ) -> list[str]:
        """What is wrong after an interrupted run, and after the next one."""
        surroundings = Surroundings(self.runner, self.analysis)
        with handled(number, error) as files:
            seen, collector = self.run(around)
        wrong = [str(what) for what in in_place() - self.there]
        try:
            surroundings.check()
        except AssertionError as differs:
            wrong.append(str(differs))
        if must_arrive(files) and not arrived(error, seen):
            wrong.append(f"raised {seen!r}")
        wrong += map(str, self.folder.glob("**/.saving-*"))
        if collector._run and collector.t_end is None:
            wrong.append("the run has no end")
        begun = set(self.analysis.begun)
        if begun and not begun <= set(starts(collector.chunk_metrics)):
            wrong.append(f"records of {starts(collector.chunk_metrics)}, not {begun}")
        seen, collector = self.run(contextlib.nullcontext())
        if seen or starts(collector.chunk_metrics) != [0, 1000, 2000]:
            wrong.append(f"next run: {seen!r} {starts(collector.chunk_metrics)}")
        if collector.get_metrics()["monitor_errors"]:
            wrong.append(collector.get_metrics()["monitor_first_error"])
        return wrong


@contextlib.contextmanager
def sent_at(seconds: float, number: int) -> Iterator[None]:
    """A signal for the main thread after some time, or at the end."""
    ended = threading.Event()

    def send() -> None:
        ended.wait(seconds)
        signal.pthread_kill(threading.main_thread().ident or 0, number)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def interrupt_at_random(block: Block, times: int) -> list[str]:
    """What is wrong after signals at random times, so many Ctrl-C and as many alarms;
    prints the seed."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    block.run(contextlib.nullcontext())
    begun_s = time.monotonic()
    block.run(contextlib.nullcontext())
    takes_s = time.monotonic() - begun_s
    found = []
    for number, kind in [(signal.SIGINT, Mine), (signal.SIGALRM, Alarm)] * times:
        seconds = chance.uniform(0, takes_s)
        error = kind()
        wrong = block.interrupt(number, error, sent_at(seconds, number))
        found += [f"{kind.__name__} after {seconds:.4f} s: {what}" for what in wrong]
    return found
