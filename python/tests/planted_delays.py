# SPDX-License-Identifier: BSD-3-Clause
"""Delays that are planted in a step of a chunk and say themselves how long they took;
small files for them, and where they went."""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from coffea import processor

from ladder_clocks import Chunk, add_slept, clocked_iterative, watch
from roastcoffea import track_metrics

DELAY_S = 0.2
CHUNKS, EVENTS = 3, 3000


class Delays:
    """Whether delays take any time."""

    on = True

    @staticmethod
    @contextlib.contextmanager
    def off() -> Iterator[None]:
        Delays.on = False
        try:
            yield
        finally:
            Delays.on = True


def delay() -> None:
    """Planted where a slice is to grow."""
    if not Delays.on:
        return
    begin_s = time.perf_counter()
    time.sleep(DELAY_S)
    add_slept(time.perf_counter() - begin_s)


def delayed(function: Callable[..., Any], caller: str = "") -> Callable[..., Any]:
    """The function after a delay, if a function of that name calls it."""

    @functools.wraps(function)  # uproot keeps functions on its functions
    def late(*args: Any, **kwargs: Any) -> Any:
        if caller in ("", sys._getframe(1).f_code.co_name):
            delay()
        return function(*args, **kwargs)

    return late


# ---- where a delay went --------------------------------------------------------------


def _least(chunks: list[Chunk], name: str, delayed: bool) -> float:
    """What a slice took beside its delay and waiting for a core.

    Other work on the machine only ever adds to a slice; so the least of a few chunks,
    less all time in the run queue, is what does not depend on it.
    """
    return min(
        chunk.ladder[name]
        - chunk.outer.runqueue
        - (chunk.outer.slept if delayed else 0.0)
        for chunk in chunks
    )


def lands_in(planted: str, chunks: list[Chunk], without: list[Chunk]) -> None:
    """Delays in ``chunks`` are in one slice, to 5 %; the others are as without them."""
    slept = min(chunk.outer.slept for chunk in chunks)
    assert slept >= DELAY_S
    for chunk in chunks:
        assert chunk.ladder[planted] >= chunk.outer.slept - 1e-6
    for name in chunks[0].ladder:
        usual = min(chunk.ladder[name] for chunk in without)
        assert _least(chunks, name, name == planted) <= usual + 0.05 * slept, name


# ---- analyses and files --------------------------------------------------------------


class Sum(processor.ProcessorABC):
    """Reads one column."""

    def process(self, events):
        return {"sum": float(ak.sum(events.value))}

    def postprocess(self, accumulator):
        return None


class MeasuredSum(Sum):
    @track_metrics
    def process(self, events):
        return Sum.process(self, events)


@pytest.fixture(autouse=True)
def no_garbage_collection():
    """It may come anywhere and takes long in a process with many objects."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def columns():
    """Of one cluster; they compress well."""
    return {"value": np.arange(EVENTS // CHUNKS, dtype=np.float64) // 100}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same columns in each kind of file, one basket or page per chunk."""
    folder = tmp_path_factory.mktemp("files")
    for kind, make in (("ttree", "mktree"), ("rntuple", "mkrntuple")):
        with uproot.recreate(folder / f"{kind}.root") as root:
            tree = getattr(root, make)("Events", {"value": "float64"})
            for _ in range(CHUNKS):
                tree.extend(columns())
    whole = ak.concatenate([ak.Array(columns())] * CHUNKS)
    ak.to_parquet(whole, folder / "parquet.parquet", extensionarray=False)
    return {path.stem: path for path in folder.iterdir()}


class Check:
    """Runs an analysis with and without its delays, all in this thread."""

    def __init__(self, files, folder):
        self.files = files
        self.folders = (folder / str(number) for number in range(100))

    def run(self, analysis=None, file="ttree", **options):
        folder = next(self.folders)
        folder.mkdir()
        source = {} if file == "parquet" else {"handler": uproot.MemmapSource}
        options = {"call": {"uproot_options": source}} | options
        file = self.files.get(file) if isinstance(file, str) else file
        executor = clocked_iterative(folder)
        return watch(executor, folder, file, analysis or Sum(), **options).chunks

    def __call__(self, planted, *args, **options):
        with Delays.off():
            without = self.run(*args, **options)
        lands_in(planted, self.run(*args, **options), without)


@pytest.fixture
def check(files, tmp_path):
    return Check(files, tmp_path)
