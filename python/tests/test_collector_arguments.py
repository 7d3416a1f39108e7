# SPDX-License-Identifier: BSD-3-Clause
"""What a collector is made of, and what it says when it was not entered."""

from __future__ import annotations

import inspect
import json
import threading

import pytest
from coffea import processor

import roastcoffea
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Measured,
    Plain,
    fileset_of,
    iterative,
    make_runner,
)
from roastcoffea import MetricsCollector
from roastcoffea.backends.base import AbstractMetricsBackend

GIVEN = {
    "executor": lambda runner: runner.executor,
    "runner": lambda runner: runner,
    "pre_executor": lambda runner: runner.pre_executor,
    "None": lambda runner: None,
    "another executor": lambda runner: iterative(),
}


def run(collector, tiny_file, analysis=None, **options):
    with collector:
        runner = make_runner(**options)
        runner(fileset_of(tiny_file), processor_instance=analysis or Plain())
    return collector.get_metrics()


# ---- who it is for -----------------------------------------------------------------


@pytest.mark.parametrize("given", GIVEN)
def test_run_in_the_block_is_seen_whatever_was_given(given, tiny_file):
    runner = make_runner(pre_executor=iterative())
    with MetricsCollector(GIVEN[given](runner)) as collector:
        runner(fileset_of(tiny_file), processor_instance=Plain())
    assert collector.get_metrics()["total_events"] == EVENTS


def test_first_parameter_is_named_client(tiny_file):
    assert next(iter(inspect.signature(MetricsCollector).parameters)) == "client"
    runner = make_runner()
    with MetricsCollector(client=runner.executor) as collector:
        runner(fileset_of(tiny_file), processor_instance=Plain())
    assert collector.get_metrics()["total_events"] == EVENTS


@pytest.mark.parametrize("given", ["executor", "runner"])
def test_run_of_a_given_object_is_taken_from_another_thread(given, tiny_file):
    runner = make_runner()
    arguments = (fileset_of(tiny_file), Measured())
    with MetricsCollector(GIVEN[given](runner)) as collector:
        thread = threading.Thread(target=runner, args=arguments)
        thread.start()
        thread.join()
    assert collector.get_metrics()["total_events"] == EVENTS
    assert len(collector.chunk_metrics) == CHUNKS


def test_given_nothing_another_thread_is_not_taken(tiny_file):
    arguments = (fileset_of(tiny_file), Measured())
    with MetricsCollector(None) as collector:
        thread = threading.Thread(target=make_runner(), args=arguments)
        thread.start()
        thread.join()
    assert collector.chunk_metrics == []
    assert "runner_calls" not in collector.get_metrics()


def test_processor_instance_need_not_be_the_one_that_runs(tiny_file):
    other, analysis = Measured(), Measured()
    collector = MetricsCollector(None, processor_instance=other)
    assert run(collector, tiny_file, analysis)["num_chunks_processed"] == CHUNKS
    assert len(analysis._chunk_metrics) == CHUNKS
    assert vars(other) == {}


# ---- positions, as in the documents and as in 0.1.2 --------------------------------


def test_second_position_is_the_output_directory(tiny_file, tmp_path):
    collector = MetricsCollector(None, tmp_path / "out")
    run(collector, tiny_file)
    (written,) = (tmp_path / "out").iterdir()
    assert collector.measurement_path == written
    stored = json.loads((written / "metrics.json").read_text())
    assert stored["total_events"] == EVENTS


def test_measurement_of_output_dir_has_the_given_name(tiny_file, tmp_path):
    with roastcoffea.monitor(tmp_path, measurement_name="mine") as collector:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    metrics, t_start, t_end = roastcoffea.load_measurement(tmp_path / "mine")
    assert metrics["total_events"] == EVENTS
    assert (t_start, t_end) == (collector.t_start, collector.t_end)


@pytest.mark.parametrize("name", ["dask", "local"])
def test_backend_name_in_second_position_is_the_backend(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    collector = MetricsCollector(None, name)
    with collector:
        pass
    assert collector.output_dir is None
    assert list(tmp_path.iterdir()) == []


def test_positions_of_the_earlier_package_are_accepted():
    analysis = Plain()
    collector = MetricsCollector(None, "dask", False, 2.5, analysis)
    assert collector.track_workers is False
    assert collector.worker_tracking_interval == 2.5
    assert collector.processor_instance is analysis


def test_unwritable_output_dir_costs_a_warning_only(tiny_file, tmp_path):
    (tmp_path / "file").write_text("in the way")
    collector = MetricsCollector(None, tmp_path / "file")
    with pytest.warns(UserWarning, match="could not write"):
        metrics = run(collector, tiny_file)
    assert metrics["total_events"] == EVENTS
    assert "output_dir" in metrics["monitor_first_error"]


def test_warning_turned_into_an_error_does_not_mask_the_users(tmp_path):
    """As `python -W error` would."""
    (tmp_path / "file").write_text("in the way")
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with (
            pytest.raises(KeyError, match="mine"),
            roastcoffea.monitor(tmp_path / "file"),
        ):
            raise KeyError("mine")


# ---- what is refused ---------------------------------------------------------------


@pytest.mark.parametrize("bad", ["zzz", "", "Dask"])
def test_unknown_backend_is_named(bad):
    with pytest.raises(ValueError, match=f"^Unsupported backend: {bad}"):
        MetricsCollector(None, backend=bad)


@pytest.mark.parametrize("bad", [7, object(), AbstractMetricsBackend, dict])
def test_something_that_is_no_backend_is_refused(bad):
    with pytest.raises(ValueError, match=r"^Unsupported backend: "):
        MetricsCollector(None, backend=bad)


@pytest.mark.parametrize("bad", [0, -1, 0.0, float("nan"), float("-inf")])
def test_interval_must_be_positive(bad):
    with pytest.raises(ValueError, match="worker_tracking_interval"):
        MetricsCollector(None, worker_tracking_interval=bad)


def test_interval_that_is_no_number_is_refused():
    with pytest.raises((TypeError, ValueError)):
        MetricsCollector(None, worker_tracking_interval="often")


def test_entering_twice_at_once_is_refused(tiny_file):
    collector = MetricsCollector(None)
    with collector:
        with pytest.raises(RuntimeError, match="collecting already"), collector:
            pass
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    assert collector.get_metrics()["total_events"] == EVENTS


# ---- before the block --------------------------------------------------------------


@pytest.mark.parametrize("method", ["get_metrics", "print_summary"])
def test_results_before_the_block_are_refused(method):
    with pytest.raises(RuntimeError, match=r"^Timing not available"):
        getattr(MetricsCollector(None), method)()


def test_saving_before_the_block_or_in_it_is_refused(tmp_path):
    collector = MetricsCollector(None)
    text = r"^Cannot save measurement before context manager completes"
    with pytest.raises(RuntimeError, match=text):
        collector.save_measurement(tmp_path)
    with collector, pytest.raises(RuntimeError, match=text):
        collector.save_measurement(tmp_path)
    assert collector.save_measurement(tmp_path, "after").is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["after"]


def test_attributes_before_the_block_are_empty():
    collector = MetricsCollector(None)
    assert collector.t_start is collector.t_end is collector.tracking_data is None
    assert collector.chunk_metrics == []
    assert "MetricsCollector" in collector._repr_html_()
    assert "MetricsCollector" in str(collector)


def test_output_refused_before_the_block_keeps_its_records():
    output = {"__roastcoffea_metrics__": [{"num_events": 1}]}
    with pytest.raises(RuntimeError, match=r"^Timing not available"):
        MetricsCollector(None).extract_metrics_from_output(output)
    assert output == {"__roastcoffea_metrics__": [{"num_events": 1}]}


# ---- what the page says of it ------------------------------------------------------


@pytest.mark.parametrize("labels", ["site=T2", ["site"], [("site", "T2")], 3])
def test_labels_that_are_no_mapping_are_refused(labels):
    with pytest.raises(TypeError, match="labels must be a mapping of names to texts"):
        roastcoffea.monitor(labels=labels)


def test_a_label_whose_name_is_too_long_is_refused_before_anything_runs():
    roastcoffea.monitor(labels={"é" * 128: "x"})
    text = r"the label 'é{20}'\.\.\. has a name of 257 bytes, at most 256: put"
    with pytest.raises(ValueError, match=text):
        roastcoffea.monitor(labels={"site": "UNL", "é" * 128 + "a": "x"})


def test_a_label_that_comes_too_late_to_be_refused_is_counted():
    class Unprintable:
        def __str__(self):
            raise RuntimeError("no name")

    collector = roastcoffea.monitor(labels={Unprintable(): "x", "site": "UNL"})
    collector.labels["a" * 257] = "x"
    collector.labels["b"] = "y"
    with collector:
        pass
    metrics = collector.get_metrics()
    assert metrics["labels"] == {"site": "UNL", "b": "y"}
    assert metrics["monitor_errors"] == 2
    assert "labels" in metrics["monitor_first_error"]


def test_labels_are_kept(tiny_file, capsys):
    with roastcoffea.monitor(labels={"site": "UNL"}) as collector:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    assert collector.get_metrics()["labels"] == {"site": "UNL"}
    collector.print_summary()
    assert "site=UNL" in capsys.readouterr().out


def test_executor_is_named_on_the_page(tiny_file):
    executor = processor.IterativeExecutor(status=False)
    with MetricsCollector(executor) as collector:
        make_runner(executor)(fileset_of(tiny_file), processor_instance=Plain())
    assert "Iterative, 1 worker" in str(collector)
