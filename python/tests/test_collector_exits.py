# SPDX-License-Identifier: BSD-3-Clause
"""However a block ends: the user's exception passes, what was measured is kept and is
marked as partial."""

from __future__ import annotations

import concurrent.futures
import shutil
from typing import Any

import pytest
from coffea.processor import Err, Ok

import roastcoffea
from collector_helpers import (
    EVENTS,
    Measured,
    MeasuredFailing,
    Plain,
    Surroundings,
    fileset_of,
    iterative,
    make_runner,
    processes,
    starts,
    threads,
)
from roastcoffea import MetricsCollector
from support import KEY, OneByOne

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ERRORS = [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError]


# ---- exceptions of the body --------------------------------------------------------


@pytest.mark.parametrize("error", ERRORS)
def test_exception_of_the_body_passes_and_the_run_is_kept(error, tiny_file, tmp_path):
    raised = error("mine")
    runner, analysis = make_runner(), Measured()
    around = Surroundings(runner, analysis)
    collector = MetricsCollector(None, processor_instance=analysis)
    with pytest.raises(error) as seen, collector:  # noqa: PT012
        runner(fileset_of(tiny_file), processor_instance=analysis)
        raise raised
    around.check()
    assert seen.value is raised
    assert raised.__context__ is raised.__cause__ is None
    metrics = collector.get_metrics()
    assert metrics["partial"] is True
    assert metrics["total_events"] == EVENTS
    assert len(collector.chunk_metrics) == 3
    assert error.__name__ in str(collector)
    stored = roastcoffea.load_measurement(collector.save_measurement(tmp_path))[0]
    assert stored["partial"] is True


def test_leaving_with_exit_status_zero_is_no_failure():
    with pytest.raises(SystemExit), roastcoffea.MetricsCollector() as collector:
        raise SystemExit(0)
    assert collector.get_metrics()["partial"] is False


def test_run_is_partial_while_it_goes_on():
    with roastcoffea.MetricsCollector() as collector:
        assert collector.get_metrics()["partial"] is True
        assert collector.t_end is None
    assert collector.get_metrics()["partial"] is False
    assert collector.get_metrics()["wall_time"] > 0


def test_exception_that_is_its_own_cause_ends():
    error = ValueError("mine")
    with (
        pytest.raises(ValueError, match="mine"),
        roastcoffea.MetricsCollector() as collector,
    ):
        raise error from error
    assert collector.get_metrics()["partial"] is True


def test_exception_that_cannot_be_printed_passes():
    class Unspeakable(Exception):
        def __str__(self):
            raise OSError("in __str__")

    raised = Unspeakable()
    with (
        pytest.raises(Unspeakable) as seen,
        roastcoffea.MetricsCollector() as collector,
    ):
        raise raised
    assert seen.value is raised
    assert collector.get_metrics()["partial"] is True
    assert "Unspeakable" in str(collector)


def test_exception_whose_text_exits_leaves_nothing():
    class Exiting(Exception):
        def __str__(self):
            raise SystemExit(3)

    with pytest.raises(SystemExit), roastcoffea.MetricsCollector() as collector:
        raise Exiting
    assert collector.t_end is not None  # the rest is the fixture's to see


def test_secret_in_an_exception_is_not_shown():
    url = "root://me:hunter2@host//f.root?authz=s3cr3t"
    with (
        pytest.raises(OSError, match="hunter2"),
        roastcoffea.MetricsCollector() as collector,
    ):
        raise OSError(f"cannot open {url}")
    assert "host" in str(collector)
    assert "hunter2" not in str(collector)
    assert "s3cr3t" not in str(collector)


@pytest.mark.parametrize("length", [360, 370, 380, 390])
def test_secret_that_is_cut_is_not_shown(length):
    """Without its host it would look like no secret."""
    with (
        pytest.raises(OSError, match="hunter2"),
        roastcoffea.MetricsCollector() as collector,
    ):
        raise OSError(f"first\n{'x' * length} root://me:hunter2hunter2@host//f.root")
    assert "first xxx" in str(collector)
    assert "hunter" not in str(collector)


# ---- coffea's own ways to say that something failed --------------------------------


def result_runner(executor, **options):
    options = {"use_result_type": True, "skipbadfiles": (Exception,)} | options
    return make_runner(executor, savemetrics=True, **options)


@pytest.mark.parametrize("executor", [iterative, threads])
def test_ok_of_a_run_is_passed_on_with_its_records(executor, tiny_file):
    runner = result_runner(executor())
    with roastcoffea.MetricsCollector() as collector:
        result = runner(fileset_of(tiny_file), Measured())
    assert isinstance(result, Ok)
    output, report = result.unwrap()
    collector.set_coffea_report(result)
    assert starts(output[KEY]) == [0, 1000, 2000]
    metrics = collector.get_metrics()
    assert metrics["partial"] is False
    assert metrics["total_bytes_read"] == report["bytesread"]


@pytest.mark.parametrize("executor", [iterative, threads])
def test_err_of_a_run_is_passed_on_and_marks_it_partial(executor, tiny_file):
    runner = result_runner(executor(retries=1))
    with roastcoffea.MetricsCollector() as collector:
        result = runner(fileset_of(tiny_file), MeasuredFailing(ValueError("mine")))
    assert isinstance(result, Err)
    assert "mine" in str(result.exception)
    collector.set_coffea_report(result)
    metrics = collector.get_metrics()
    assert metrics["partial"] is True
    assert metrics["runner_failures"] == 1
    assert metrics["num_failed_attempts"] == 2
    assert "\n  ValueError" in str(collector)


def one_by_one() -> Any:
    """An executor that recovers all but what failed."""
    pool = OneByOne(concurrent.futures.ThreadPoolExecutor(1))
    return processes(pool, recoverable=True, retries=0)


def test_err_with_a_part_of_the_output_has_its_records(tiny_file):
    runner = result_runner(one_by_one())
    with roastcoffea.MetricsCollector() as collector:
        result = runner(fileset_of(tiny_file), MeasuredFailing(ValueError("mine")))
    assert isinstance(result, Err)
    output, report = result.value
    metrics = collector.get_metrics()
    assert starts(output.get(KEY, ())) == starts(
        r for r in collector.chunk_metrics if r["status"] == "ok"
    )
    assert metrics["partial"] is True
    assert metrics["total_events"] == report["entries"] == output["n"]


def test_recoverable_executor_raises_with_what_it_has(tiny_file):
    runner = make_runner(one_by_one())
    with (
        pytest.raises(Exception, match="mine") as seen,
        roastcoffea.MetricsCollector() as collector,
    ):
        runner(fileset_of(tiny_file), MeasuredFailing(ValueError("mine")))
    assert set(seen.value.partial_output) == {"n"}
    metrics = collector.get_metrics()
    assert metrics["partial"] is True
    assert metrics["num_failed_chunks"] == 1


class FailingInOne(Plain):
    """Chunks of the dataset `bad` fail."""

    def process(self, events):
        if events.metadata["dataset"] == "bad":
            raise ValueError("mine")
        return super().process(events)


def files_to_run_again(collector):
    return {
        f for entry in collector.run.failed_fileset().values() for f in entry["files"]
    }


def good_and_bad(good, folder):
    bad = str(shutil.copy(good, folder / "bad.root"))
    return bad, fileset_of(good) | {"bad": {"files": {bad: "Events"}}}


def test_only_what_a_partial_output_lacks_is_run_again(tiny_file, tmp_path):
    bad, fileset = good_and_bad(tiny_file, tmp_path)
    with roastcoffea.MetricsCollector() as collector:
        result = result_runner(one_by_one())(fileset, FailingInOne())
    items = collector.run.failed_items()
    assert result.value[0]["n"] + sum(map(len, items)) == 2 * EVENTS
    assert {bad} <= {item.filename for item in items}


def test_all_is_run_again_without_an_output(tiny_file, tmp_path):
    bad, fileset = good_and_bad(tiny_file, tmp_path)
    with roastcoffea.MetricsCollector() as collector:
        result = result_runner(iterative(retries=0))(fileset, FailingInOne())
    assert isinstance(result, Err)
    assert result.value is None
    assert files_to_run_again(collector) == {bad, str(tiny_file)}
    with (
        pytest.raises(Exception, match="mine"),
        roastcoffea.MetricsCollector() as collector,
    ):
        make_runner(one_by_one())(fileset, FailingInOne())
    assert files_to_run_again(collector) == {bad, str(tiny_file)}
