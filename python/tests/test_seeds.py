# SPDX-License-Identifier: BSD-3-Clause
"""Every Python block of the documents that users follow runs as it is printed.

A block that is neither run here nor listed as one that needs Dask (test_dask_seeds.py)
fails the last test, so that none is forgotten. The names that a block takes for granted
are given to it; what it promises is then looked for.
"""

from __future__ import annotations

from typing import Any

import awkward as ak
import hist
import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema

import coffea_metrics
import roastcoffea
from roastcoffea.aggregation import backends
from seed_blocks import Block, find_blocks, run_block
from support import KEY, SEEDS, Events, make_processor, measure, waiting

NEED_DASK = {"M3"}  # DaskBackend(client)

BLOCKS = find_blocks(SEEDS)
RUN: set[str] = set()

pytestmark = pytest.mark.skipif(not BLOCKS, reason=f"no documents in {SEEDS}")


def runs(name: str) -> Any:
    """Marks the test that runs a block, which it gets as ``block``."""
    RUN.add(name)
    block = BLOCKS.get(name, Block(name, "absent", ""))
    return pytest.mark.parametrize("block", [pytest.param(block, id=name)])


class Counting(processor.ProcessorABC):
    """What the reader has under ``processor_instance``."""

    @roastcoffea.track_metrics
    def process(self, events):
        return {"sum": len(events)}

    def postprocess(self, accumulator):
        return accumulator


class JetEvents(Events):
    """Events with the jets of the examples."""

    def __init__(self):
        super().__init__(3)
        self.Jet = ak.Array([{"pt": 20.0}, {"pt": 40.0}, {"pt": 60.0}])


JETS = JetEvents().Jet


@pytest.fixture
def names(tiny_file, tmp_path, monkeypatch):
    """A reader's names: files, an executor, a runner, a processor, our package."""
    monkeypatch.chdir(tmp_path)
    executor = processor.IterativeExecutor(status=False)
    runner = processor.Runner(
        executor, schema=BaseSchema, savemetrics=True, chunksize=1000
    )
    return {
        "Any": Any,
        "MetricsCollector": roastcoffea.MetricsCollector,
        "client": executor,
        "executor": executor,
        "fileset": {"ttbar": {"files": {str(tiny_file): "Events"}}},
        "output_dir": tmp_path / "runs",
        "processor": processor,
        "processor_instance": Counting(),
        "runner": runner,
    }


def collect(names, analysis, **options):
    """A collector around one run of the reader's runner."""
    with roastcoffea.MetricsCollector(names["executor"], **options) as collector:
        names["runner"](names["fileset"], processor_instance=analysis)
    return collector


def with_hist(kind):
    """An object of a printed class, with the parts that the print leaves out."""
    whole = type(kind.__name__, (kind,), {"postprocess": lambda self, out: out})
    analysis = whole()
    analysis.hist = hist.Hist.new.Reg(4, 0, 100).Double()
    analysis._roastcoffea_collect_metrics = True
    return analysis


# ---- A: advanced usage -------------------------------------------------------------


@runs("A1")
def test_a_backend_of_ones_own(block, names):
    kind = run_block(block, **names)["TaskVineMetricsBackend"]
    collector = collect(names, Counting(), backend=kind("a manager"))
    assert collector.tracking_data["taskvine_metrics"] is ...
    assert collector.span_metrics == {}
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert metrics["num_chunks"] == 3


@runs("A2")
def test_parsers_by_name(block):
    get_parser = run_block(block, **vars(backends))["get_parser"]
    for name in ("dask", "taskvine"):
        assert type(get_parser(name)) is type(backends.get_parser(name))


@runs("A3")
def test_a_custom_metric_of_a_chunk(block, names):
    analysis = run_block(block, **names)["CustomProcessor"]()
    collector = collect(names, analysis)
    assert [chunk["custom_count"] for chunk in collector.chunk_metrics] == [42] * 3


@runs("A4")
def test_the_switch(block):
    analysis = make_processor(lambda *_: {}, on=False)
    run_block(block, processor=analysis)
    assert analysis._roastcoffea_collect_metrics is True
    assert KEY in analysis.process(Events())


@runs("A5")
def test_the_interval_of_sampling(block, names):
    collector = run_block(block, **names)["collector"]
    assert collector.worker_tracking_interval == 0.5
    assert collector.t_end is not None


@runs("A6")
def test_raw_data(block, names, capsys):
    collector = collect(names, Counting())
    capsys.readouterr()
    run_block(block, collector=collector)
    printed = capsys.readouterr().out.splitlines()
    events = [line.split()[1] for line in printed[:3]]
    assert events == ["1000"] * 3
    assert printed[3] == str(collector.tracking_data["worker_counts"])
    assert set(collector.tracking_data["worker_counts"].values()) == {1}


@runs("A7")
def test_a_derived_metric(block, names):
    found = collect(names, Counting()).get_metrics()
    space = run_block(block, metrics={})
    derived = space["calculate_efficiency_metrics"](found, found)
    assert derived == {"custom_efficiency": 3000 / found["avg_workers"]}


# ---- C: core concepts --------------------------------------------------------------


@runs("C1")
def test_a_section_of_time(block):
    track_time = roastcoffea.track_time
    record = measure(
        lambda self, _: run_block(block, self=self, jets=JETS, track_time=track_time)
    )
    assert set(record["timing"]) == {"jet_selection"}


@runs("C2")
def test_how_a_record_travels(block):
    events, record = Events(7), {"duration": 1.0}
    output = run_block(block, events=events, chunk_metrics=record)["return"]
    with roastcoffea.MetricsCollector(None) as collector:
        collector.extract_metrics_from_output(output)
    assert output == {"sum": 7}
    assert [chunk["duration"] for chunk in collector.chunk_metrics] == [1.0]


# ---- M: metrics reference ----------------------------------------------------------


@runs("M1")
def test_branches_of_columns(block):
    columns = ["Jet_pt-data", "nJet-offsets", "Muon_pt-data"]
    branches = run_block(block, columns=columns)["branches"]
    assert branches == {"Jet_pt", "Muon_pt"}


@runs("M2")
def test_retries_as_a_comment(block):
    run_block(block)


@runs("M4")
def test_sections_of_process(block):
    space = run_block(
        block,
        track_metrics=roastcoffea.track_metrics,
        track_section=roastcoffea.track_section,
    )
    analysis = with_hist(type("Analysis", (), {"process": space["process"]}))
    assert analysis.process(JetEvents()) is None  # it returns nothing to carry a record
    (record,) = waiting()
    sections = [section["section_name"] for section in record["sections"]]
    assert sections == ["jet_selection", "histogram_filling"]
    assert analysis.hist.sum() == 2


@runs("M5")
def test_a_section_of_memory(block):
    def work(self, events):
        self.hist = hist.Hist.new.Reg(4, 0, 100).Double()
        run_block(block, self=self, jets=JETS, track_memory=roastcoffea.track_memory)

    (section,) = measure(work)["memory_sections"]
    assert section["section_name"] == "histogram_filling"
    assert section["memory_end_gb"] >= section["memory_start_gb"] > 0


@runs("M6")
def test_a_context_of_ones_own(block):
    space = run_block(
        block,
        BaseInstrumentationContext=roastcoffea.BaseInstrumentationContext,
        compute_something=lambda: 7,
    )

    def work(self, events):
        with space["MyCustomTracker"](self):
            pass

    assert measure(work)["custom_metrics"] == {"my_metric": 7}


@runs("M7")
def test_minimal_pattern(block, names, tmp_path):
    space = run_block(block, **names)
    metrics = space["mc"].get_metrics()
    for name in ("data_rate_gbps", "event_rate_wall_khz", "wall_time", "peak_workers"):
        assert metrics[name] > 0
    (folder,) = (tmp_path / "benchmarks").iterdir()
    assert roastcoffea.load_measurement(folder)[0]["total_events"] == 3000


@runs("M8")
def test_standard_pattern(block, names):
    space = run_block(block, **names, result={"n": 1})
    chunks = space["mc"].chunk_metrics
    assert [chunk["entry_start"] for chunk in chunks] == [0, 1000, 2000]
    assert all(chunk["duration"] > 0 and chunk["memory_end_gb"] > 0 for chunk in chunks)
    collector = collect(names, with_hist(space["MyProcessor"]))
    assert len(collector.chunk_metrics) == 3


@runs("M9")
def test_advanced_pattern(block, names):
    analysis = with_hist(run_block(block, **names, result={"n": 1})["MyProcessor"])
    output = analysis.process(JetEvents())
    (record,) = output[KEY]
    assert [section["section_name"] for section in record["sections"]] == [
        "jet_selection"
    ]
    assert set(record["memory"]) == {"histogram_filling"}


@runs("M10")
def test_complete_pattern(block, names, capsys):
    run_block(block, **names)
    printed = capsys.readouterr().out
    assert "Chunk Metrics" in printed
    lines = dict(line.split(": ") for line in printed.splitlines()[-7:])
    assert lines["Processor CPU %"].endswith("%")
    assert float(lines["Processor CPU time"].removesuffix("s")) >= 0
    assert lines["Bytes read (Coffea)"].endswith(" GB")


# ---- all of them -------------------------------------------------------------------


def test_the_other_name_of_the_package_gives_the_same_objects():
    for name in ("MetricsCollector", "track_metrics", "track_section", "track_memory"):
        assert getattr(coffea_metrics, name) is getattr(roastcoffea, name)


def test_no_block_is_forgotten():
    assert RUN.isdisjoint(NEED_DASK)
    assert set(BLOCKS) == RUN | NEED_DASK
