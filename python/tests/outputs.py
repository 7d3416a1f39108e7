# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of output that coffea merges, and processors that return them.

They live in a module of their own because workers in other processes import them. What
a chunk returns depends on its number only, so that any run can be compared with
another, once what depends on the order in which chunks end is put in order.
"""

from __future__ import annotations

import collections
import copy

import hist
import loky
import pandas as pd
from coffea import processor
from coffea.nanoevents import BaseSchema

from roastcoffea import track_metrics
from support import KEY


class Shelf(dict):
    """A user's own mapping."""


class Box:
    """Something coffea merges because it can be added."""

    def __init__(self, *items):
        self.items = items

    def __add__(self, other):
        return Box(*self.items, *other.items)

    def __eq__(self, other):
        return type(other) is Box and self.items == other.items

    __hash__ = None


def content(n):
    return {"sum": n, "names": {f"chunk {n}"}, "nested": {"list": [n]}, f"only {n}": n}


def filled(n):
    histogram = hist.Hist.new.Reg(4, 0, 4, name="x").Weight()
    return histogram.fill([n % 4, 1.5])


def accumulators(n):
    return {
        "names": processor.set_accumulator({f"chunk {n}"}),
        "nested": processor.defaultdict_accumulator(int, {f"only {n}": n, "n": 1}),
    }


OUTPUTS = {
    "dict": content,
    "empty dict": lambda n: {},
    "dict of hists": lambda n: {"hist": filled(n)},
    "defaultdict": lambda n: collections.defaultdict(list, a=[n], b=[1]),
    "OrderedDict": lambda n: collections.OrderedDict(z=n, a=[n]),
    "Counter": lambda n: collections.Counter({"all": 10, f"chunk {n}": n + 1}),
    "dict_accumulator": lambda n: processor.dict_accumulator(accumulators(n)),
    "defaultdict_accumulator": lambda n: processor.defaultdict_accumulator(
        int, {"a": n}
    ),
    "Hist": filled,
    "tuple": lambda n: (n, "x"),
    "list": lambda n: [n],
    "set": lambda n: {n},
    "DataFrame": lambda n: pd.DataFrame({"pt": [n, 1.5]}),
    "None": lambda n: None,
    "dict subclass": lambda n: Shelf(content(n)),
    "custom object": Box,
    "int": lambda n: n,
}
CARRIERS = ("dict", "empty dict", "dict of hists", "defaultdict", "OrderedDict")
RUNNABLE = [kind for kind in OUTPUTS if kind != "None"]  # which coffea refuses


def same(left, right):
    if isinstance(left, pd.DataFrame):
        return left.equals(right)
    return type(left) is type(right) and left == right


def settled(value):
    """The value with everything in order that depends on which chunk ended first."""
    if isinstance(value, pd.DataFrame):
        return value.sort_values("pt", ignore_index=True)
    if isinstance(value, Box):
        return Box(*sorted(value.items))
    if isinstance(value, (list, tuple)):
        return type(value)(sorted(value, key=repr))
    if isinstance(value, dict):
        value = copy.copy(value)
        value |= {key: settled(inner) for key, inner in value.items()}
    return value


def without_records(output):
    """The output and the records it carried."""
    carries = isinstance(output, dict) and KEY in output
    return output, output.pop(KEY) if carries else []


class Analysis(processor.ProcessorABC):
    """Its output depends on the chunk."""

    def __init__(self, kind):
        self.kind = kind

    def process(self, events):
        return OUTPUTS[self.kind](events.metadata["entrystart"])

    def postprocess(self, accumulator):
        return None


class Measured(Analysis):
    """The same, decorated."""

    process = track_metrics(Analysis.process)


FLAKY = (300, 1200)  # first entries of the chunks that fail at first
tried: set[tuple[int, str]] = set()  # in the process where chunks run


class Failing(processor.ProcessorABC):
    """Fails at chosen chunks; `run_name` distinguishes the runs of one worker."""

    def __init__(self, run_name, always=()):
        self.run_name = run_name
        self.always = always

    @track_metrics
    def process(self, events):
        start = events.metadata["entrystart"]
        first = (start, self.run_name) not in tried
        tried.add((start, self.run_name))
        if start in self.always or (start in FLAKY and first):
            raise ValueError(f"entry {start} of root://me:password@host//data")
        return {"sum": start}

    def postprocess(self, accumulator):
        return accumulator


def run(analysis, path, executor, chunksize, **options):
    """What coffea's Runner gives for a file with the tree Events."""
    options = {"schema": BaseSchema} | options
    runner = processor.Runner(executor=executor, chunksize=chunksize, **options)
    files = {"x": {"files": {str(path): "Events"}}}
    return runner(files, processor_instance=analysis)


def processes(**options):
    """An executor with two processes, which all tests share: they start slowly."""
    pool = loky.get_reusable_executor(max_workers=2, timeout=60)
    return processor.FuturesExecutor(pool=pool, status=False, **options)


def places(records):
    """How often each stretch of a file is among the records."""
    keys = ("file", "entry_start", "entry_stop")
    return collections.Counter(tuple(rec[key] for key in keys) for rec in records)


def once(path, chunksize, events=3000):
    """The places of a file's chunks, each once."""
    starts = range(0, events, chunksize)
    return collections.Counter((str(path), n, n + chunksize) for n in starts)


def identities(records):
    return {(record["process_id"], record["sequence"]) for record in records}


def failures(metrics, *columns):
    """Some columns of the failures, in order."""
    return sorted(tuple(row[c] for c in columns) for row in metrics["failures"])
