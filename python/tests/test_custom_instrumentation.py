# SPDX-License-Identifier: BSD-3-Clause
"""Users' own keys beside ours, users' own contexts, and the code blocks of documents
that users know, run as they stand there."""

from __future__ import annotations

import re
import textwrap
import types

import awkward as ak
import hist
import pytest
from coffea import processor

import coffea_metrics
import roastcoffea
from roastcoffea import BaseInstrumentationContext, track_time
from support import KEY, SEEDS, Events, fail, make_processor, measure, waiting


def with_keys(**keys):
    """The record of a chunk on which these keys were set."""
    return measure(lambda self, events: self._roastcoffea_current_chunk.update(keys))


# ---- keys beside ours --------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    "dataset file uuid entry_start num_events t_start t_end duration cpu_time status "
    "host pid thread mem_before_mb mem_peak_mb bytes_read process_id sequence timing "
    "memory custom_metrics sections memory_sections monitor_time unavailable".split(),
)
def test_key_of_the_user_never_replaces_a_measured_one(key):
    plain = measure(lambda *_: None)
    record = with_keys(**{key: "mine"})
    assert record[key] != "mine"
    assert type(record[key]) is type(plain[key])
    assert record["custom_metrics"][key] == "mine"


def test_entries_of_a_dict_of_ours_are_added():
    def work(self, events):
        with track_time(self, "ours"):
            pass
        chunk = self._roastcoffea_current_chunk
        chunk["timing"]["mine"] = 1.5
        chunk["timing"]["ours"] = 99.0
        chunk["memory"]["mine"] = 2.5
        chunk["custom_metrics"] = {"n": 3}

    record = measure(work)
    assert record["timing"]["mine"] == 1.5
    assert record["timing"]["ours"] < 1
    assert record["memory"] == {"mine": 2.5}
    assert record["custom_metrics"] == {"n": 3}


def test_status_of_a_failed_chunk_cannot_be_changed():
    def work(self, events):
        self._roastcoffea_current_chunk.update(status="ok", error=None)
        raise ValueError("mine")

    _, record = fail(work)
    assert record["status"] == "failed"
    assert record["error"] == "ValueError: mine"


# ---- contexts of users -------------------------------------------------------------


class Tracker(BaseInstrumentationContext):
    """Overrides __exit__ only, as the documents show."""

    def __exit__(self, exc_type, exc_val, exc_tb):
        self.record_metric(self.name, {"failed": exc_type is not None})


def test_context_records_with_the_chunk():
    def work(self, events):
        with Tracker(self, "first") as tracker:
            assert tracker.processor is self
        with Tracker(processor=self, name="second"):
            pass

    record = measure(work)
    passed = {"failed": False}
    assert record["custom_metrics"] == {"first": passed, "second": passed}


def test_context_passes_exceptions_on():
    raised = ValueError("mine")

    def work(self, events):
        with Tracker(self, "tracker"), BaseInstrumentationContext(self):
            raise raised

    seen, record = fail(work)
    assert seen is raised
    assert record["custom_metrics"] == {"tracker": {"failed": True}}


def test_context_of_the_user_may_suppress_exceptions():
    class Quiet(BaseInstrumentationContext):
        def __exit__(self, *exc):
            return True

    def work(self, events):
        with Quiet(self):
            raise ValueError("handled")

    assert measure(work)["status"] == "ok"


def test_last_value_of_a_metric_counts():
    def work(self, events):
        context = BaseInstrumentationContext(self)
        context.record_metric("n", 1)
        context.record_metric("n", 2)

    assert measure(work)["custom_metrics"] == {"n": 2}


def test_metric_outside_a_chunk_goes_nowhere():
    BaseInstrumentationContext().record_metric("lost", 1)
    with Tracker(None, "outside"):
        pass
    assert measure(lambda *_: None)["custom_metrics"] == {}
    assert waiting() == []


# ---- blocks of the documents -------------------------------------------------------


def blocks(title):
    """The python blocks between a heading and the next one of its rank or above."""
    if not SEEDS.is_dir():
        pytest.skip(f"the documents are not at {SEEDS}")
    for path in sorted(SEEDS.glob("*.txt")):
        text = path.read_text()
        heading = re.search(rf"^(##+) {re.escape(title)}$", text, re.M)
        if heading:
            end = re.compile(rf"^#{{2,{len(heading[1])}}} ", re.M)
            part = end.split(text[heading.end() :], maxsplit=1)[0]
            return re.findall(r"```python\n(.*?)```", part, re.S)
    raise AssertionError(f"no heading {title!r} in {SEEDS}")


JETS = ak.Array({"pt": [[50.0, 20.0], [35.0]]})


class PhysicsEvents(Events):
    """With the jets the documents speak of."""

    Jet = ak.zip({"pt": JETS.pt})


def reader(package):
    """Names that a reader of the documents has around a block."""
    names = {
        "processor": processor,
        "result": {"sum": 2},
        "compute_something": lambda: 42,
    }
    names |= {name: getattr(package, name) for name in package.__all__}
    return names


def switched_on(cls):
    analysis = cls()
    analysis._roastcoffea_collect_metrics = True
    analysis.hist = types.SimpleNamespace(fill=lambda pt: None)
    return analysis


packages = pytest.mark.parametrize("package", [roastcoffea, coffea_metrics])


@packages
def test_block_custom_instrumentation_runs(package):
    (block,) = blocks("Custom Instrumentation")
    names = reader(package)
    exec(block, names)
    output = switched_on(names["CustomProcessor"]).process(Events(12))
    (record,) = output.pop(KEY)
    assert output == {"sum": 12}
    assert record["custom_count"] == 42


@packages
def test_block_section_timing_runs(package):
    method = blocks("Section Timing")[0]
    names = reader(package)
    exec("class P:\n" + textwrap.indent(method, "    "), names)
    analysis = switched_on(names["P"])
    assert analysis.process(PhysicsEvents()) is None
    (record,) = waiting()
    sections = [s["section_name"] for s in record["sections"]]
    assert sections == ["jet_selection", "histogram_filling"]
    assert set(record["timing"]) == set(sections)


@packages
def test_block_section_memory_runs(package):
    body = blocks("Section Memory")[0]
    names = reader(package)

    def work(self, events):
        exec(body, names | {"self": self, "jets": events.Jet})

    analysis_hist = hist.Hist.new.Reg(4, 0, 100).Double()

    def process(self, events):
        self.hist = types.SimpleNamespace(fill=lambda pt: analysis_hist)
        work(self, events)
        return {}

    (record,) = make_processor(process).process(PhysicsEvents())[KEY]
    (section,) = record["memory_sections"]
    assert section["section_name"] == "histogram_filling"
    assert {"memory_start_gb", "memory_end_gb", "memory_delta_gb"} <= set(section)


@packages
def test_block_custom_metrics_runs(package):
    block = blocks("Custom Metrics")[0]
    names = reader(package)
    exec(block, names)

    def work(self, events):
        with names["MyCustomTracker"](self):
            pass

    assert measure(work)["custom_metrics"] == {"my_metric": 42}


def test_block_of_the_advanced_example_runs():
    (block,) = blocks("Advanced - Internal Instrumentation")
    names = reader(coffea_metrics)
    exec(block, names)
    output = switched_on(names["MyProcessor"]).process(PhysicsEvents())
    (record,) = output.pop(KEY)
    assert output == {"sum": 2}
    assert list(record["timing"]) == ["jet_selection"]
    assert list(record["memory"]) == ["histogram_filling"]
