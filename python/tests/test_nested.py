# SPDX-License-Identifier: BSD-3-Clause
"""A decorated call inside another one on the same thread is a part of its chunk."""

from __future__ import annotations

import threading

import pytest
from coffea import processor
from coffea.nanoevents import NanoAODSchema

from roastcoffea import track_metrics, track_time
from support import KEY, Events, make_processor, waiting


class Base(processor.ProcessorABC):
    """Decorated by itself; used as it is, and as a base."""

    @track_metrics
    def process(self, events):
        with track_time(self, "base"):
            self._roastcoffea_current_chunk["from base"] = 1
            return {"n": len(events)}

    def postprocess(self, accumulator):
        return None


class Derived(Base):
    @track_metrics
    def process(self, events):
        with track_time(self, "derived"):
            output = super().process(events)
        assert KEY not in output
        self._roastcoffea_current_chunk["from derived"] = 2
        return output | {"twice": 2 * output["n"]}


def switched_on(analysis):
    analysis._roastcoffea_collect_metrics = True
    return analysis


def check(record):
    sections = {s["section_name"]: s["depth"] for s in record["sections"]}
    assert sections == {"derived": 0, "Base.process": 1, "base": 2}
    assert record["timing"]["Base.process"] <= record["timing"]["derived"]
    assert record["from base"] == 1
    assert record["from derived"] == 2


def test_super_is_a_section_of_one_chunk():
    output = switched_on(Derived()).process(Events())
    (record,) = output.pop(KEY)
    assert output == {"n": 10, "twice": 20}
    check(record)
    assert waiting() == []


def test_base_alone_is_a_chunk():
    (record,) = switched_on(Base()).process(Events())[KEY]
    assert list(record["timing"]) == ["base"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning:coffea")
def test_run_of_a_derived_class_has_one_record_per_chunk(tiny_file):
    executor = processor.IterativeExecutor(status=False, retries=0)
    runner = processor.Runner(executor, schema=NanoAODSchema, chunksize=1000)
    files = {"x": {"files": {str(tiny_file): "Events"}}}
    output = runner(files, switched_on(Derived()))
    records = output.pop(KEY)
    assert output == {"n": 3000, "twice": 6000}
    assert [record["entry_start"] for record in records] == [0, 1000, 2000]
    for record in records:
        check(record)


def test_processor_that_runs_others_is_one_chunk():
    class Part(processor.ProcessorABC):
        """Meets the monitor for the first time inside another's chunk."""

        @track_metrics
        def process(self, events):
            self._roastcoffea_current_chunk["from part"] = 1
            return {"n": len(events)}

        def postprocess(self, accumulator):
            return None

    parts = [switched_on(Part()), switched_on(Part())]

    def process(self, events):
        return {"outputs": [part.process(events) for part in parts]}

    output = make_processor(process).process(Events())
    (record,) = output[KEY]
    assert output["outputs"] == [{"n": 10}, {"n": 10}]
    (section,) = record["sections"]
    assert section["section_name"] == Part.process.__qualname__
    assert section["count"] == 2
    assert record["from part"] == 1


def test_function_that_calls_itself_is_one_chunk():
    @track_metrics
    def analyse(events):
        return {
            "n": len(events)
            + (analyse(Events(len(events) - 1))["n"] if len(events) else 0)
        }

    analyse._roastcoffea_collect_metrics = True
    output = analyse(Events(5))
    assert output["n"] == 15
    assert len(output[KEY]) == 1
    assert output[KEY][0]["num_events"] == 5


def test_deep_recursion_gives_the_users_recursionerror():
    @track_metrics
    def analyse(events):
        return analyse(events)

    analyse._roastcoffea_collect_metrics = True
    with pytest.raises(RecursionError):
        analyse(Events())
    (record,) = waiting()
    assert record["error_type"] == "RecursionError"


def test_super_that_is_off_is_still_part_of_the_chunk():
    """The switch belongs to the object, so there is no inner one to be off."""
    analysis = Derived()
    analysis._roastcoffea_collect_metrics = False
    plain = make_processor(lambda self, events: {"n": len(events)}, on=False)
    assert plain.process(Events()) == {"n": 10}

    def process(self, events):
        return plain.process(events)

    (record,) = make_processor(process).process(Events())[KEY]
    assert record["sections"] == []


def test_decorated_helper_on_another_thread_is_a_chunk_of_its_own():
    helper = switched_on(Base())
    outputs = []

    def process(self, events):
        thread = threading.Thread(
            target=lambda: outputs.append(helper.process(Events(3)))
        )
        thread.start()
        thread.join()
        return {}

    (outer,) = make_processor(process).process(Events(10))[KEY]
    (inner,) = outputs[0][KEY]
    assert (outer["num_events"], inner["num_events"]) == (10, 3)
    assert outer["sections"] == []
    assert outer["thread"] != inner["thread"]
    assert outer["sequence"] != inner["sequence"]
    assert outer["concurrency"] == inner["concurrency"] == 2


def test_exception_of_super_that_is_handled_leaves_an_ok_chunk():
    class Failing(Base):
        @track_metrics
        def process(self, events):
            raise ValueError("inner")

    inner = switched_on(Failing())

    def process(self, events):
        with pytest.raises(ValueError, match="inner"):
            inner.process(events)
        return {}

    (record,) = make_processor(process).process(Events())[KEY]
    assert record["status"] == "ok"
    assert "error" not in record
    assert waiting() == []
