# SPDX-License-Identifier: BSD-3-Clause
"""Whatever step of ours fails around the user's call: the result is the same, so is the
user's exception, the failure is counted, and the next chunk is measured."""

from __future__ import annotations

import pytest
from coffea.processor import executor as coffea_executor
from coffea.processor.executor import WorkItem
from distributed import Client, LocalCluster

from collector_helpers import (
    CHUNKS,
    Measured,
    fileset_of,
    iterative,
    make_runner,
    threads,
)
from roastcoffea import MetricsCollector, _probe, track_metrics
from roastcoffea.coffea import hooks, work_function
from roastcoffea.coffea.guard import guarded
from roastcoffea.coffea.packing import packing
from roastcoffea.coffea.work_function import WRAPPED_KEY, Token, WorkFunction
from roastcoffea.dask.task import Place, outbox
from support import KEY, Events
from worker_plugins import Plugged, make_function, one

RUN_ID = bytes(range(16))
ITEM = WorkItem("ttbar", "/data/a.root", "Events", 0, 10, b"0" * 16)
EXPECTED = {"out": {"n": 10}, "processed": {0}}
STEPS = {
    "item": (work_function, "item_of"),
    "flush packing": (packing, "flush_thread"),
    "begin": (_probe, "attempt_begin"),
    "hooks in": (hooks, "arm"),
    "switch": (work_function, "_switched_on"),
    "hooks out": (hooks, "disarm"),
    "end": (_probe, "attempt_end"),
    "hand over": (work_function, "_deliver"),
    "expect packing": (packing, "expect"),
    "packed": (_probe, "attempt_packed"),
}
DASK_STEPS = {
    "send": (Place, "send"),
    "trouble": (Place, "report_disarmed"),
    "waited": (work_function, "_waited"),
    "keep": (Place, "keep"),
}
ALWAYS = 10**9


class Broken:
    """A step that fails some times, and then does what it did before. C does its work
    in any case, and fails to give what comes of it."""

    def __init__(self, monkeypatch, owner, name, times=ALWAYS, after=0):
        self.is_c = owner is _probe
        self.original = vars(owner).get(name) or getattr(owner, name)
        self.calls, self.after, self.until = 0, after, after + times
        monkeypatch.setattr(owner, name, lambda *args: self.call(args))

    def call(self, args):
        self.calls += 1
        fails = self.after < self.calls <= self.until
        result = self.original(*args) if self.is_c or not fails else None
        if fails:
            raise MemoryError("no room for us")
        return result


def chunk(item, processor_instance=None):
    return {"out": {"n": item.entrystop}, "processed": {item.entrystart}}


def fail(item, processor_instance=None):
    raise KeyError("mine")


def plain(result):
    return {key: value for key, value in result.items() if key != WRAPPED_KEY}


@pytest.fixture
def received(monkeypatch):
    """What a collector of this process hears."""
    frames = []
    monkeypatch.setitem(work_function.receivers, RUN_ID, frames.append)
    yield frames
    packing.clear()
    hooks.clear()


def work(function, **more):
    token = Token(RUN_ID, _probe.process_id(), (), True, packs=True)
    return WorkFunction(function, token._replace(**more))


def ends(frames):
    records = [record for each in frames for record in _probe.read_frames(each)]
    return [record for record in records if record.kind == "end"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("counts_entries", [False, True])
def test_chunk_is_unharmed_by_a_step_that_fails(
    monkeypatch, monitor_errors, received, step, counts_entries
):
    more = {"counts_entries": counts_entries}
    with monkeypatch.context() as patch:
        broken = Broken(patch, *STEPS[step])
        packed = coffea_executor._compression_wrapper(1, work(chunk, **more), "chunk")
        result = coffea_executor._decompress(packed(ITEM))
        with pytest.raises(KeyError, match="mine"):
            work(fail, **more)(ITEM)
    assert plain(result) == EXPECTED
    assert monitor_errors() >= bool(broken.calls)
    assert broken.calls or counts_entries
    hooks.clear()
    received.clear()
    assert work(chunk)(ITEM) == EXPECTED
    assert ends(received) == []  # until it is packed
    packing.clear()
    assert len(ends(received)) == 1


@pytest.mark.parametrize("executor", [iterative, threads])
@pytest.mark.parametrize("step", ["hooks in", "hand over"])
def test_run_is_unharmed(monkeypatch, monitor_errors, tiny_file, executor, step):
    expected = make_runner(executor())(fileset_of(tiny_file), Measured())
    with monkeypatch.context() as patch, MetricsCollector() as collector:
        broken = Broken(patch, *STEPS[step])
        output = make_runner(executor())(fileset_of(tiny_file), Measured())
    assert {key: output[key] for key in output if key != KEY} == expected
    assert monitor_errors() == broken.calls >= CHUNKS
    assert collector.get_metrics()["monitor_errors"] > 0


@pytest.mark.parametrize("token", [(1,) * 20, (), None])
def test_token_of_another_release_gives_the_plain_function(monitor_errors, token):
    assert _probe.user_functions.work_function(chunk, token) is chunk
    assert monitor_errors() == 1


def test_ctrl_c_is_the_users():
    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        guarded("a step", interrupt)


def test_text_of_an_error_can_be_sent(monitor_errors):
    """Whatever it is: Dask cuts a worker off whose words are not UTF-8."""
    _probe.note_error("a step", ValueError("half a character: \udcff"))
    assert monitor_errors() == 1
    assert _probe.status()["first_error"].encode()


# ---- on Dask -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    """Two workers in this process."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(processes=False, **options) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def events(client):
    with Plugged(client) as events:
        assert all(status.startswith("measured") for status in events.status(2))
        yield events


@pytest.mark.parametrize("step", [*STEPS, *DASK_STEPS])
def test_chunk_on_dask_is_unharmed(client, events, monkeypatch, monitor_errors, step):
    more = {"marks": (events.mark,), "client": 7}
    sent, failing = (work(each, packs=False, **more) for each in (chunk, fail))
    packed = coffea_executor._compression_wrapper(1, work(chunk, **more), "chunk")
    with monkeypatch.context() as patch:
        broken = Broken(patch, *(STEPS | DASK_STEPS)[step])
        results = [one(client, sent, ITEM)]
        results.append(coffea_executor._decompress(one(client, packed, ITEM)))
        with pytest.raises(KeyError, match="mine"):
            one(client, failing, ITEM)
    assert [plain(result) for result in results] == [EXPECTED, EXPECTED]
    assert monitor_errors() >= bool(broken.calls)
    assert plain(one(client, sent, ITEM)) == EXPECTED


@pytest.mark.parametrize("after", [0, 1, 2, 3], ids=lambda calls: f"call {calls + 1}")
@pytest.mark.parametrize(
    "step",
    [(Place, "send"), (outbox, "put"), (hooks, "arm"), (hooks, "disarm")],
    ids=lambda step: step[1],
)
def test_decorated_function_is_unharmed(
    client, events, monkeypatch, monitor_errors, step, after
):
    """Each of them is called before the user's function, after it, or both."""
    count = make_function()

    def task():
        return [count(Events(size))["n"] for size in (1, 2, 3)]

    @track_metrics
    def failing(events):
        raise KeyError("mine")

    with events.tasks():
        with monkeypatch.context() as patch:
            broken = Broken(patch, *step, times=1, after=after)
            assert one(client, task) == [1, 2, 3]
        assert monitor_errors() >= (broken.calls > after)
        with monkeypatch.context() as patch:
            Broken(patch, *step)
            with pytest.raises(KeyError, match="mine"):
                one(client, failing, Events())
        assert one(client, task) == [1, 2, 3]


class Answering(type):
    """A metaclass that has every attribute."""

    def __getattr__(cls, name):
        return 7


class Raising(type):
    def __getattribute__(cls, name):
        if name == "__dataclass_fields__":
            raise RuntimeError("leave me alone")
        return super().__getattribute__(name)


@pytest.mark.parametrize("meta", [Answering, Raising])
def test_argument_of_a_hostile_class_is_an_argument(
    client, events, monitor_errors, meta
):
    def task():
        hostile = meta("Hostile", (Events,), {})

        @track_metrics
        def count(events, *, other):
            return {"n": len(events) + len(other)}

        return count(hostile(2), other=hostile(3))

    with events.tasks():
        assert one(client, task) == {"n": 5}
    events.records("chunk", 1)
