# SPDX-License-Identifier: BSD-3-Clause
"""A chunk record says what happened: checked against coffea's own report, the clocks of
the thread that ran, and the kernel."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest
import uproot
from coffea import processor
from coffea.nanoevents import NanoAODSchema

import make_samples
from roastcoffea import _probe, track_metrics
from support import KEY, CountedEvents, measure, waiting
from ttbar import TtbarProcessor


class Jets(processor.ProcessorABC):
    """Reads one column; works on every format."""

    @track_metrics
    def process(self, events):
        return {"jets": len(events.Jet.pt.layout.content)}

    def postprocess(self, accumulator):
        return None


class Muons(Jets):
    """The same for files with muons only."""

    @track_metrics
    def process(self, events):
        return {"muons": len(events.Muon.pt.layout.content)}


def run(analysis, fileset, chunksize=500, **options):
    """(records, coffea's report) of a run in this process."""
    analysis._roastcoffea_collect_metrics = True
    runner = processor.Runner(
        executor=processor.IterativeExecutor(status=False),
        schema=NanoAODSchema,
        savemetrics=True,
        chunksize=chunksize,
        **options,
    )
    output, report = runner(fileset, processor_instance=analysis)
    return output.pop(KEY), report


class Clocked(TtbarProcessor):
    """The example with the test's own clocks around each decorated call."""

    calls: list[tuple[float, float]] = []  # noqa: RUF012 - (wall, CPU) of each

    def process(self, events):
        wall, cpu = time.time(), time.thread_time()
        output = super().process(events)
        self.calls.append((time.time() - wall, time.thread_time() - cpu))
        return output


@pytest.fixture(scope="session")
def ttbar_run(nano_folder):
    """The example analysis over three datasets."""
    return run(Clocked(), make_samples.fileset(nano_folder, "physics"))


def allowed(seconds: float, chunks: int = 1) -> float:
    """How far our sum may be from coffea's: 1 % or 1 ms per chunk."""
    return max(0.01 * seconds, 0.001 * chunks)


def test_durations_add_up_to_processtime(ttbar_run):
    """But for the time that another process had the core between coffea's clock and
    ours: that is what passed, less our CPU time, outside a chunk."""
    records, report = ttbar_run
    inside = sum(record["duration"] for record in records)
    waited = sum(wall - cpu for wall, cpu in Clocked.calls)
    waited -= sum(record["duration"] - record["cpu_time"] for record in records)
    gap = report["processtime"] - inside - max(waited, 0)
    assert abs(gap) <= allowed(report["processtime"], len(records))


def test_no_duration_is_longer_than_the_call(ttbar_run):
    pairs = zip(Clocked.calls, ttbar_run[0], strict=True)
    assert all(record["duration"] < 1.01 * wall for (wall, _), record in pairs)


def test_events_add_up_to_entries(ttbar_run):
    records, report = ttbar_run
    assert sum(record["num_events"] for record in records) == report["entries"] == 3000


def test_every_chunk_has_one_record(ttbar_run):
    records, report = ttbar_run
    assert len(records) == report["chunks"] == 6
    assert len({(r["process_id"], r["sequence"]) for r in records}) == 6
    assert waiting() == []


def test_record_names_the_place_of_its_chunk(ttbar_run, nano_folder):
    records, _ = ttbar_run
    fileset = make_samples.fileset(nano_folder, "physics")
    files = {(name, file) for name, part in fileset.items() for file in part["files"]}
    places = {(r["dataset"], r["file"], r["entry_start"]) for r in records}
    assert places == {(name, file, start) for name, file in files for start in (0, 500)}
    for record in records:
        assert record["filename"] == record["file"]
        assert record["treename"] == "Events"
        assert record["entry_stop"] == record["entry_start"] + 500
        assert record["num_events"] == 500
        assert record["uuid"] == str(uproot.open(record["file"]).file.uuid)


def test_record_names_process_thread_and_host(ttbar_run):
    for record in ttbar_run[0]:
        assert record["pid"] == os.getpid()
        assert record["thread"] == threading.get_native_id()
        assert record["host"] == socket.gethostname()
        assert record["process_id"] == _probe.status()["process_id"]
        assert record["status"] == "ok"
        assert record["concurrency"] == 1
        assert "error" not in record


def test_sections_of_the_example_are_there(ttbar_run):
    for record in ttbar_run[0]:
        depths = {s["section_name"]: s["depth"] for s in record["sections"]}
        assert depths["object selection"] == 0
        assert depths["jets"] == depths["leptons"] == 1
        assert set(record["memory"]) == {"histograms"}
        assert sum(s["self_time"] for s in record["sections"]) <= record["duration"]


@pytest.mark.parametrize(
    ("key", "kinds"),
    [
        *((key, str) for key in "dataset file filename treename uuid".split()),
        *((key, str) for key in "status host mem_peak_kind".split()),
        *((key, int) for key in "entry_start entry_stop num_events pid thread".split()),
        *((key, int) for key in "bytes_read bytes_before_process sequence".split()),
        *((key, float) for key in "t_start t_end timestamp duration cpu_time".split()),
        *((key, float) for key in "mem_before_mb mem_after_mb mem_delta_mb".split()),
        *((key, float) for key in "mem_peak_mb memory_start_gb memory_end_gb".split()),
        *((key, float) for key in "memory_delta_gb monitor_time".split()),
        *((key, dict) for key in "timing memory bytes custom_metrics".split()),
        *((key, list) for key in "sections memory_sections".split()),
    ],
)
def test_field_has_its_type(ttbar_run, key, kinds):
    assert {type(record[key]) for record in ttbar_run[0]} == {kinds}


def files_of(folder: Path, pattern: str) -> dict[str, dict]:
    paths = sorted(folder.glob(pattern))
    return {path.stem: {"files": {str(path): "Events"}} for path in paths}


@pytest.mark.parametrize("pattern", ["ttbar_0*.root", "*rntuple.root"])
def test_bytes_add_up_to_coffeas_bytesread(nano_folder, pattern):
    records, report = run(Jets(), files_of(nano_folder, pattern))
    assert all(r["bytes_read"] > 0 and r["bytes_before_process"] > 0 for r in records)
    ours = sum(r["bytes_before_process"] + r["bytes_read"] for r in records)
    assert ours == report["bytesread"]


def test_bytes_of_parquet_are_absent_with_a_reason(nano_folder):
    records, report = run(Jets(), files_of(nano_folder, "*.parquet"), format="parquet")
    assert sum(record["num_events"] for record in records) == report["entries"] == 1000
    for record in records:
        assert record["bytes_read"] is None
        assert "bytes_before_process" not in record
        assert "carry no such information" in record["unavailable"]["bytes_read"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning:coffea")
@pytest.mark.parametrize(
    "pattern",
    ["nano_tt*.root", pytest.param("nano*rntuple.root", marks=pytest.mark.long)],
)
def test_bytes_of_real_files_add_up(real_folder, pattern):
    records, report = run(Muons(), files_of(real_folder, pattern), chunksize=10**5)
    ours = sum(r["bytes_before_process"] + r["bytes_read"] for r in records)
    assert ours == report["bytesread"] > 0
    assert sum(record["num_events"] for record in records) == report["entries"]


# ---- clocks ------------------------------------------------------------------------


def spin(seconds: float) -> None:
    """Use that much CPU time of this thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class Clocks:
    """Clock readings around and inside the work of a chunk, which the same clock gives
    the same name; taken again when something came in between on a busy machine."""

    def __init__(self, clock) -> None:
        self.clock = clock
        for _ in range(20):
            before = clock()
            self.record = measure(self.work)
            self.outside = clock() - before
            if self.outside < 1.04 * self.inside:
                break

    def work(self, *_) -> None:
        start = self.clock()
        spin(0.1)
        time.sleep(0.1)
        self.inside = self.clock() - start

    def check(self, measured: float) -> None:
        assert self.inside <= measured <= self.outside
        assert measured == pytest.approx(self.inside, rel=0.05)


def test_duration_is_the_monotonic_time_inside_process():
    clocks = Clocks(time.monotonic)
    clocks.check(clocks.record["duration"])


def test_cpu_time_is_that_of_the_thread():
    clocks = Clocks(time.thread_time)
    clocks.check(clocks.record["cpu_time"])
    assert clocks.record["cpu_time"] < clocks.record["duration"]


def test_cpu_of_other_threads_does_not_count():
    def work(*_) -> None:
        other = threading.Thread(target=spin, args=(0.2,))
        other.start()
        other.join()

    assert measure(work)["cpu_time"] < 0.1


def test_times_are_seconds_since_the_epoch():
    before = time.time()
    record = measure(lambda *_: spin(0.01))
    after = time.time()
    assert before - 1e-3 <= record["t_start"] <= record["t_end"] <= after + 1e-3
    took = record["t_end"] - record["t_start"]
    assert took == pytest.approx(record["duration"], abs=1e-6)
    assert record["timestamp"] == record["t_end"]


def test_counter_that_goes_backwards_gives_no_bytes():
    events = CountedEvents()
    events.source.num_requested_bytes = 100

    def work(self, events) -> None:
        events.source.num_requested_bytes = 50

    record = measure(work, events)
    assert record["bytes_read"] is None
    assert "bytes_read" in record["unavailable"]
