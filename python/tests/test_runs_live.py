# SPDX-License-Identifier: BSD-3-Clause
"""``output_dir``: on disk from enter on, finished at exit, and never the reason why an
analysis fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import roastcoffea
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Measured,
    Plain,
    fileset_of,
    iterative,
    make_runner,
    open_pool,
    processes,
)
from roastcoffea.export import measurements
from saved_run_samples import HAND_MADE, differing, facts, hand_over, measured
from support import run_python


@pytest.fixture(scope="module")
def pool():
    yield from open_pool()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class Looking(Measured):
    """Opens the live file of its own run, in the middle of it."""

    def __init__(self, run, folder):
        self.run, self.folder, self.seen, self.running = run, folder, [], []

    def process(self, events):
        (live,) = self.folder.glob("*.roast-live")
        self.run._core.live_sync()
        opened = roastcoffea.open_run(live)
        chunks = [chunk["entry_start"] for chunk in opened.chunk_metrics]
        self.running.append(list(opened.tasks["file"])[-1])
        self.seen.append((chunks, opened.partial, opened.info["live"], opened.id))
        return Measured.process(self, events)


# ---- while it goes on --------------------------------------------------------------


def test_live_file_has_what_was_done_so_far(tiny_file, tmp_path):
    with roastcoffea.monitor(tmp_path) as run:
        looking = Looking(run, tmp_path)
        runner = make_runner(processor_compression=None)  # it is not pickled
        runner(fileset_of(tiny_file), processor_instance=looking)
    starts = [0, 1000, 2000]
    assert looking.seen == [
        (starts[:done], True, True, run.id) for done in range(CHUNKS)
    ]
    assert looking.running == [str(tiny_file)] * CHUNKS
    assert names(tmp_path) == [run.measurement_path.name]


def test_live_file_has_words_and_facts_of_the_run(tiny_file, tmp_path):
    collector = roastcoffea.monitor(
        tmp_path, measurement_name="x", labels={"site": "T2"}
    )
    with collector as run:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
        hand_over(run)
        run._core.live_sync()
        opened = roastcoffea.open_run(tmp_path / "x.roast-live")
        assert opened.labels == {"site": "T2"}
        assert opened._notes.text("processor") == "Plain"
        assert opened.custom_metrics["answer"] == 42
        assert opened.section_metrics == run.section_metrics
        assert opened.fileset == fileset_of(tiny_file)
        live = opened._core.notes("provenance")
        assert live == run._core.notes("provenance")
        assert opened.get_metrics()["total_events"] == EVENTS
        assert len(opened.chunk_metrics) == CHUNKS + len(HAND_MADE)
        assert "killed" in str(opened)


def test_live_file_with_worker_processes_has_their_chunks(tiny_file, tmp_path, pool):
    with roastcoffea.monitor(tmp_path, measurement_name="x") as run:
        runner = make_runner(processes(pool))
        runner(fileset_of(tiny_file), processor_instance=Measured())
        run._core.sync()
        run._core.live_sync()
        opened = roastcoffea.open_run(tmp_path / "x.roast-live")
        assert opened._core.chunks() == run._core.chunks()
        assert len(opened.chunk_metrics) == CHUNKS


def test_live_file_becomes_a_run_file(tiny_file, tmp_path):
    """As one would after a crash."""
    with roastcoffea.monitor(tmp_path, measurement_name="x") as run:
        make_runner()(fileset_of(tiny_file), processor_instance=Measured())
        run._core.live_sync()
        live = roastcoffea.open_run(tmp_path / "x.roast-live")
        live.save(tmp_path / "rescued.roast")
    rescued = roastcoffea.open_run(tmp_path / "rescued.roast")
    assert rescued.partial
    assert rescued._core.chunks() == run._core.chunks()
    folder = rescued.save_measurement(tmp_path, "measurement")
    metrics, t0, t1 = roastcoffea.load_measurement(folder)
    assert metrics["partial"] is True
    assert t0 == run.t_start <= t1


# ---- afterwards --------------------------------------------------------------------


def test_measurement_has_the_run_in_it(tiny_file, tmp_path):
    run = measured(tiny_file, output_dir=tmp_path / "deep" / "er", measurement_name="x")
    folder = tmp_path / "deep" / "er"
    assert names(folder) == ["x"]
    assert run.measurement_path == folder / "x"
    assert names(folder / "x") == [
        "metadata.json",
        "metrics.json",
        "run.roast",
        "start_end_time.txt",
        "worker_tracking.json",
    ]
    for path in (folder / "x", folder / "x" / "run.roast"):
        opened = roastcoffea.open_run(path)
        assert differing(facts(run), facts(opened)) == []
        assert opened.path == path


def test_many_samples_are_written_as_text_on_demand(tiny_file, tmp_path, monkeypatch):
    """That takes long: the end of a block does without."""
    monkeypatch.setattr(measurements, "MOST_SAMPLES_AT_EXIT", 0)
    with roastcoffea.monitor(tmp_path, measurement_name="x") as run:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    assert not (tmp_path / "x" / "worker_tracking.json").exists()
    assert (run.save_measurement(tmp_path, "y") / "worker_tracking.json").exists()
    metrics, _, _ = roastcoffea.load_measurement(tmp_path / "x")
    assert metrics["tracking_data"] == run.tracking_data


def test_exception_in_the_body_leaves_a_partial_run(tiny_file, tmp_path):
    def analyse():
        with roastcoffea.monitor(tmp_path, measurement_name="x") as run:
            make_runner()(fileset_of(tiny_file), processor_instance=Measured())
            assert run.failure is None
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        analyse()
    opened = roastcoffea.open_run(tmp_path / "x")
    assert opened.partial
    assert opened.failure == "KeyError: 'mine'"
    assert "FAILED" in str(opened)
    assert len(opened.chunk_metrics) == CHUNKS
    assert names(tmp_path) == ["x"]


def test_config_is_in_the_run_too(tiny_file, tmp_path):
    with roastcoffea.monitor() as run:
        pass
    folder = run.save_measurement(tmp_path, "x", config={"sites": ("T2", "T3")})
    opened = roastcoffea.open_run(folder)
    assert opened._notes.document("config") == {"sites": ("T2", "T3")}


def test_blocks_at_the_same_second_have_names_of_their_own(tmp_path, monkeypatch):
    from roastcoffea.export import measurements

    monkeypatch.setattr(
        measurements, "_automatic_names", lambda: iter(["a", "a_2", "a_3"])
    )
    with (
        roastcoffea.monitor(tmp_path) as first,
        roastcoffea.monitor(tmp_path) as second,
    ):
        assert names(tmp_path) == ["a.roast-live", "a_2.roast-live"]
    with roastcoffea.monitor(tmp_path) as third:
        pass
    paths = [run.measurement_path.name for run in (first, second, third)]
    assert paths == ["a", "a_2", "a_3"]
    assert names(tmp_path) == ["a", "a_2", "a_3"]


# ---- others that are there ---------------------------------------------------------


def test_forked_child_writes_nothing_and_ends(tiny_file, tmp_path):
    script = """
        import os, sys
        import roastcoffea
        from collector_helpers import *

        path, folder = sys.argv[1:]
        with roastcoffea.monitor(folder, measurement_name="x") as run:
            make_runner()(fileset_of(path), processor_instance=Measured())
            pid = os.fork()
            if pid == 0:
                sys.exit(0)
            assert os.waitpid(pid, 0)[1] == 0
            run._core.live_sync()
        opened = roastcoffea.open_run(run.measurement_path)
        assert opened._core.chunks() == run._core.chunks()
        assert os.listdir(folder) == ["x"]
    """
    run_python(script, tiny_file, tmp_path)


def test_interpreter_that_ends_in_the_block_leaves_a_live_file(tiny_file, tmp_path):
    script = """
        import sys
        import roastcoffea
        from collector_helpers import *

        collector = roastcoffea.monitor(sys.argv[2], measurement_name="x")
        run = collector.__enter__()
        make_runner()(fileset_of(sys.argv[1]), processor_instance=Measured())
    """
    run_python(script, tiny_file, tmp_path)
    opened = roastcoffea.open_run(tmp_path / "x.roast-live")
    assert opened.partial
    assert len(opened.chunk_metrics) == CHUNKS


def test_script_under_the_collector_is_written(tiny_file, tmp_path):
    script = tmp_path / "analysis.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from collector_helpers import *\n"
        f"make_runner()(fileset_of({str(tiny_file)!r}), Measured())\n"
    )
    import sys

    command = [sys.executable, "-m", "roastcoffea", "run", "-q", "-o", "out", script]
    subprocess.run([*command, "--token", "hidden"], cwd=tmp_path, check=True)
    (folder,) = (tmp_path / "out").iterdir()
    opened = roastcoffea.open_run(folder)
    assert opened.provenance["command"].endswith("analysis.py --token ***")
    assert len(opened.chunk_metrics) == CHUNKS


def test_iterative_executor_retried_is_the_same_after_opening(tiny_file, tmp_path):
    run = measured(tiny_file, iterative(retries=2), fails=True, output_dir=tmp_path)
    opened = roastcoffea.open_run(run.measurement_path)
    assert differing(facts(run), facts(opened)) == []
    assert opened.get_metrics()["num_failed_attempts"] == 3
