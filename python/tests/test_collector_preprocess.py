# SPDX-License-Identifier: BSD-3-Clause
"""Files that coffea cannot read before the first chunk: they are failures too."""

from __future__ import annotations

import pytest

import roastcoffea
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Measured,
    Plain,
    Surroundings,
    fileset_of,
    iterative,
    make_runner,
    processes,
    threads,
)
from outputs import processes as shared_processes

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def pool():
    return processes(shared_processes().pool)


EXECUTORS = {"iterative": iterative, "threads": threads, "processes": pool}


@pytest.fixture(params=EXECUTORS)
def executor(request):
    return EXECUTORS[request.param]()


@pytest.mark.parametrize("kind", [Plain, Measured])
def test_file_that_is_not_there_is_a_failure(kind, executor, tiny_file, tmp_path):
    gone = str(tmp_path / "gone.root")
    runner, analysis = make_runner(executor, skipbadfiles=True), kind()
    around = Surroundings(runner, analysis)
    with roastcoffea.monitor() as collector:
        runner(fileset_of(tiny_file, gone), processor_instance=analysis)
    around.check()
    metrics = collector.get_metrics()
    tries = [row["attempt"] for row in metrics["failures"] if row["file"] == gone]
    assert tries == [1, 2, 3, 4]
    assert {row["error_type"] for row in metrics["failures"]} == {"FileNotFoundError"}
    assert metrics["num_failed_chunks"] == 0  # a file that was not counted has none
    assert metrics["num_failed_files"] == 1
    assert metrics["num_chunks_processed"] == CHUNKS
    assert metrics["total_events"] == EVENTS
    assert sum(metrics["wall_account"].values()) == pytest.approx(metrics["wall_time"])
    assert metrics["per_file"][gone]["failures"] == 4


def test_run_that_fails_before_its_first_chunk_names_the_file(executor, tmp_path):
    gone = str(tmp_path / "gone.root")
    with pytest.raises(FileNotFoundError), roastcoffea.monitor() as collector:
        make_runner(executor)(fileset_of(gone), processor_instance=Measured())
    metrics = collector.get_metrics()
    assert metrics["partial"] is True
    assert {row["file"] for row in metrics["failures"]} == {gone}
    assert metrics["unavailable"]["total_events"] == "no chunk was successful"
    assert "gone.root" in collector.run._page("text")


def test_threads_of_one_process_share_its_cores(tiny_file):
    with roastcoffea.monitor() as collector:
        make_runner(threads())(fileset_of(tiny_file), processor_instance=Plain())
    (cores,) = collector.tracking_data["worker_cores"].values()
    assert {value for _, value in cores} == {2}
    assert collector.get_metrics()["total_cores"] == 2


def test_run_object_is_complete_without_its_collector(tiny_file, capsys):
    with roastcoffea.monitor() as collector:
        make_runner()(fileset_of(tiny_file), processor_instance=Measured())
    run = collector.run
    capsys.readouterr()  # coffea's bar
    assert run.get_metrics() == collector.get_metrics()
    collector.print_summary()
    shown = capsys.readouterr().out
    run.print_summary()
    assert capsys.readouterr().out == shown
