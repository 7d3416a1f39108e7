# SPDX-License-Identifier: BSD-3-Clause
"""Diseases of chunks on one thread: too small, waiting for storage, in need of a core,
failing. Each is named in a run that has it, and is not in one that has not."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys

import pytest
from coffea.nanoevents import NanoAODSchema

from collector_helpers import EVENTS, fileset_of, iterative, make_runner, threads
from faulty_analyses import (
    Patient,
    SlowSchema,
    diagnose,
    fail_in,
    keep_the_gil,
    read,
    rest,
)
from ladder_clocks import needs_schedstat
from slow_server import serve

# ---- chunks too small ----------------------------------------------------------------


def nano_run(folder, chunksize, most=None):
    (path,) = folder.glob("ttbar_0_*.root")
    options = {"schema": NanoAODSchema, "chunksize": chunksize, "maxchunks": most}
    return diagnose(iterative(), fileset_of(path), Patient(rest, 0), **options)


def suggested_by(run):
    finding = run.of("chunks_too_small")  # a machine without a free core is the first
    found = re.match(r"chunksize=([0-9_]+) \(now 4\)", finding["advice"])
    assert found, finding["advice"]
    assert finding["severity"] in ("high", "medium")
    assert "for its 4 events" in finding["evidence"]
    return int(found[1].replace("_", ""))


def core_s_per_event(run):
    return run.metrics["cpu_seconds"] / run.metrics["total_events"]


def test_small_chunks_of_a_tree_with_a_thousand_branches(nano_folder):
    """On one thread a run is as long as its chunks need a core: that is compared, as
    it does not depend on who else wants one."""
    ill = nano_run(nano_folder, 4, 10)
    size = suggested_by(ill)
    cured = nano_run(nano_folder, size, 1)
    cured.lacks("chunks_too_small")
    assert cured.metrics["total_events"] >= size
    assert core_s_per_event(cured) < core_s_per_event(ill) / 3


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_small_chunks_of_a_whole_file(nano_folder):
    ill = nano_run(nano_folder, 4)
    cured = nano_run(nano_folder, suggested_by(ill))
    assert cured.metrics["total_events"] == ill.metrics["total_events"] == 1000
    assert cured.wall_s < ill.wall_s / 4


def test_chunks_that_are_worth_their_opening(tiny_file):
    analysis = Patient(rest, 0.6)
    run = diagnose(iterative(), fileset_of(tiny_file), analysis, chunksize=500)
    run.lacks("chunks_too_small")
    run.lacks("files_too_small")
    run.lacks("overloaded")


def test_files_that_are_hardly_worth_their_opening(tiny_file, tmp_path):
    """Neither larger chunks nor merged files are possible."""
    files = [shutil.copy(tiny_file, tmp_path / f"{i}.root") for i in range(2)]
    fileset = {path.stem: {"files": {str(path): "Events"}} for path in files}
    options = {"schema": SlowSchema, "chunksize": EVENTS}
    run = diagnose(iterative(), fileset, Patient(rest, 1), **options)
    finding = run.of("small_input")
    assert finding["cost_thread_seconds"] >= 2 * 0.6
    assert " in each of 2 chunks" in finding["evidence"]
    assert "saves_wall_seconds" not in finding


# ---- storage that sleeps -------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tiny_file):
    yield from serve(tiny_file.parent)


def read_from(server, file, delay_s, seconds):
    server.delay_s = delay_s
    fileset = fileset_of(f"{server.endpoint}/{file.name}")
    return diagnose(iterative(), fileset, Patient(read, seconds))


@pytest.fixture(scope="module")
def from_slow_storage(server, tiny_file):
    return read_from(server, tiny_file, 0.4, 0)


def test_preprocessing_that_is_not_repeated(from_slow_storage, tiny_file):
    """The advice is code."""
    finding = from_slow_storage.of("preprocessing")
    assert finding["saving"].endswith("s on the next run")
    _, code = finding["advice"].split(": ", 1)
    analysis, fileset = Patient(rest, 0), fileset_of(tiny_file)
    runner = make_runner(iterative())
    names = {"runner": runner, "fileset": fileset, "analysis": analysis}
    exec(code, names)
    assert names["output"]["n"] == EVENTS
    assert names["output"] == runner(fileset, analysis)


def test_storage_that_sleeps(server, from_slow_storage):
    run = from_slow_storage
    finding = run.first("waiting_for_data")
    assert finding["title"] == f"Waiting for data from {server.endpoint}"
    assert " waiting for " in finding["evidence"]
    assert "run closer to the data" in finding["advice"]
    requested = sum(row["requests"] for row in run.metrics["per_endpoint"].values())
    assert (
        finding["cost_thread_seconds"] >= 0.4 * requested / 2
    )  # some are requested together


def test_threads_that_wait_for_storage(server, tiny_file):
    """They do not wait for each other."""
    server.delay_s = 0.2
    fileset = fileset_of(f"{server.endpoint}/{tiny_file.name}")
    run = diagnose(threads(), fileset, Patient(read, 0), chunksize=500)
    run.of("waiting_for_data")
    run.lacks("gil")
    run.lacks("small_input")


def test_storage_that_does_not(server, tiny_file):
    read_from(server, tiny_file, 0, 1).lacks("waiting_for_data")


# ---- other work on the same cores ----------------------------------------------------

HOG = "import os; os.sched_setaffinity(0, {%d})\nprint(flush=True)\nwhile True: pass"


@contextlib.contextmanager
def one_core(hogs):
    """This thread on one core, together with others that never rest."""
    allowed = os.sched_getaffinity(0)
    core = min(allowed)
    running = [
        subprocess.Popen([sys.executable, "-c", HOG % core], stdout=subprocess.PIPE)
        for _ in range(hogs)
    ]
    try:
        for hog in running:
            hog.stdout.readline()
        os.sched_setaffinity(0, {core})
        yield
    finally:
        os.sched_setaffinity(0, allowed)
        for hog in running:
            hog.kill()
            hog.communicate()


@needs_schedstat
def test_a_core_that_others_use_too(tiny_file):
    with one_core(hogs=4):
        analysis = Patient(keep_the_gil, 0.25)
        run = diagnose(iterative(), fileset_of(tiny_file), analysis)
    finding = run.first("overloaded")
    assert finding["cost_thread_seconds"] >= 2
    assert "waiting for a core" in finding["evidence"]
    assert "than this machine has cores" in finding["advice"]
    run.lacks("gil")


# ---- failures ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good_and_bad(tiny_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return [shutil.copy(tiny_file, folder / name) for name in ("good.root", "bad.root")]


def test_a_file_whose_chunks_fail(good_and_bad):
    executor, analysis = iterative(retries=0), Patient(fail_in, "bad.root")
    fileset = fileset_of(*good_and_bad)
    run = diagnose(executor, fileset, analysis, error="no such tape")
    finding = run.first("failures")
    assert finding["severity"] == "high"
    assert "OSError: no such tape in " in finding["evidence"]
    assert "bad.root" in finding["evidence"]
    assert "good.root" not in finding["evidence"]
    assert "failed_items()" in finding["advice"]
    assert "process() raised it" in finding["advice"]


def test_a_file_that_cannot_be_opened(good_and_bad, tmp_path):
    good, bad = good_and_bad
    short = tmp_path / "short.root"
    with open(bad, "rb") as whole:
        short.write_bytes(whole.read(1000))
    executor = iterative(retries=0)
    options = {"skipbadfiles": (OSError, ValueError)}
    run = diagnose(executor, fileset_of(good, short), Patient(rest, 0), **options)
    finding = run.first("failures")
    assert "short.root" in finding["evidence"]
    assert run.metrics["total_events"] == EVENTS


def test_files_that_are_fine(good_and_bad):
    executor = iterative(retries=0)
    run = diagnose(executor, fileset_of(*good_and_bad), Patient(fail_in, "other.root"))
    run.lacks("failures")
