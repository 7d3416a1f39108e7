# SPDX-License-Identifier: BSD-3-Clause
"""Every entry point as a function without arguments, for tests that repeat it until a
leak would show, or let every allocation in it fail once."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from handmade_frames import a_frame_with_a_ladder
from roastcoffea import (
    BaseInstrumentationContext,
    _probe,
    track_bytes,
    track_memory,
    track_metrics,
    track_section,
    track_time,
)
from support import CountedEvents, Events, fail, make_processor, measure

Operation = Callable[[], Any]
ALL: dict[str, Callable[[], Operation]] = {}


def operation(make: Callable[[], Operation]) -> Callable[[], Operation]:
    """Registers what makes an operation, under its name."""
    ALL[make.__name__] = make
    return make


def of_chunk(work: Any, events: Any = None, on: bool = True) -> Operation:
    """One chunk that does work(self, events), always on the same objects."""
    analysis = make_processor(work, on=on)
    given = Events() if events is None else events
    return lambda: analysis.process(given)


@operation
def chunk_off() -> Operation:
    return of_chunk(lambda *_: {"n": 1}, on=False)


@operation
def chunk_with_dict() -> Operation:
    output = {"n": 1}
    return of_chunk(lambda *_: output)


@operation
def chunk_with_defaultdict() -> Operation:
    output = defaultdict(list, n=[1])
    return of_chunk(lambda *_: output)


@operation
def chunk_with_ordered_dict() -> Operation:
    output = OrderedDict(n=1, __roastcoffea_metrics__=["mine"])
    return of_chunk(lambda *_: output)


@operation
def chunk_with_none() -> Operation:
    return of_chunk(lambda *_: None)


@operation
def chunk_without_metadata() -> Operation:
    return of_chunk(lambda *_: {"n": 1}, object())


@operation
def chunk_with_bytes() -> Operation:
    def work(self: Any, events: Any) -> dict:
        with track_bytes(self, events, "bytes"):
            return {"n": 1}

    return of_chunk(work, CountedEvents())


@operation
def chunk_with_sections() -> Operation:
    def work(self: Any, events: Any) -> dict:
        with track_time(self, "a"), track_section(processor=self, name="b"):
            pass
        with track_memory(self, "\udc80"), track_time(self, 7):
            return {"n": 1}

    return of_chunk(work)


@operation
def chunk_with_user_keys() -> Operation:
    nested = {"list": [1, 2.5, None, True, b"x", "\udc80"], "dict": {1: (2, 3)}}
    foreign = object()

    def work(self: Any, events: Any) -> dict:
        chunk = self._roastcoffea_current_chunk
        chunk["nested"] = nested
        chunk["foreign"] = foreign
        chunk["huge"] = 2**70
        return {"n": 1}

    return of_chunk(work)


@operation
def chunk_with_metrics() -> Operation:
    def work(self: Any, events: Any) -> dict:
        with BaseInstrumentationContext(self, "x") as context:
            context.record_metric("mine", [1, {"a": 2}])
            context.record_metric("dropped", [[[[[[[[[1]]]]]]]]])
            return {"n": 1}

    return of_chunk(work)


@operation
def chunk_nested() -> Operation:
    inner = make_processor(lambda *_: {"n": 1})
    return of_chunk(lambda self, events: inner.process(events))


@operation
def chunk_that_fails() -> Operation:
    error = ValueError("mine")

    def work(self: Any, events: Any) -> None:
        with track_time(self, "a"), track_memory(self, "b"):
            raise error

    run = of_chunk(work)

    def fails() -> Any:
        try:
            return run()
        except ValueError as seen:
            seen.__traceback__ = None
            return {"n": int(seen is error)}

    return fails


@operation
def chunk_that_fails_in_c() -> Operation:
    run = _probe.user_functions.run

    def fails() -> Any:
        try:
            return run(int, ("mine",), None, False)
        except ValueError:
            return {"n": 1}

    return fails


@operation
def chunk_of_a_function() -> Operation:
    @track_metrics
    def analyse(events: Any, *more: Any, **others: Any) -> dict:
        return {"n": 1}

    analyse._roastcoffea_collect_metrics = True  # type: ignore[attr-defined]
    events = Events()
    return lambda: analyse(events, 1, key=2)


@operation
def sections_outside() -> Operation:
    events = CountedEvents()

    def outside() -> None:
        memory = track_memory(processor=None, name="b")
        with track_time(None, "a"), memory, track_bytes(None, events, "c"):
            BaseInstrumentationContext().record_metric("d", 1)

    return outside


@operation
def decorating() -> Operation:
    def process(self: Any, events: Any) -> None:
        """Never called."""

    return lambda: bool(track_metrics(process))


def a_record() -> Any:
    def work(self: Any, events: Any) -> None:
        with track_time(self, "a"), track_memory(self, "b"):
            self._roastcoffea_current_chunk["mine"] = {"list": [1, None]}
            BaseInstrumentationContext(self).record_metric("n", 1.5)

    return measure(work)


@operation
def record_as_dict() -> Operation:
    def work(self: Any, events: Any) -> None:
        raise OSError("mine")

    _, failed = fail(work, object())
    frames = a_record().frame + failed.frame
    truth = [dict(record) for record in _probe.read_frames(frames)]
    return lambda: [dict(record) for record in _probe.read_frames(frames)] == truth


@operation
def record_with_a_ladder() -> Operation:
    frames = a_frame_with_a_ladder()
    truth = [dict(record) for record in _probe.read_frames(frames)]
    return lambda: [dict(record) for record in _probe.read_frames(frames)] == truth


@operation
def record_made_by_hand() -> Operation:
    (record,) = _probe.read_frames(a_frame_with_a_ladder())
    mapping = dict(record) | {"timing": {"a": 1.0}, "memory": {"a": 2.0}}
    return lambda: bool(_probe.frame_of(mapping, 1))


@operation
def record_as_mapping() -> Operation:
    record = a_record()
    other = a_record()

    def use() -> tuple:
        lists = list(record), list(record.keys()), list(record.values())
        return len(record), record == other, repr(record), list(record.items()), lists

    return lambda: bool(use())


@operation
def record_copied() -> Operation:
    record = a_record()
    return lambda: copy.deepcopy(record) is copy.copy(record)


@operation
def record_pickled() -> Operation:
    record = a_record()
    return lambda: pickle.loads(pickle.dumps(record)) == record.frame


@operation
def frames_refused() -> Operation:
    frame = a_record().frame

    def refuse() -> bool:
        try:
            _probe.read_frames(frame + b"garbage")
        except _probe.FormatError as error:
            return error.code is not None
        return False

    return refuse


@operation
def names_pickled() -> Operation:
    names = [track_time, track_metrics]
    return lambda: len(pickle.dumps(names)) > 0


@operation
def names_unpickled() -> Operation:
    data = pickle.dumps([track_time, track_metrics])
    return lambda: pickle.loads(data) == [track_time, track_metrics]


@operation
def facts() -> Operation:
    return lambda: all([_probe.status(), _probe.fields(), _probe.rss_mib()])
