# SPDX-License-Identifier: BSD-3-Clause
"""How runs end, on real pools: what is missing is named, Ctrl-C is no failure, and a
process that dies is named; starting and stopping pools is a part of its own."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import (
    BrokenExecutor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from pathlib import Path

import loky
import pytest
from coffea import processor

from collector_helpers import fileset_of, iterative, make_runner
from planted_sleeps import SLEEP_S
from roastcoffea import monitor, track_metrics
from scheduler_runs import until


class Acting(processor.ProcessorABC):
    """Does something in the chunk that begins at entry 1000."""

    def __init__(self, action, folder="", postprocess_s=0.0):
        self.action, self.folder = action, str(folder)
        self.postprocess_s = postprocess_s

    @track_metrics
    def process(self, events):
        if events.metadata["entrystart"] == 1000:
            self.action(self.folder)
        return {"n": len(events)}

    def postprocess(self, accumulator):
        time.sleep(self.postprocess_s)
        return accumulator


def nothing(folder):
    pass


def skip(folder):
    raise OSError("no such tape")


def kill_itself(folder):
    until(Path(folder, "go").exists)
    os.kill(os.getpid(), signal.SIGKILL)


def leave(folder):
    os._exit(3)


def wait_long(folder):
    """Until Ctrl-C, or until the test is over."""
    Path(folder, "begun").touch()
    until(Path(folder, "go").exists)


def futures(pool, workers=2):
    return processor.FuturesExecutor(
        pool=pool, workers=workers, status=False, retries=0
    )


def ended(error, executor, file, analysis):
    """A run that must end with an exception."""
    runner = make_runner(executor)
    with pytest.raises(error), monitor() as run:
        runner(fileset_of(file), processor_instance=analysis)
    return run


def closed(run):
    metrics = run.get_metrics()
    budget = sum(metrics["budget"].values())
    assert budget == pytest.approx(metrics["offered_thread_seconds"])
    wall = sum(metrics["wall_account"].values())
    assert wall == pytest.approx(metrics["wall_time"])
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    return metrics


def findings(metrics):
    return {row["id"]: row for row in metrics["findings"]}


# ---- incomplete ----------------------------------------------------------------------


def test_a_skipped_chunk_is_named(tiny_file):
    with monitor() as run:
        runner = make_runner(iterative(retries=1), skipbadfiles=True)
        output = runner(fileset_of(tiny_file), processor_instance=Acting(skip))
    assert output["n"] == 2000
    state = closed(run)["state"]
    assert (state["state"], state["missing_chunks"]) == ("incomplete", 1)
    assert state["missing"] == [f"ttbar {tiny_file} 1000-2000"]
    page = str(run)
    assert "INCOMPLETE after" in page
    assert "1 chunk is not in the result" in page
    assert run.state == "incomplete"


def test_a_missing_file_counts_its_attempts(tiny_file):
    files = fileset_of(tiny_file, "/nowhere/gone.root")
    with monitor() as run:
        runner = make_runner(iterative(retries=3), skipbadfiles=True)
        runner(files, processor_instance=Acting(nothing))
    state = closed(run)["state"]
    assert (state["state"], state["missing_files"]) == ("incomplete", 1)
    assert state["missing"] == ["ttbar /nowhere/gone.root"]
    page = str(run)
    assert "4 failed attempts" in page
    assert "0 failed" not in page


def test_a_whole_run_is_finished(tiny_file):
    with monitor() as run:
        make_runner()(fileset_of(tiny_file), processor_instance=Acting(nothing))
    assert closed(run)["state"]["state"] == run.state == "finished"
    assert "FINISHED in" in str(run)


# ---- interrupted ---------------------------------------------------------------------


def interrupt(folder):
    """Ctrl-C when the chunk is there; a chunk elsewhere may end after it."""
    until(Path(folder, "begun").exists)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    Path(folder, "go").touch()


@pytest.mark.parametrize("kind", ["iterative", "processes", "threads"])
def test_ctrl_c_is_no_failure(kind, tiny_file, tmp_path):
    pools = {"processes": ProcessPoolExecutor, "threads": ThreadPoolExecutor}
    executor = futures(pools[kind]) if kind in pools else iterative(retries=0)
    thread = threading.Thread(target=interrupt, args=[tmp_path])
    thread.start()
    analysis = Acting(wait_long, tmp_path)
    run = ended(KeyboardInterrupt, executor, tiny_file, analysis)
    thread.join()
    metrics = closed(run)
    assert metrics["state"]["state"] == run.state == "interrupted"
    assert metrics["failures"] == []
    assert "failures" not in findings(metrics)
    assert metrics["budget"]["lost"] == metrics["budget"]["failed"] == 0
    page = run._page("text")
    assert "INTERRUPTED after" in page
    assert "raised" not in page
    if kind == "iterative":
        assert metrics["num_cancelled_chunks"] == 1
        assert metrics["budget"]["cancelled"] > 0


# ---- a process of a pool dies --------------------------------------------------------


@pytest.mark.parametrize("pool", [ProcessPoolExecutor, loky.ProcessPoolExecutor])
def test_a_killed_process_is_named(pool, tiny_file, tmp_path):
    """In its second chunk: the record of the first one has its pid."""
    (tmp_path / "go").touch()
    analysis = Acting(kill_itself, tmp_path)
    run = ended(BrokenExecutor, futures(pool, 1), tiny_file, analysis)
    metrics = closed(run)
    (lost,) = metrics["lost_workers"]
    (failure,) = [row for row in metrics["failures"] if row["entry_start"] == 1000]
    assert lost["pid"] == failure["pid"]
    assert lost["exit_code"] == -signal.SIGKILL
    assert lost["chunks"] == [f"ttbar {tiny_file} 1000-2000"]
    found = findings(metrics)["workers_died"]
    assert f"process {lost['pid']}: killed by signal 9 (SIGKILL)" in found["evidence"]
    if "memory_bytes" in lost:
        assert "memory" in found["evidence"]
    assert run.state == "failed"


def test_a_process_that_leaves_has_an_exit_code(tiny_file):
    executor = futures(ProcessPoolExecutor)
    run = ended(BrokenExecutor, executor, tiny_file, Acting(leave))
    metrics = closed(run)
    assert metrics["lost_workers"][0]["exit_code"] == 3
    assert "exit code 3" in findings(metrics)["workers_died"]["evidence"]


def test_a_pool_of_the_user_is_watched_and_restored(tiny_file):
    with ProcessPoolExecutor(2) as pool:
        run = ended(BrokenExecutor, futures(pool), tiny_file, Acting(leave))
        assert "submit" not in vars(pool)
    metrics = closed(run)
    assert metrics["lost_workers"][0]["exit_code"] == 3
    assert metrics["budget"]["pool_start"] == metrics["budget"]["pool_stop"] == 0


# ---- pools and postprocess() ---------------------------------------------------------


class SlowPool(ThreadPoolExecutor):
    """A pool that takes long to start and to stop."""

    def __init__(self, max_workers):
        super().__init__(max_workers)
        time.sleep(SLEEP_S)

    def shutdown(self, *args, **kwargs):
        super().shutdown(*args, **kwargs)
        time.sleep(SLEEP_S)


def test_a_pool_is_started_and_stopped(tiny_file):
    executor = futures(SlowPool)
    with monitor() as run:
        make_runner(executor)(fileset_of(tiny_file), processor_instance=Acting(nothing))
    metrics = closed(run)
    wall, budget = metrics["wall_account"], metrics["budget"]
    pools = round(wall["pool_stop"] / SLEEP_S)  # one more if the file was not cached
    for part in ("pool_start", "pool_stop"):
        assert wall[part] >= pools * SLEEP_S
        assert budget[part] >= 2 * pools * SLEEP_S
    assert wall["merge"] < SLEEP_S
    assert wall["wait_first_worker"] < SLEEP_S
    assert budget["idle_reduce"] < SLEEP_S
    found = findings(metrics)["pools"]
    assert "get_reusable_executor(max_workers=2)" in found["advice"]
    assert found["saves_wall_seconds"] >= pools * SLEEP_S
    assert "pool start" in run._page("text")
    assert executor.pool is SlowPool


@pytest.mark.parametrize("kind", ["iterative", "threads"])
def test_postprocess_has_its_own_slice(kind, tiny_file):
    executor = (
        iterative(retries=0) if kind == "iterative" else futures(ThreadPoolExecutor)
    )
    with monitor() as run:
        analysis = Acting(nothing, postprocess_s=SLEEP_S)
        make_runner(executor)(fileset_of(tiny_file), processor_instance=analysis)
    metrics = closed(run)
    threads = 1 if kind == "iterative" else 2
    wall_s = metrics["wall_account"]["postprocess"]
    assert wall_s >= SLEEP_S
    assert metrics["budget"]["postprocess"] == pytest.approx(threads * wall_s)
    assert metrics["budget"]["idle_client_after"] < SLEEP_S
    assert "postprocess" in findings(metrics)
    assert "your postprocess()" in run._page("text")
