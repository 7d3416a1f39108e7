# SPDX-License-Identifier: BSD-3-Clause
"""A hook behaves like its original: for callers, for pickle, for code that inspects
it, and by what analyses do inside process()."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import pickle
import warnings

import awkward as ak
import cloudpickle
import pytest
import uproot
from coffea import processor
from coffea.nanoevents import BaseSchema, NanoAODSchema, NanoEventsFactory
from coffea.nanoevents.mapping import UprootSourceMapping

from hook_checks import in_place, is_hook
from reads import (
    CHUNKS,
    EVENTS,
    KINDS,
    NAMES,
    Reader,
    Run,
    bytes_of,
    check_bytes,
    fileset,
    kind_folder,
)
from roastcoffea import _probe
from roastcoffea.coffea import hook_list

folder = pytest.fixture(scope="module", name="folder")(kind_folder)
PICKLES = (pickle, cloudpickle)


def hook_on(original, name="open", binding=hook_list.PLAIN):
    return _probe.hook(hook_list.NUMBER[name], binding, original)


# ---- called -----------------------------------------------------------------------


def test_arguments_results_and_exceptions_pass_unchanged():
    error, result = ValueError("no"), object()

    def function(*args, **kwargs):
        if "fail" in kwargs:
            raise error
        return result, args, kwargs

    hook = hook_on(function)
    assert hook() == (result, (), {})
    assert hook(1, two=2) == (result, (1,), {"two": 2})
    assert hook(*range(100))[1] == tuple(range(100))
    with pytest.raises(ValueError, match="no") as caught:
        hook(fail=True)
    assert caught.value is error
    with pytest.raises(TypeError, match="positional argument"):
        hook_on(lambda one: one)()


def test_a_hook_on_a_method_binds():
    class Base:
        def method(self, more=0):
            return self, more

        @classmethod
        def make(cls, more=0):
            return cls, more

        @property
        def value(self):
            return self, "value"

    class Derived(Base):
        def method(self, more=0):
            return super().method(more + 1)

        @classmethod
        def make(cls, more=0):
            return super().make(more + 1)

    originals = {name: vars(Base)[name] for name in ("method", "make", "value")}
    Base.method = hook_on(originals["method"], "events", hook_list.METHOD)
    Base.make = hook_on(originals["make"], "from_root", hook_list.CLASS)
    Base.value = hook_on(originals["value"], "page_lists", hook_list.PROPERTY)
    for kind, more in ((Base, 0), (Derived, 1)):
        one = kind()
        assert one.method() == one.method.__func__(one) == (one, more)
        assert one.method.__self__ is one
        assert kind.make() == one.make() == (kind, more)
        assert kind.make.__self__ is kind
        assert one.value == (one, "value")
    assert Base.method(7, more=8) == (7, 8)
    assert Base.value is originals["value"]


@pytest.mark.parametrize("bad", [(99, 0, len), (-1, 0, len), (2, 9, len), (2, 0, 7)])
def test_only_what_can_be_hooked_is(bad):
    with pytest.raises((TypeError, ValueError)):
        _probe.hook(*bad)
    with pytest.raises(TypeError):
        type(hook_on(len))()


# ---- looked at --------------------------------------------------------------------


def test_a_hook_shows_what_it_stands_for():
    original = uproot.open
    with in_place():
        hook = uproot.open
        assert is_hook(hook)
        assert hook.original is original
        for name in ("__name__", "__qualname__", "__module__", "__doc__", "defaults"):
            assert getattr(hook, name) is getattr(original, name)
        assert inspect.signature(hook) == inspect.signature(original)
        assert functools.wraps(hook)(lambda: None).__name__ == "open"
        assert "open" in repr(hook)
        with pytest.raises(AttributeError):
            hook.no_such_thing  # noqa: B018


@pytest.mark.parametrize("module", PICKLES)
def test_pickled_hooks_travel_as_names(module, folder):
    """What they stand for is found where they arrive, hooked or not."""
    path = str(folder / "zlib.root")
    with in_place():
        objects = {
            "open": uproot.open,
            "partial": functools.partial(uproot.open, timeout=3),
            "method": UprootSourceMapping.extract_column,
            "made": NanoEventsFactory.from_root,
        }
        packed = {name: module.dumps(value) for name, value in objects.items()}
    found = {name: pickle.loads(data) for name, data in packed.items()}
    assert found["open"] is uproot.open
    assert found["partial"].func is uproot.open
    assert found["partial"].keywords == {"timeout": 3}
    assert found["method"] is UprootSourceMapping.extract_column
    made = found["made"]({path: "Events"}, schemaclass=BaseSchema)
    assert type(made) is NanoEventsFactory
    assert b"roastcoffea" not in b"".join(packed.values())


@pytest.mark.parametrize("module", PICKLES)
def test_a_hook_on_a_local_function_cannot_be_pickled(module):
    def local():
        pass

    with pytest.raises(pickle.PicklingError, match="not at module level"):
        module.dumps(hook_on(local))


@pytest.mark.parametrize("module", PICKLES)
def test_a_partial_made_before_and_a_class_made_meanwhile_work(module, folder):
    path, before = str(folder / "zlib.root"), functools.partial(uproot.open)
    with in_place():

        class Mine(NanoEventsFactory):
            pass

        assert before(path).keys() == uproot.open(path).keys()
    made = Mine.from_root({path: "Events"}, schemaclass=BaseSchema)
    assert type(made) is Mine
    assert len(made.events()) == EVENTS


# ---- inside process() -------------------------------------------------------------


class Inside(Reader):
    """Does something with its events before it reads them."""

    def __init__(self, work):
        super().__init__(NAMES)
        self.work = work

    def process(self, events):
        self.work(events)
        return super().process(events)


def pickle_events(events):
    """By cloudpickle: plain pickle never takes what coffea's arrays have."""
    copy = cloudpickle.loads(cloudpickle.dumps(events))
    assert ak.all(copy.event == events.event)


def pickle_factory(events):
    factory = events.attrs["@events_factory"]
    for module in PICKLES:
        copy = module.loads(module.dumps(factory)).events()
        assert ak.sum(copy.Hit.value) == ak.sum(events.Hit.value)


def fork(events):
    """A child reads on its own, and sends nothing."""
    child = os.fork()
    if child == 0:
        ok = ak.sum(events.Track.length) > 0 and not is_hook(vars(uproot)["open"])
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0


def read_eagerly(events):
    factory = events.attrs["@events_factory"]
    inside = NanoEventsFactory.from_root(
        factory._mapping._file_handle,
        treepath="Events",
        schemaclass=NanoAODSchema,
        mode="eager",
        entry_start=events.metadata["entrystart"],
        entry_stop=events.metadata["entrystop"],
    ).events()
    assert ak.sum(inside.Hit.value) == ak.sum(events.Hit.value)


@pytest.mark.parametrize(
    ("kind", "work"),
    [
        *itertools.product(["zlib", "rntuple"], [pickle_events, fork]),
        ("zlib", pickle_factory),  # an RNTuple cannot be unpickled, hooked or not
    ],
)
def test_events_can_be_used_as_ever(folder, kind, work):
    path = folder / f"{kind}.root"
    run, plain = Run(fileset(path), Inside(work)), Run(fileset(path), Reader(NAMES))
    assert run.out == plain.out
    assert len(run.chunks) == CHUNKS
    for chunk, expected in zip(run.chunks, plain.chunks, strict=True):
        assert bytes_of(chunk).items() >= bytes_of(expected).items()


@pytest.mark.parametrize("kind", ["zlib", "rntuple"])
def test_what_is_read_at_once_is_counted_by_branch(folder, kind):
    run = Run(fileset(folder / f"{kind}.root"), Inside(read_eagerly))
    check_bytes(run)
    for chunk in run.chunks:
        assert {"run", "luminosityBlock"} < set(chunk["accessed_branches"])


# ---- the physics ------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, "parquet"])
def test_results_are_those_of_an_unmonitored_run(folder, kind):
    path = folder / ("events.parquet" if kind == "parquet" else f"{kind}.root")
    options = {"format": "parquet"} if kind == "parquet" else {}
    runner = processor.Runner(
        processor.IterativeExecutor(status=False),
        schema=NanoAODSchema,
        chunksize=EVENTS // CHUNKS,
        **options,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the schema, on files of ours
        plain = runner(fileset(path), Reader(NAMES))
    assert Run(fileset(path), Reader(NAMES), **options).out == plain
