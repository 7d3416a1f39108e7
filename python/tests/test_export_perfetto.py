# SPDX-License-Identifier: BSD-3-Clause
"""A run as a Perfetto trace: what is in the trace is what the run has."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perfetto_traces
from handmade_frames import pairs
from perfetto_traces import Slice, Trace
from roastcoffea import Run, open_run
from saved_run_samples import measured
from support import ROOT
from traced_runs import (
    EPOCH_NS,
    FAILED,
    MS,
    NAMES,
    SECOND,
    attempt,
    begun,
    frame,
    hostile,
    identity,
    intervals,
    opened,
    run_of,
    sections,
    shown,
)

LADDER = "ladder (shares, not moments)"
FIXTURES = ROOT / "tests" / "fixtures" / "runfiles"


def exported(run: Run, folder: Path) -> Trace:
    path = folder / "run.perfetto-trace"
    run.export("perfetto", path)
    return perfetto_traces.read(path.read_bytes())


def made(folder: Path, *frames: bytes, **options: Any) -> Trace:
    return exported(opened(run_of(*frames, **options), folder), folder)


def ns(table: Any, column: str) -> list[int | None]:
    """A column of seconds in ns, and of times as it is."""
    values = np.asarray(table[column])
    known = [value is not None for value in table[column]]
    if values.dtype == np.float64:
        values = np.rint(values * 1e9).astype(np.int64)
    return [int(v) if k else None for v, k in zip(values, known, strict=True)]


def expected_attempts(run: Run) -> Counter[Any]:
    tasks = run.tasks
    rows = zip(
        tasks["kind"], ns(tasks, "start"), ns(tasks, "duration"), tasks["attempt"],
        strict=True,
    )  # fmt: skip
    return Counter(
        (start, duration)
        for _, start, duration, number in rows
        if number is not None and start is not None and start >= 0
    )


def totals(slices: list[Slice]) -> dict[str, int]:
    """ns by name."""
    sums: Counter[str] = Counter()
    for each in slices:
        assert each.duration is not None
        sums[each.name] += each.duration
    return dict(sums)


def is_inside(inner: Slice, outer: Slice) -> bool:
    assert inner.duration is not None
    assert outer.duration is not None
    end, outer_end = inner.start + inner.duration, outer.start + outer.duration
    return outer.start <= inner.start and end <= outer_end


# ---- a run that was measured ---------------------------------------------------------


@pytest.fixture(scope="module")
def real(tiny_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    run = measured(tiny_file, fails=True)
    return run, exported(run, tmp_path_factory.mktemp("real"))


def test_every_attempt_is_a_slice(real: Any) -> None:
    run, trace = real
    found = Counter((each.start, each.duration) for each in trace.of("attempt"))
    assert found == expected_attempts(run)
    (whole,) = trace.of("run")
    hidden = whole.args["attempts_without_start"]  # made by hand
    assert found.total() + hidden == run.get_metrics()["num_attempts"]


def test_the_ladder_fills_its_attempt(real: Any) -> None:
    run, trace = real
    chunks = run.chunks
    names = ladder_names()
    for row, number in enumerate(chunks["chunk_id"]):
        if chunks["task_time"][row] is None:
            continue  # made by hand
        (own,) = (a for a in trace.of("attempt") if a.args.get("chunk_id") == number)
        inside = [each for each in trace.of(LADDER) if each.parent is own]
        expected = {
            shown: round(chunks[f"{item}_s"][row] * 1e9)
            for item, shown in names.items()
            if chunks[f"{item}_s"][row]
        }
        assert totals(inside) == expected
        assert sum(expected.values()) == own.duration
        assert all(is_inside(each, own) for each in inside)


def ladder_names() -> dict[str, str]:
    """{item: shown} of the slices, from the list."""
    text = (ROOT / "include" / "roast" / "ladder_items.def").read_text()
    return dict(re.findall(r'^I\(\d+, (\w+), SLICE, "([^"]*)"', text, re.MULTILINE))


def test_process_and_its_sections_are_where_they_were(real: Any) -> None:
    run, trace = real
    inside = {
        each.start: each for each in trace.of("process") if each.duration is not None
    }
    chunks = run.chunks
    starts, durations = ns(chunks, "start"), ns(chunks, "duration")
    for start, duration in zip(starts, durations, strict=True):
        if start is not None:
            assert inside[start].duration == duration
    assert all(is_inside(each, each.parent) for each in trace.of("section"))
    table = run.chunk_sections
    made = zip(chunks["chunk_id"], chunks["host"], strict=True)
    made_by_hand = {n for n, host in made if not host}
    expected: Counter[str] = Counter()
    for chunk, name, total in zip(
        table["chunk_id"], table["name"], ns(table, "total"), strict=True
    ):
        if total is not None and chunk not in made_by_hand:
            expected[name] += total
    failed = [each for each in trace.of("process") if is_failed(trace, each)]
    good = [each for each in trace.of("section") if outermost(each) not in failed]
    assert totals(good) == expected
    assert expected.keys() == {"selection", "jets é", "columns"}


def outermost(each: Slice) -> Slice:
    return outermost(each.parent) if each.parent else each


def is_failed(trace: Trace, process: Slice) -> bool:
    thread = trace.tracks[process.track].parent_uuid
    (own,) = (
        each
        for each in trace.of("attempt")
        if each.track == thread and is_inside(process, each)
    )
    return own.args["status"] == "failed"


def test_sections_lie_in_each_other(real: Any) -> None:
    _, trace = real
    jets = [each for each in trace.of("section") if each.name == "jets é"]
    assert jets
    for each in jets:
        assert each.parent.name == "selection"
        assert each.parent.parent.name == "process()"


def test_counters_are_the_samples(real: Any) -> None:
    run, trace = real
    samples = run.samples("memory")
    rows = zip(samples["worker"], ns(samples, "time"), samples["value"], strict=True)
    expected = Counter((time, value) for _, time, value in rows)
    found = Counter(
        value
        for track, values in trace.counters.items()
        if trace.path(track)[-1] == "memory"
        for value in values
    )
    assert found == expected
    process = "run: Everything"
    timeline = run.timeline
    workers = trace.counter(process, "workers")
    assert [value for _, value in workers] == [
        value for value in timeline["workers"] if value is not None
    ]
    rates = trace.counter(process, "events per second")
    steps = [
        events / length
        for events, length in zip(timeline["events"], timeline["length"], strict=True)
        if events is not None
    ]
    assert [value for _, value in rates] == steps


def test_the_client_has_its_calls(real: Any) -> None:
    run, trace = real
    (whole,) = trace.of("run")
    assert whole.args["id"] == run.id
    assert whole.args["state"] == "failed"
    assert whole.duration == pytest.approx((run.t_end - run.t_start) * 1e9, abs=1e3)
    work = {each.name: each for each in trace.of("client")}
    calls = run.table("calls")
    assert work["Runner.run"].start == ns(calls, "start")[0]
    assert work["Runner.run"].duration == ns(calls, "wall_time")[0]
    assert work["preprocessing"].duration == ns(calls, "preprocess_time")[0]
    assert work["preprocessing"].parent is work["Runner.run"]
    assert work["Runner.run"].parent is whole


# ---- runs made by hand ---------------------------------------------------------------


def test_threads_of_hosts_have_tracks(tmp_path: Path) -> None:
    trace = made(
        tmp_path,
        attempt(1, 1, 0),
        attempt(1, 2, SECOND, thread=77),
        attempt(2, 1, 0, worker="tcp://node2:4"),
    )
    assert sorted(trace.path(each.track) for each in trace.of("attempt")) == [
        ["node1", "pid-4001", "thread 4001"],
        ["node1", "pid-4001", "thread 77"],
        ["node2", "tcp://node2:4", "thread 4002"],
    ]
    names = [track.process for track in trace.tracks.values() if track.process.pid]
    assert len({each.pid for each in names}) == len(names) == 3


def test_attempts_of_a_thread_that_overlap_get_lanes(tmp_path: Path) -> None:
    """By clocks that are not exact, or because the thread is not known."""
    trace = made(
        tmp_path,
        attempt(1, 1, 0),
        attempt(1, 2, 99 * MS),
        attempt(1, 3, 199 * MS),
        attempt(1, 4, 299 * MS + 1),
    )
    attempts = trace.of("attempt")
    assert all(each.parent is None for each in attempts)
    assert [each.duration for each in attempts] == [100 * MS] * 4
    assert len({each.track for each in attempts}) == 2
    assert len({tuple(trace.path(each.track)) for each in attempts}) == 1
    assert sum(each.duration for each in trace.of(LADDER)) == 400 * MS


def test_arrows_go_from_failures_to_their_retries(tmp_path: Path) -> None:
    failed = {"status": FAILED, "error_type": "OSError", "entry_start": 0}
    trace = made(
        tmp_path,
        attempt(1, 1, 0, **failed, entry_stop=100),
        attempt(2, 1, SECOND, **failed, entry_stop=100),
        attempt(1, 2, 2 * SECOND, entry_start=0, entry_stop=100),
        attempt(2, 2, 2 * SECOND, status=FAILED, entry_start=500, entry_stop=600),
    )
    assert [(a.start - EPOCH_NS, b.start - EPOCH_NS) for a, b in trace.arrows()] == [
        (0, SECOND),
        (SECOND, 2 * SECOND),
    ]
    failures = [each for each in trace.instants if each.category == "failure"]
    assert [each.start - EPOCH_NS for each in failures] == [
        100 * MS, SECOND + 100 * MS, 2 * SECOND + 100 * MS,
    ]  # fmt: skip
    assert [each.name for each in failures] == ["failed"] * 3
    assert failures[0].args == {"error_type": "OSError"}
    assert [each.args["attempt"] for each in trace.of("attempt")][:3] == [1, 2, 3]


def test_the_same_chunk_of_another_call_is_no_retry(tmp_path: Path) -> None:
    run = run_of(ended_ns=None)
    other = bytes(16 * [9])
    run.accept(other)
    chunk = {"entry_start": 0, "entry_stop": 100}
    run.add_frames(attempt(1, 1, 0, status=FAILED, **chunk))
    again = other + identity(1, 2)[16:]
    for number, name in enumerate(["run_begin", "run_end"] * 2):
        run.mark(name, number * SECOND)
    run.add_frames(attempt(1, 2, 2 * SECOND + 1, identity=again, **chunk))
    run.finish(5 * SECOND)
    trace = exported(opened(run, tmp_path), tmp_path)
    assert len(trace.of("attempt")) == 2
    assert trace.arrows() == []


def test_attempts_without_end(tmp_path: Path) -> None:
    lost = made(tmp_path, begun(1, 1, SECOND), attempt(1, 2, 2 * SECOND))
    by_start = {each.start - EPOCH_NS: each for each in lost.of("attempt")}
    # alive until its process was last seen, at the end of its last attempt
    assert by_start[SECOND].duration == SECOND + 100 * MS
    assert by_start[SECOND].args["status"] == "lost"
    assert [each.name for each in lost.instants] == ["lost"]
    folder = tmp_path / "running"
    folder.mkdir()
    running = made(folder, begun(1, 1, SECOND), ended_ns=None)
    (own,) = running.of("attempt")
    assert own.duration is None
    assert own.args["status"] == "running"
    assert running.of("run")[0].duration is None


def test_times_of_a_long_run_are_exact(tmp_path: Path) -> None:
    """They are written as distances to one of at most 64 moments."""
    starts = [-5 * SECOND + 1, *(n * 997 * SECOND + n for n in range(200))]
    frames = [attempt(1, n, start) for n, start in enumerate(starts)]
    trace = made(tmp_path, *frames, ended_ns=300_000 * SECOND)
    attempts = trace.of("attempt")
    assert [each.start - EPOCH_NS for each in attempts] == starts
    assert {each.duration for each in attempts} == {100 * MS}


def test_a_chunk_takes_few_bytes(tmp_path: Path) -> None:
    """So that 100 MB hold 10^5 chunks of eight slices and nine passes each."""
    names = sections(*((max(0, i - 1), f"section {i}", 1, MS) for i in range(9)))
    nested = ((i, (31 + i) * MS + i, (20 - 2 * i) * MS) for i in range(9))
    passes = intervals(*nested)
    slices = [number for i in range(1, 9) for number in (i, 10 * MS + i)]
    frames = [
        attempt(
            n % 32, n, n * 20 * SECOND, sections=names, intervals=passes,
            cpu_ns=50 * MS + n, bytes_read=10**7 + n, rss_peak_bytes=10**9 + n,
            file=f"root://server.example//store/{n // 100}.root", ladder=pairs(*slices),
        )
        for n in range(1000)
    ]  # fmt: skip
    trace = made(tmp_path, *frames, ended_ns=30_000 * SECOND)
    assert len(trace.of("section")) == 9000
    assert len(trace.of(LADDER)) == 8000
    assert (tmp_path / "run.perfetto-trace").stat().st_size < 1000 * 950


def test_an_attempt_without_start_is_counted(tmp_path: Path) -> None:
    unknown = frame(identity=identity(1, 9), status=1, duration_ns=5)
    trace = made(tmp_path, attempt(1, 1, 0), unknown)
    assert len(trace.of("attempt")) == 1
    assert trace.of("run")[0].args["attempts_without_start"] == 1


def test_sections_that_are_deeper_than_what_is_known_of_them(tmp_path: Path) -> None:
    """Passes end inner first; the list of them may be cut before an outer one ends."""
    tree = sections(
        (0, "outer", 2, 50 * MS), (1, "inner", 3, 12 * MS), (2, "core", 1, MS)
    )
    passes = intervals(
        (2, 11 * MS, MS),  # core in inner in outer
        (1, 10 * MS, 4 * MS),
        (1, 14 * MS, 4 * MS),
        (0, 10 * MS, 20 * MS),
        (1, 40 * MS, 4 * MS),  # its outer is not known
        (7, 0, MS),  # of no section
    )
    trace = made(tmp_path, attempt(1, 1, 0, sections=tree, intervals=passes))
    start = EPOCH_NS + 30 * MS
    found = [
        (each.name, each.start - start, each.duration, each.parent.name)
        for each in trace.of("section")
    ]
    assert found == [
        ("outer", 10 * MS, 20 * MS, "process()"),
        ("inner", 10 * MS, 4 * MS, "outer"),
        ("core", 11 * MS, MS, "inner"),
        ("inner", 14 * MS, 4 * MS, "outer"),
        ("inner", 40 * MS, 4 * MS, "process()"),
    ]


def test_a_ladder_that_is_too_long_is_left_out(tmp_path: Path) -> None:
    trace = made(tmp_path, attempt(1, 1, 0, ladder=pairs(2, 90 * MS, 3, 10 * MS + 1)))
    assert trace.of(LADDER) == []
    assert trace.of("attempt")[0].duration == 100 * MS


def test_a_run_may_go_on_between_two_exports() -> None:
    core = run_of(begun(1, 1, SECOND), ended_ns=None)
    run = Run(core)
    core.add_frames(attempt(1, 1, SECOND))
    core.add_frames(attempt(1, 2, 2 * SECOND))
    content = run.export("perfetto")
    assert isinstance(content, bytes)
    trace = perfetto_traces.read(content)
    assert [each.duration for each in trace.of("attempt")] == [100 * MS] * 2
    core.add_frames(begun(1, 3, 3 * SECOND))
    again = perfetto_traces.read(run.export("perfetto"))
    assert [each.duration for each in again.of("attempt")] == [100 * MS] * 2 + [None]


def test_hosts_that_are_not_known_are_not_invented(tmp_path: Path) -> None:
    core = run_of(attempt(1, 1, 0, host="node7", worker="tcp://node7:1"))
    for worker in ("tcp://node7:1", "tcp://away:2", "pid-77"):
        core.add_sample(worker, EPOCH_NS + SECOND, {"worker_memory": 5e6})
    trace = exported(opened(core, tmp_path), tmp_path)
    paths = [trace.path(track) for track in trace.counters]
    assert [path for path in paths if path[-1] == "memory"] == [
        ["node7", "tcp://node7:1", "memory"],
        ["unknown host", "tcp://away:2", "memory"],
        ["node1", "pid-77", "memory"],
    ]


def test_names_of_any_bytes(tmp_path: Path) -> None:
    run = opened(hostile(), tmp_path)
    trace = exported(run, tmp_path)
    names = {shown(name) for name in NAMES}
    assert {each.name for each in trace.of("attempt")} == names
    assert {each.name for each in trace.of("section")} == names
    assert {each.args["file"] for each in trace.of("attempt")} == names
    assert {each.args["error_type"] for each in trace.of("attempt")} == names
    assert {trace.path(each.track)[1] for each in trace.of("attempt")} == names
    assert names <= {trace.path(each.track)[0] for each in trace.of("attempt")}


# ---- runs of a scheduler -------------------------------------------------------------


def test_tasks_joins_and_leaves_of_a_cluster(tmp_path: Path) -> None:
    run = open_run(FIXTURES / "v1_cluster.roast")
    trace = exported(run, tmp_path)
    tasks = run.tasks
    rows = zip(
        tasks["attempt"], tasks["prefix"], ns(tasks, "start"), ns(tasks, "duration"),
        tasks["status"], tasks["kind"], strict=True,
    )  # fmt: skip
    expected = Counter(row[1:] for row in rows if row[0] is None and row[3] is not None)
    found = Counter(
        (each.name, each.start, each.duration, each.args["status"], each.args["kind"])
        for each in trace.of("task")
    )
    assert found == expected
    workers = run.workers
    instants = Counter(
        (each.name, trace.path(each.track)[-1])
        for each in trace.instants
        if each.category == "worker"
    )
    for row, name in enumerate(workers["worker"]):
        if workers["sessions"][row]:
            assert instants["joined", name] == workers["sessions"][row]
            assert instants["lost", name] == workers["lost"][row]


@pytest.mark.parametrize("name", ["v1_empty", "v1_plain", "v1_everything"])
def test_runs_of_the_past(tmp_path: Path, name: str) -> None:
    run = open_run(FIXTURES / f"{name}.roast")
    trace = exported(run, tmp_path)
    found = Counter((each.start, each.duration) for each in trace.of("attempt"))
    assert found == expected_attempts(run)


def test_a_second_export_is_the_same(tmp_path: Path) -> None:
    run = open_run(FIXTURES / "v1_everything.roast")
    for name in "ab":
        run.export("perfetto", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
