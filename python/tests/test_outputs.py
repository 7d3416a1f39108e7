# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of output reaches the user whole, merges in coffea as undecorated, and its
record arrives exactly once."""

from __future__ import annotations

import collections
import copy

import hist
import pandas as pd
import pytest
from coffea import processor
from coffea.nanoevents import NanoAODSchema
from coffea.processor import accumulate

from roastcoffea import track_metrics
from support import KEY, Events, make_processor, waiting


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
CARRIERS = {"dict", "empty dict", "dict of hists", "defaultdict", "OrderedDict"}
CHUNKS = 4

# of coffea's schema, about what a tiny file lacks
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:coffea")
kinds = pytest.mark.parametrize("kind", OUTPUTS)
carrying = pytest.mark.parametrize("kind", CARRIERS)
others = pytest.mark.parametrize("kind", [k for k in OUTPUTS if k not in CARRIERS])


def same(left, right):
    if isinstance(left, pd.DataFrame):
        return left.equals(right)
    return type(left) is type(right) and left == right


def process_all(kind):
    """What decorated process() gives, and the objects the user's code returned."""
    returned = []

    def process(self, events):
        returned.append(OUTPUTS[kind](len(returned)))
        return returned[-1]

    analysis = make_processor(process)
    return [analysis.process(Events()) for _ in range(CHUNKS)], returned


def without_records(output):
    """The output and the records it carried."""
    carries = isinstance(output, dict) and KEY in output
    return output, output.pop(KEY) if carries else []


@kinds
def test_value_and_type_pass_through(kind):
    outputs, returned = process_all(kind)
    for output, original in zip(outputs, returned, strict=True):
        assert same(without_records(output)[0], original)


@kinds
def test_object_returned_by_process_is_not_modified(kind):
    outputs, returned = process_all(kind)
    accumulate(outputs)
    for n, original in enumerate(returned):
        assert same(original, OUTPUTS[kind](n))


@others
def test_output_that_cannot_carry_records_is_the_very_object(kind):
    outputs, returned = process_all(kind)
    assert all(out is ret for out, ret in zip(outputs, returned, strict=True))


@carrying
def test_copy_that_carries_the_record_is_shallow(kind):
    outputs, returned = process_all(kind)
    for output, original in zip(outputs, returned, strict=True):
        assert output is not original
        assert all(output[key] is original[key] for key in original)
        assert list(output) == [*original, KEY]


def test_defaultdict_keeps_its_factory():
    outputs, _ = process_all("defaultdict")
    assert {output.default_factory for output in outputs} == {list}


@kinds
def test_merged_output_is_that_of_undecorated_chunks(kind):
    outputs, _ = process_all(kind)
    plain = accumulate([OUTPUTS[kind](n) for n in range(CHUNKS)])
    merged, _ = without_records(accumulate(outputs))
    assert same(merged, plain)


@carrying
def test_merged_output_carries_one_record_per_chunk(kind):
    _, records = without_records(accumulate(process_all(kind)[0]))
    assert isinstance(records, list)
    assert len({record["sequence"] for record in records}) == len(records) == CHUNKS
    assert waiting() == []


@others
def test_outbox_holds_one_record_per_chunk(kind):
    outputs, _ = process_all(kind)
    assert all(without_records(output)[1] == [] for output in outputs)
    records = waiting()
    assert len({record["sequence"] for record in records}) == len(records) == CHUNKS
    assert {record["status"] for record in records} == {"ok"}
    assert waiting() == []


def test_list_under_our_key_is_extended_in_the_copy():
    mine = ["my own entry"]
    original = {KEY: mine, "n": 1}
    output = make_processor(lambda *_: original).process(Events())
    assert output[KEY][0] == "my own entry"
    assert output[KEY][1]["status"] == "ok"
    assert len(output[KEY]) == 2
    assert original == {KEY: ["my own entry"], "n": 1}
    assert original[KEY] is mine


@pytest.mark.parametrize("mine", [7, None, ("tuple",), {"a": 1}])
def test_something_else_under_our_key_is_left_alone(mine):
    original = {KEY: mine, "n": 1}
    before = copy.deepcopy(original)
    output = make_processor(lambda *_: original).process(Events())
    assert output is original
    assert original == before
    assert len(waiting()) == 1


def test_one_object_returned_by_many_chunks_stays_clean():
    shared = {"n": 1}
    analysis = make_processor(lambda *_: shared)
    outputs = [analysis.process(Events()) for _ in range(CHUNKS)]
    assert shared == {"n": 1}
    assert [len(output[KEY]) for output in outputs] == [1] * CHUNKS


# ---- in a real run -----------------------------------------------------------------


class Analysis(processor.ProcessorABC):
    """Its output depends on the chunk."""

    def __init__(self, kind):
        self.kind = kind

    def process(self, events):
        return OUTPUTS[self.kind](events.metadata["entrystart"] // 1000)

    def postprocess(self, accumulator):
        return None


class Measured(Analysis):
    """The same, decorated, and on."""

    _roastcoffea_collect_metrics = True
    process = track_metrics(Analysis.process)


def run(analysis, tiny_file):
    runner = processor.Runner(
        executor=processor.IterativeExecutor(status=False, retries=0),
        schema=NanoAODSchema,
        chunksize=1000,
    )
    files = {"x": {"files": {str(tiny_file): "Events"}}}
    return runner(files, processor_instance=analysis)


@pytest.mark.parametrize("kind", [k for k in OUTPUTS if k != "None"])
def test_run_gives_what_an_undecorated_one_gives(kind, tiny_file):
    output, carried = without_records(run(Measured(kind), tiny_file))
    assert same(output, run(Analysis(kind), tiny_file))
    waited = waiting()
    assert bool(carried) == (kind in CARRIERS)
    assert bool(waited) == (kind not in CARRIERS)
    starts = [record["entry_start"] for record in (*carried, *waited)]
    assert starts == [0, 1000, 2000]


def test_output_none_is_refused_by_coffea_as_ever(tiny_file):
    for analysis in (Analysis("None"), Measured("None")):
        with pytest.raises(ValueError, match="should not be None"):
            run(analysis, tiny_file)
