# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of output reaches the user whole, merges in coffea as undecorated, and its
record arrives exactly once."""

from __future__ import annotations

import copy

import pytest
from coffea import processor
from coffea.nanoevents import NanoAODSchema
from coffea.processor import accumulate

from outputs import (
    CARRIERS,
    OUTPUTS,
    RUNNABLE,
    Analysis,
    Measured,
    run,
    same,
    without_records,
)
from support import KEY, Events, make_processor, waiting

CHUNKS = 4

# of coffea's schema, about what a tiny file lacks
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:coffea")
kinds = pytest.mark.parametrize("kind", OUTPUTS)
carrying = pytest.mark.parametrize("kind", CARRIERS)
others = pytest.mark.parametrize("kind", [k for k in OUTPUTS if k not in CARRIERS])


def process_all(kind):
    """What decorated process() gives, and the objects the user's code returned."""
    returned = []

    def process(self, events):
        returned.append(OUTPUTS[kind](len(returned)))
        return returned[-1]

    analysis = make_processor(process)
    return [analysis.process(Events()) for _ in range(CHUNKS)], returned


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


class On(Measured):
    """Decorated, and on without a collector."""

    _roastcoffea_collect_metrics = True


def run_here(analysis, tiny_file):
    executor = processor.IterativeExecutor(status=False, retries=0)
    return run(analysis, tiny_file, executor, 1000, schema=NanoAODSchema)


@pytest.mark.parametrize("kind", RUNNABLE)
def test_run_gives_what_an_undecorated_one_gives(kind, tiny_file):
    output, carried = without_records(run_here(On(kind), tiny_file))
    assert same(output, run_here(Analysis(kind), tiny_file))
    waited = waiting()
    assert bool(carried) == (kind in CARRIERS)
    assert bool(waited) == (kind not in CARRIERS)
    starts = [record["entry_start"] for record in (*carried, *waited)]
    assert starts == [0, 1000, 2000]


def test_output_none_is_refused_by_coffea_as_ever(tiny_file):
    for analysis in (Analysis("None"), On("None")):
        with pytest.raises(ValueError, match="should not be None"):
            run_here(analysis, tiny_file)
