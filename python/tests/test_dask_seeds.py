# SPDX-License-Identifier: BSD-3-Clause
"""The printed blocks that use a cluster, or run on its workers, on a real one, as they
are printed. One that is forgotten fails the last test."""

from __future__ import annotations

import re
from typing import Any

import awkward as ak
import hist
import pytest
from coffea import processor

import roastcoffea
from clusters import collect, dask_runner, shared_client
from collector_helpers import CHUNKS, EVENTS, Measured, Plain, fileset_of
from seed_blocks import find_blocks, run_block
from support import SEEDS

BLOCKS = find_blocks(SEEDS)
USES = re.compile(
    r"\b(client|collector|executor|runner|worker|ProcessorABC|track_metrics)"
)
RUN: set[str] = set()

pytestmark = pytest.mark.skipif(not BLOCKS, reason=f"no documents in {SEEDS}")


def runs(*names: str) -> Any:
    """Marks the test that runs some blocks; it gets each as ``block``."""
    RUN.update(names)
    blocks = [pytest.param(BLOCKS.get(name), id=name) for name in names]
    return pytest.mark.parametrize("block", blocks)


client = pytest.fixture(scope="module")(shared_client)


@pytest.fixture
def names(client, tiny_file, tmp_path, monkeypatch):
    """What a reader has who works on a cluster."""
    monkeypatch.chdir(tmp_path)
    runner = dask_runner(client)
    return {
        "Any": Any,
        "MetricsCollector": roastcoffea.MetricsCollector,
        "client": client,
        "executor": runner.executor,
        "fileset": fileset_of(tiny_file),
        "output_dir": tmp_path / "runs",
        "processor": processor,
        "processor_instance": Measured(),
        "result": {"n": 1},
        "runner": runner,
    }


class Jets:
    """Events with the jets of the examples, made of what a chunk has."""

    def __init__(self, events: Any) -> None:
        self.metadata = events.metadata
        self.size = len(events)
        self.Jet = ak.Array({"pt": 100 * ak.flatten(events.Hit_value)})

    def __len__(self) -> int:
        return self.size


class Finished(Plain):
    """A printed process(), with the parts that the print leaves out."""

    def __init__(self, process: Any) -> None:
        self.printed = process
        self.hist = hist.Hist.new.Reg(4, 0, 100).Double()

    def process(self, events: Any) -> Any:
        output = self.printed(self, Jets(events))
        return {"n": 1} if output is None else output  # coffea wants something


# ---- A: advanced usage -------------------------------------------------------------


@runs("A1")
def test_a_backend_of_ones_own(block, names, client, tiny_file):
    kind = run_block(block, **names)["TaskVineMetricsBackend"]
    collector, _ = collect(client, tiny_file, Measured(), backend=kind("a manager"))
    assert collector.tracking_data["taskvine_metrics"] is ...
    assert collector.get_metrics()["num_successful_chunks"] == CHUNKS


@runs("A3")
def test_a_custom_metric_of_a_chunk(block, names, client, tiny_file):
    analysis = run_block(block, **names)["CustomProcessor"]()
    collector, (output, _) = collect(client, tiny_file, analysis)
    assert output["sum"] == EVENTS
    assert [chunk["custom_count"] for chunk in collector.chunk_metrics] == [42] * CHUNKS


@runs("A5")
def test_the_interval_of_sampling(block, names):
    collector = run_block(block, **names)["collector"]
    assert collector.run.provenance["worker_tracking"] == "0.5 s"
    assert set(collector.tracking_data["worker_counts"].values()) == {2}


@runs("A6")
def test_raw_data(block, names, client, tiny_file, capsys):
    collector, _ = collect(client, tiny_file, Measured())
    run_block(block, collector=collector)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in printed[:3]] == ["1000"] * 3
    assert printed[3] == str(collector.tracking_data["worker_counts"])
    assert printed[4] == str(collector.span_metrics)


@runs("A7")
def test_a_derived_metric(block, client, tiny_file):
    found = collect(client, tiny_file, Measured())[0].get_metrics()
    space = run_block(block, metrics={})
    derived = space["calculate_efficiency_metrics"](found, found)
    assert derived == {"custom_efficiency": EVENTS / 2}


# ---- C: core concepts --------------------------------------------------------------


class ByHand(Plain):
    """Puts a record into its output as it is printed, on the worker."""

    def __init__(self, block: Any) -> None:
        self.block = block

    def process(self, events: Any) -> Any:
        record = {"duration": 1.0}
        return run_block(self.block, events=events, chunk_metrics=record)["return"]


@runs("C2")
def test_how_a_record_travels(block, client, tiny_file):
    runner = dask_runner(client)
    output, _ = runner(fileset_of(tiny_file), processor_instance=ByHand(block))
    with roastcoffea.MetricsCollector(client) as collector:
        collector.extract_metrics_from_output(output)
    assert output == {"sum": EVENTS}
    assert [chunk["duration"] for chunk in collector.chunk_metrics] == [1.0] * CHUNKS


# ---- M: metrics reference ----------------------------------------------------------


@runs("M3")
def test_spans_of_the_backend(block, names, client):
    info = roastcoffea.DaskBackend(client).create_span("mine")
    with info["context"]:
        client.gather(client.map(abs, range(3), pure=False))
    names |= {"DaskBackend": roastcoffea.DaskBackend, "span_info": info}
    metrics = run_block(block, **names)["metrics"]
    assert metrics["execute", "abs", "thread-cpu", "seconds"] > 0


@runs("M4")
def test_sections_of_process(block, client, tiny_file):
    process = run_block(
        block,
        track_metrics=roastcoffea.track_metrics,
        track_section=roastcoffea.track_section,
    )["process"]
    collector, _ = collect(client, tiny_file, Finished(process))
    assert len(collector.chunk_metrics) == CHUNKS
    for chunk in collector.chunk_metrics:
        sections = [section["section_name"] for section in chunk["sections"]]
        assert sections == ["jet_selection", "histogram_filling"]


@runs("M7", "M8")
def test_patterns(block, names):
    collector = run_block(block, **names)["mc"]
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert metrics["total_events"] == EVENTS
    assert len(collector.chunk_metrics) == 3
    assert metrics["peak_workers"] == 2
    stored = roastcoffea.open_run(collector.measurement_path)
    assert stored._notes.text("executor") == "Dask, 2 workers x 1 thread"
    assert stored.span_metrics == collector.span_metrics


@runs("M8", "M9")
def test_processors_of_patterns(block, names, client, tiny_file):
    kind = run_block(block, **names)["MyProcessor"]
    collector, (output, _) = collect(client, tiny_file, Finished(kind.process))
    assert output["n"] == CHUNKS  # each gives {"n": 1}
    assert len(collector.chunk_metrics) == CHUNKS
    for chunk in collector.chunk_metrics:
        assert chunk["duration"] > 0
        if block.name == "M9":
            assert chunk["sections"][0]["section_name"] == "jet_selection"
            assert set(chunk["memory"]) == {"histogram_filling"}


@runs("M10")
def test_complete_pattern(block, names, capsys):
    run_block(block, **names)
    printed = capsys.readouterr().out
    assert "Dask, 2 workers x 1 thread" in printed
    lines = dict(line.split(": ") for line in printed.splitlines()[-7:])
    assert float(lines["Processor CPU time"].removesuffix("s")) >= 0
    assert lines["Memory read (Dask)"].endswith(" GB")


# ---- all of them -------------------------------------------------------------------


def test_no_block_is_forgotten():
    assert {name for name, block in BLOCKS.items() if USES.search(block.code)} <= RUN
