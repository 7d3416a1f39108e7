# SPDX-License-Identifier: BSD-3-Clause
"""Chunks that fail in a real run: skipped by coffea or not, each attempt is listed, and
the user's exception is the user's."""

from __future__ import annotations

import dataclasses
import json
import os
import re

import loky
import pytest
from coffea import processor

import roastcoffea
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Failing,
    Measured,
    MeasuredFailing,
    Plain,
    Surroundings,
    fileset_of,
    iterative,
    make_runner,
    open_pool,
    processes,
    starts,
    threads,
)

# coffea warns of every attempt
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

pool = pytest.fixture(scope="module", name="pool")(open_pool)
EXECUTORS = {"iterative": iterative, "threads": threads, "processes": processes}
executors = pytest.mark.parametrize("executor", EXECUTORS, indirect=True)
analyses = pytest.mark.parametrize("analysis", [Failing, MeasuredFailing])
ATTEMPTS = 4  # coffea retries three times


@pytest.fixture
def executor(request):
    """One of coffea's executors, with its own number of retries."""
    if request.param == "processes":
        return processes(request.getfixturevalue("pool"))
    return EXECUTORS[request.param]()


def is_bad(record):
    return record["status"] == "failed"


def check_failures(collector, path, *error):
    """The chunk in the middle failed in every attempt, and everything says so."""
    metrics = collector.get_metrics()
    failed = [record for record in collector.chunk_metrics if is_bad(record)]
    assert [record["attempt"] for record in failed] == [1, 2, 3, 4]
    rows = [row for row in metrics["failures"] if is_bad(row)]
    # a pool that is kept may be at the last chunk when coffea gives the run up
    lost = [row for row in metrics["failures"] if not is_bad(row)]
    assert all(row["entry_start"] == 2000 for row in lost)
    for record in (*failed, *rows):
        assert record["file"] == str(path)
        assert record["dataset"] == "ttbar"
        assert (record["entry_start"], record["entry_stop"]) == (1000, 2000)
        assert (record["error_type"], record["error_message"]) == error
    assert [row["attempt"] for row in rows] == [1, 2, 3, 4]
    assert metrics["num_failed_attempts"] == ATTEMPTS
    assert metrics["num_failed_chunks"] == 1
    assert metrics["per_file"][str(path)]["failures"] == ATTEMPTS + len(lost)
    assert metrics["per_dataset"]["ttbar"]["failures"] == ATTEMPTS + len(lost)
    assert metrics["wasted_thread_seconds"] > 0
    assert metrics["losses"] == {}
    assert metrics["monitor_first_error"] == ""


# ---- skipped by coffea -------------------------------------------------------------


@executors
@analyses
@pytest.mark.parametrize(
    ("error", "skip"),
    [(OSError("disk"), True), (ValueError("mine"), (Exception,))],
    ids=["OSError", "ValueError"],
)
def test_skipped_chunk_is_listed_with_all_its_attempts(
    error, skip, analysis, executor, tiny_file
):
    runner = make_runner(executor, skipbadfiles=skip)
    instance = analysis(error)
    around = Surroundings(runner, instance)
    with roastcoffea.monitor() as collector:
        output = runner(fileset_of(tiny_file), processor_instance=instance)
    around.check()
    assert output["n"] == EVENTS - 1000
    check_failures(collector, tiny_file, type(error).__name__, str(error))
    metrics = collector.get_metrics()
    assert metrics["partial"] is False
    assert metrics["num_successful_chunks"] == 2
    assert metrics["num_attempts"] == ATTEMPTS + 2
    assert metrics["total_events"] == EVENTS - 1000
    good = [r for r in collector.chunk_metrics if not is_bad(r)]
    assert starts(good) == [0, 2000]


@executors
def test_section_in_which_a_chunk_failed_is_named(executor, tiny_file):
    runner = make_runner(executor, skipbadfiles=(Exception,))
    with roastcoffea.monitor() as collector:
        runner(fileset_of(tiny_file), MeasuredFailing(ValueError("mine")))
    failed = [record for record in collector.chunk_metrics if is_bad(record)]
    assert [record["error_section"] for record in failed] == ["selection"] * ATTEMPTS


def test_planned_chunks_count_the_skipped_one(tiny_file):
    runner = make_runner(skipbadfiles=(Exception,))
    with roastcoffea.monitor() as collector:
        runner(fileset_of(tiny_file), Failing(ValueError("mine")))
    assert collector.get_metrics()["num_chunks"] == CHUNKS
    assert f"2/{CHUNKS} chunks" in str(collector)


class Second(Plain):
    """Fails in the first attempt at its first chunk, in this process."""

    tries = 0

    def process(self, events):
        Second.tries += 1
        if Second.tries == 1:
            raise OSError("not yet")
        return super().process(events)


def test_chunk_that_succeeds_in_the_second_attempt_did_not_fail(tiny_file):
    with roastcoffea.monitor() as collector:
        output = make_runner(iterative())(fileset_of(tiny_file), Second())
    assert output["n"] == EVENTS
    metrics = collector.get_metrics()
    assert metrics["num_failed_attempts"] == metrics["num_retried_chunks"] == 1
    assert metrics["num_failed_chunks"] == 0
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["partial"] is False


# ---- not skipped -------------------------------------------------------------------


@executors
@analyses
def test_exception_reaches_the_caller_and_the_run_is_kept(
    analysis, executor, tiny_file, tmp_path, capsys
):
    runner, instance = make_runner(executor), analysis(ValueError("mine"))
    around = Surroundings(runner, instance)
    with pytest.raises(Exception, match="The error was: ValueError"):
        runner(fileset_of(tiny_file), processor_instance=instance)
    with (
        pytest.raises(Exception, match="The error was: ValueError") as seen,
        roastcoffea.monitor() as collector,
    ):
        runner(fileset_of(tiny_file), processor_instance=instance)
    around.check()
    assert type(seen.value) is Exception
    check_failures(collector, tiny_file, "ValueError", "mine")
    metrics = collector.get_metrics()
    assert metrics["partial"] is True
    assert metrics["runner_failures"] == 1
    capsys.readouterr()
    collector.print_summary()
    page = capsys.readouterr().out
    assert "FAILED" in page
    assert "\n  ValueError" in page
    path = collector.save_measurement(tmp_path, "failed")
    stored = json.loads((path / "metrics.json").read_text())
    assert stored["partial"] is True
    assert stored["num_failed_chunks"] == 1


def test_very_exception_of_a_run_in_this_process_reaches_the_caller(tiny_file):
    raised = OSError("mine")
    runner = make_runner(iterative(retries=0), processor_compression=None)
    with pytest.raises(Exception, match="mine") as seen, roastcoffea.monitor():
        runner(fileset_of(tiny_file), processor_instance=Failing(raised))
    assert seen.value.__cause__ is raised
    assert raised.__cause__ is raised.__context__ is None


def test_records_of_a_failed_run_are_on_the_processor(tiny_file):
    analysis = MeasuredFailing(ValueError("mine"))
    with pytest.raises(Exception, match="mine"), roastcoffea.monitor():
        make_runner()(fileset_of(tiny_file), processor_instance=analysis)
    assert starts(analysis._chunk_metrics) == [0]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_interrupt_in_a_chunk_is_the_users(error, tiny_file):
    raised = error("mine")
    runner = make_runner(processor_compression=None)
    analysis = MeasuredFailing(raised)
    around = Surroundings(runner, analysis)
    with pytest.raises(error) as seen, roastcoffea.monitor() as collector:
        runner(fileset_of(tiny_file), processor_instance=analysis)
    around.check()
    assert seen.value is raised
    assert raised.__context__ is raised.__cause__ is None
    assert collector.get_metrics()["partial"] is True
    (failed,) = filter(is_bad, collector.chunk_metrics)
    assert failed["error_type"] == error.__name__
    is_interrupt = error is KeyboardInterrupt
    metrics = collector.get_metrics()
    assert metrics["num_failed_chunks"] == (not is_interrupt)
    assert metrics["num_cancelled_chunks"] == is_interrupt


def test_failed_run_that_the_block_handled_is_reported(tiny_file):
    with roastcoffea.monitor() as collector:
        with pytest.raises(Exception, match="mine"):
            make_runner()(fileset_of(tiny_file), Failing(ValueError("mine")))
        make_runner()(fileset_of(tiny_file), Plain())
    metrics = collector.get_metrics()
    assert (metrics["runner_calls"], metrics["runner_failures"]) == (2, 1)
    assert metrics["partial"] is True


def test_page_counts_the_events_of_the_chunks_that_it_counts(tiny_file, capsys):
    with roastcoffea.monitor() as collector:
        make_runner()(fileset_of(tiny_file), Plain())
        with pytest.raises(Exception, match="mine"):
            make_runner()(fileset_of(tiny_file), Failing(ValueError("mine")))
    metrics = collector.get_metrics()
    assert metrics["num_chunks_processed"] == CHUNKS + 1  # the second chunk failed
    assert metrics["total_events"] == (CHUNKS + 1) * EVENTS / CHUNKS
    capsys.readouterr()
    collector.print_summary()
    assert re.search(r"4000 events \| 4 (of 6 )?chunks", capsys.readouterr().out)


# ---- files -------------------------------------------------------------------------


def test_file_missing_at_preprocessing_is_the_users_exception(tiny_file, tmp_path):
    runner = make_runner()
    missing = fileset_of(tmp_path / "gone.root")
    with pytest.raises(FileNotFoundError), roastcoffea.monitor() as collector:
        runner(missing, processor_instance=Plain())
    metrics = collector.get_metrics()
    assert metrics["partial"] is True
    assert metrics["runner_failures"] == 1
    assert "FileNotFoundError" in str(collector)


def test_file_missing_at_preprocessing_and_skipped_leaves_the_others(
    tiny_file, tmp_path
):
    runner = make_runner(iterative(retries=1), skipbadfiles=True)
    with roastcoffea.monitor() as collector:
        output = runner(fileset_of(tmp_path / "gone.root", tiny_file), Plain())
    assert output["n"] == collector.get_metrics()["total_events"] == EVENTS
    assert collector.get_metrics()["partial"] is False


@executors
def test_file_that_is_gone_when_its_chunk_comes_is_a_failed_chunk(
    executor, tiny_file, tmp_path
):
    runner = make_runner(executor, skipbadfiles=True)
    chunks = list(runner.preprocess(fileset_of(tiny_file)))
    gone = str(tmp_path / "gone.root")
    chunks.append(dataclasses.replace(chunks[1], filename=gone))
    with roastcoffea.monitor() as collector:
        runner.run(chunks, Measured())
    metrics = collector.get_metrics()
    assert metrics["num_failed_chunks"] == 1
    assert metrics["num_failed_attempts"] == ATTEMPTS
    assert metrics["per_file"][gone]["failures"] == ATTEMPTS
    for row in metrics["failures"]:
        assert row["file"] == gone
        assert (row["entry_start"], row["entry_stop"]) == (1000, 2000)
        assert row["error_type"] == "FileNotFoundError"
    good = [record for record in collector.chunk_metrics if not is_bad(record)]
    assert starts(good) == [0, 1000, 2000]


# ---- processes ---------------------------------------------------------------------


class Deadly(Plain):
    """Ends its process in the middle of a chunk."""

    def process(self, events):
        if events.metadata["entrystart"] == 1000:
            os._exit(1)
        return super().process(events)


def test_chunk_lost_with_its_process_is_named(tiny_file):
    runner = make_runner(processor.FuturesExecutor(workers=1, status=False))
    analysis = Deadly()
    around = Surroundings(runner, analysis)
    with (
        pytest.raises(loky.process_executor.TerminatedWorkerError),
        roastcoffea.monitor() as collector,
    ):
        runner(fileset_of(tiny_file), processor_instance=analysis)
    around.check()
    metrics = collector.get_metrics()
    assert metrics["partial"] is True
    assert metrics["num_lost_attempts"] == 1
    (lost,) = metrics["failures"]
    assert lost["status"] == "lost"
    assert lost["file"] == str(tiny_file)
    assert (lost["entry_start"], lost["entry_stop"]) == (1000, 2000)
