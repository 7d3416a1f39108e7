# SPDX-License-Identifier: BSD-3-Clause
"""Runs that last: what is saved, opened, refused; and that nothing changes by it."""

from __future__ import annotations

import threading

import pytest

import roastcoffea
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Measured,
    fileset_of,
    iterative,
    make_runner,
    open_pool,
    processes,
)
from roastcoffea import Run
from saved_run_samples import HAND_MADE, Watching, differing, facts, measured, same

TABLES = (
    *("chunks", "tasks", "sections", "branches", "files", "datasets", "workers"),
    *("endpoints", "failures", "findings", "losses", "chunk_sections"),
    *("chunk_branches", "activities", "hot_lines", "timeline", "file_branches"),
    *("read_sizes", "hosts"),
    "critical_path",
)


@pytest.fixture(scope="module")
def pool():
    yield from open_pool()


KINDS = ("finished", "failed", "processes", "own backend", "not tracked", "empty")


@pytest.fixture(scope="module", params=KINDS)
def run(request, tiny_file, pool):
    if request.param == "processes":
        return measured(tiny_file, processes(pool))
    if request.param == "own backend":
        return measured(tiny_file, backend=Watching())
    if request.param == "not tracked":
        return measured(tiny_file, track_workers=False)
    if request.param == "empty":
        with roastcoffea.monitor() as empty:
            pass
        return empty
    failed = request.param == "failed"
    return measured(tiny_file, iterative(retries=0), fails=failed)


@pytest.fixture(scope="module")
def saved(run, tmp_path_factory):
    return run.save(tmp_path_factory.mktemp("runs") / "it is called so")


@pytest.fixture
def opened(saved):
    return roastcoffea.open_run(saved)


# ---- the same, whenever it is read -----------------------------------------------


def test_opened_run_equals_the_live_one(run, opened):
    assert isinstance(opened, Run)
    assert differing(facts(run), facts(opened)) == []


def test_its_records_are_the_same_bytes(run, opened):
    assert opened._core.chunks() == run._core.chunks()


def test_opened_run_saves_as_the_same(run, opened, tmp_path):
    again = roastcoffea.open_run(opened.save(tmp_path / "again.roast"))
    assert differing(facts(run), facts(again)) == []


def columns_of(table):
    return {name: list(table[name]) for name in table}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_the_same(name, run, opened):
    live, later = columns_of(getattr(run, name)), columns_of(getattr(opened, name))
    assert list(live) == list(later)
    assert differing(live, later) == []


def test_series_are_the_same(run, opened):
    for series in ("worker_memory", "worker_cpu"):
        live, later = run.samples(series), opened.samples(series)
        assert differing(columns_of(live), columns_of(later)) == []


def test_threads_may_read_an_opened_run_at_once(run, saved):
    for _ in range(5):
        opened, found = roastcoffea.open_run(saved), []

        def read(opened=opened, found=found):
            found.append((opened.chunk_metrics, opened._page("text")))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wanted = (run.chunk_metrics, run._page("text"))
        assert [same(one, wanted) for one in found] == [True] * 4


def test_opened_run_shows_itself(run, opened):
    assert str(opened) == str(run)
    assert opened._repr_html_() == run._repr_html_()
    assert opened.info["live"] is False
    assert opened.info["partial"] == run.partial
    assert opened.info["format"] == 1
    assert opened.info["writer"] == f"roastcoffea {roastcoffea.__version__}"
    known = {"id": run.id, "path": None, "live": False, "ended": True}
    assert run.info == known | {"partial": run.partial}


# ---- what monitor() gives ----------------------------------------------------------


def test_monitor_gives_a_run(tiny_file):
    collector = roastcoffea.monitor()
    with collector as run:
        assert run.t_end is None
        assert run.partial
        output = make_runner()(fileset_of(tiny_file), processor_instance=Measured())
        run.extract_metrics_from_output(output)
    assert isinstance(run, Run)
    assert run is collector.run is run.run
    assert run.get_metrics() == collector.get_metrics()
    assert output.keys() == {"n", "sum"}
    with collector as another:
        pass
    assert another is not run
    assert run.get_metrics()["total_events"] == EVENTS


def test_chunks_become_a_data_frame(tiny_file):
    frame = measured(tiny_file).to_pandas()
    assert len(frame) == CHUNKS + len(HAND_MADE)
    assert frame["num_events"].sum() == EVENTS + 11


def test_every_run_has_an_id_of_its_own(tiny_file):
    ids = {measured(tiny_file).id for _ in range(3)}
    assert len(ids) == 3
    assert {len(x) for x in ids} == {32}
