# SPDX-License-Identifier: BSD-3-Clause
"""What a collector touches is as it was afterwards; a user's own False and
ROASTCOFFEA=off are respected; errors of ours are counted, never raised."""

from __future__ import annotations

import pytest
from coffea.processor import Runner

import roastcoffea
from collector_helpers import (
    EVENTS,
    FLAG,
    Failing,
    Measured,
    Plain,
    Surroundings,
    fileset_of,
    iterative,
    make_runner,
    starts,
    threads,
)
from roastcoffea import MetricsCollector, _core, _probe
from roastcoffea.backends.local import LocalTracking
from roastcoffea.progress import LiveLine
from roastcoffea.run import Run
from roastcoffea.run_recorder import RunRecorder
from support import KEY, run_python

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_importing_and_making_a_collector_patches_nothing():
    before = dict(vars(Runner))
    collector = roastcoffea.monitor()
    assert dict(vars(Runner)) == before
    with collector:
        assert vars(Runner)["run"] is not before["run"]
        assert Runner.run.__wrapped__ is before["run"]
        assert Runner.run.__doc__ == before["run"].__doc__
    assert vars(Runner)["run"] is before["run"]


@pytest.mark.parametrize("executor", [iterative, threads])
@pytest.mark.parametrize("analysis", [Plain(), Measured(), Failing(OSError("mine"))])
def test_everything_is_as_it_was(analysis, executor, tiny_file):
    runner = make_runner(executor(retries=0), skipbadfiles=True)
    runner._work_function = runner._work_function  # the user's own, on the instance
    analysis.mine = 1
    around = Surroundings(runner, analysis)
    with roastcoffea.monitor():
        runner(fileset_of(tiny_file), processor_instance=analysis)
        around_run = {key for key in vars(runner) if key not in around.before["runner"]}
        assert around_run == set()
    around.check()


def test_wrapper_of_another_tool_on_top_of_ours_stays(tiny_file, monkeypatch):
    original = Runner.run
    calls = []

    def theirs(self, *args, **kwargs):
        calls.append("theirs")
        return beneath(self, *args, **kwargs)

    with roastcoffea.monitor() as first:
        beneath = Runner.run
        Runner.run = theirs
        make_runner()(fileset_of(tiny_file), Measured())
    try:
        assert Runner.run is theirs
        make_runner()(fileset_of(tiny_file), Measured())
        with roastcoffea.monitor() as second:
            make_runner()(fileset_of(tiny_file), Measured())
        assert Runner.run is theirs
    finally:
        Runner.run = original
    assert calls == ["theirs"] * 3
    for collector in (first, second):
        assert starts(collector.chunk_metrics) == [0, 1000, 2000]
        assert collector.get_metrics()["num_attempts"] == 3


@pytest.mark.parametrize("before", [False, None, True])
def test_switch_of_the_users_is_restored_and_false_respected(before, tiny_file):
    analysis = Measured()
    setattr(analysis, FLAG, before)
    with MetricsCollector(None, processor_instance=analysis) as collector:
        assert getattr(analysis, FLAG) is (before is not False)
        output = make_runner()(fileset_of(tiny_file), processor_instance=analysis)
    assert vars(analysis)[FLAG] is before
    measured = before is not False
    assert (KEY in output) is measured
    assert bool(collector.chunk_metrics) is measured
    assert collector.get_metrics()["total_events"] == EVENTS


def test_false_on_the_class_is_respected(tiny_file):
    class Off(Measured):
        _roastcoffea_collect_metrics = False

    with roastcoffea.monitor() as collector:
        make_runner()(fileset_of(tiny_file), processor_instance=Off())
    assert collector.chunk_metrics == []
    assert collector.get_metrics()["num_attempts"] == 3


def test_nothing_of_ours_is_left_in_the_temporary_directory(
    tiny_file, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(Exception, match="mine"), roastcoffea.monitor():
        make_runner(threads())(fileset_of(tiny_file), Failing(ValueError("mine")))
    assert list(tmp_path.iterdir()) == []


# ---- errors of ours ----------------------------------------------------------------


def failing(*_, **__):
    raise RuntimeError("ours")


STEPS = ["begin_call", "end_call", "take_wrapped", "records_of", "open_spool"]


@pytest.mark.parametrize("method", STEPS)
def test_error_of_ours_is_counted_not_raised(method, tiny_file, monkeypatch):
    monkeypatch.setattr(RunRecorder, method, failing)
    runner, analysis = make_runner(threads()), Measured()
    around = Surroundings(runner, analysis)
    with roastcoffea.monitor() as collector:
        output = runner(fileset_of(tiny_file), processor_instance=analysis)
    around.check()
    assert output["n"] == EVENTS
    assert "ours" in collector.get_metrics()["monitor_first_error"]
    assert collector.get_metrics()["monitor_errors"] > 0
    if method not in ("begin_call", "open_spool"):  # the others are taken all the same
        assert starts(collector.chunk_metrics) == [0, 1000, 2000]


AT_THE_END = [
    *((RunRecorder, name) for name in ("flush", "end_dask", "close", "finish")),
    *((LocalTracking, name) for name in ("span_info", "end")),
    (LiveLine, "stop"),
]


@pytest.mark.parametrize("step", AT_THE_END)
def test_error_of_ours_at_the_end_is_counted(step, tiny_file, tmp_path, monkeypatch):
    original = getattr(*step)

    def fails(*args):
        original(*args)
        raise RuntimeError("ours")

    monkeypatch.setattr(*step, fails)
    with roastcoffea.monitor(tmp_path, progress=True) as run:
        make_runner()(fileset_of(tiny_file), processor_instance=Measured())
    assert run.get_metrics()["monitor_errors"] == 1
    assert run.get_metrics()["monitor_first_error"].endswith(": RuntimeError: ours")
    saved = roastcoffea.open_run(run.measurement_path)
    assert starts(saved.chunk_metrics) == [0, 1000, 2000]
    assert saved.get_metrics()["monitor_errors"] == 1


@pytest.mark.parametrize("step", [(RunRecorder, "finish"), (Run, "save")])
def test_error_of_ours_at_the_end_does_not_mask_the_users(step, monkeypatch, tmp_path):
    monkeypatch.setattr(*step, failing)
    with pytest.raises(KeyError, match="mine"), roastcoffea.monitor(tmp_path):
        raise KeyError("mine")


def test_failure_to_begin_leaves_nothing_behind(tiny_file, monkeypatch):
    before = Runner.run
    collector = roastcoffea.monitor()
    with monkeypatch.context() as patch:
        patch.setattr(_core, "Run", failing)
        with pytest.raises(RuntimeError, match="ours"):
            collector.__enter__()
    assert Runner.run is before
    with collector:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    assert collector.get_metrics()["total_events"] == EVENTS
    assert _probe.status()["enabled"]


def test_switched_off_by_the_environment(tiny_file):
    script = """
        import sys
        from coffea.processor import Runner
        import roastcoffea
        from collector_helpers import Measured, Plain, fileset_of, make_runner
        from test_collector_backend import Backend
        original, backend, analysis = Runner.run, Backend(), Measured()
        collector = roastcoffea.monitor(backend=backend, processor_instance=analysis)
        with collector:
            assert Runner.run is original
            assert vars(analysis) == {}
            output = make_runner()(fileset_of(sys.argv[1]), analysis)
        assert set(output) == {"n", "sum"}, output
        assert collector.chunk_metrics == [] and backend.calls == []
        metrics = collector.get_metrics()
        assert "ROASTCOFFEA=off" in metrics["unavailable"]["total_events"]
        assert metrics["wall_time"] > 0 and metrics["partial"] is False
        collector.print_summary()
        assert collector.extract_metrics_from_output(output) is output
    """
    assert "roastcoffea" in run_python(script, tiny_file, ROASTCOFFEA="off")
