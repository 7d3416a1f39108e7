# SPDX-License-Identifier: BSD-3-Clause
"""Nothing that goes wrong at the edges of a block reaches the user or stays behind:
parts that cannot start, Ctrl-C at the end, texts that cannot be written."""

from __future__ import annotations

import threading

import pytest
from coffea.processor import Runner

import roastcoffea
from collector_helpers import (
    CHUNKS,
    FLAG,
    Failing,
    Measured,
    Plain,
    fileset_of,
    make_runner,
)
from roastcoffea import MetricsCollector
from roastcoffea.progress import LiveLine

UNWRITABLE = ["\udcff lone", "a\0b", "two\nlines"]


class Mine(Exception):
    """An exception of the user's."""


class NoDict:
    """A processor whose attributes cannot be read."""

    def __getattribute__(self, name):
        if name == "__dict__":
            raise RuntimeError("mine")
        return object.__getattribute__(self, name)


def test_line_that_cannot_start_costs_the_line_only(tiny_file, monkeypatch):
    start = threading.Thread.start

    def failing(self):
        if self.name == "roastcoffea-line":
            raise RuntimeError("can't start new thread")
        start(self)

    before = Runner.run
    monkeypatch.setattr(threading.Thread, "start", failing)
    with roastcoffea.monitor(progress=True) as collector:
        output = make_runner()(fileset_of(tiny_file), Plain())
    assert output["n"]
    assert Runner.run is before
    metrics = collector.get_metrics()
    assert metrics["monitor_first_error"].startswith("live line: ")
    assert metrics["partial"] is False


def test_processor_that_cannot_be_switched_on_is_reported():
    before = Runner.run
    with MetricsCollector(None, processor_instance=NoDict()) as collector:
        pass
    assert Runner.run is before
    assert "mine" in collector.get_metrics()["monitor_first_error"]


def test_interrupt_while_the_block_ends_leaves_it_ended(monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    before, analysis = Runner.run, Plain()
    monkeypatch.setattr(LiveLine, "stop", interrupted)
    collector = MetricsCollector(None, progress=True, processor_instance=analysis)
    with pytest.raises(KeyboardInterrupt), collector:
        pass
    collector._line._stop.set()
    collector._line._thread.join()
    assert Runner.run is before
    assert FLAG not in vars(analysis)
    assert collector.t_end is not None


@pytest.mark.parametrize("text", UNWRITABLE)
def test_text_of_an_exception_that_cannot_be_written_passes(text, tiny_file):
    error = Mine(text)
    with pytest.raises(Mine) as raised, roastcoffea.monitor() as body:
        raise error
    assert raised.value is error
    with pytest.raises(Exception, match="Mine"), roastcoffea.monitor() as run:
        make_runner()(fileset_of(tiny_file), Failing(error))
    for collector in (body, run):
        assert collector.t_end is not None
        assert "Mine" in str(collector)
        assert "Mine" in collector._repr_html_()


@pytest.mark.parametrize("text", UNWRITABLE)
def test_label_that_cannot_be_written_is_shown_as_far_as_it_can(text, tmp_path):
    with roastcoffea.monitor(tmp_path, labels={"site": text, text: "x"}) as collector:
        pass
    assert "site=" in str(collector)
    assert set(collector.get_metrics()["labels"]) > {"site"}
    assert collector.measurement_path is not None


def test_secret_in_a_label_or_an_error_of_a_backend_is_not_shown():
    class Backend:
        def start_tracking(self, interval):
            raise OSError("https://me:hidden@host/?token=hidden password=hidden")

        def stop_tracking(self):
            return {}

        def create_span(self, name): ...

        def get_span_metrics(self, span): ...

        def supports_fine_metrics(self):
            return False

    labels = {"url": "https://me:hidden@host/?token=hidden", "site": "T2"}
    with MetricsCollector(None, backend=Backend(), labels=labels) as collector:
        pass
    assert "hidden" not in collector.get_metrics()["monitor_first_error"]
    for page in (str(collector), collector.run._page("text"), collector._repr_html_()):
        assert "hidden" not in page
        assert "site=T2" in page


def test_attribute_of_the_users_under_our_name_is_there_during_the_run(tiny_file):
    class Keeping(Plain):
        def __init__(self):
            self._chunk_metrics = []

        def process(self, events):
            self._chunk_metrics.append(len(events))
            return Plain.process(self, events)

    analysis = Keeping()
    with roastcoffea.monitor():
        make_runner(processor_compression=None)(fileset_of(tiny_file), analysis)
    assert len(analysis._chunk_metrics) == CHUNKS


def test_metrics_before_the_first_block_are_none():
    assert MetricsCollector(None).metrics is None


def test_own_dicts_recorded_one_by_one_count_once(tiny_file):
    with roastcoffea.monitor() as first:
        make_runner()(fileset_of(tiny_file), Measured())
    with roastcoffea.monitor() as second:
        make_runner()(fileset_of(tiny_file), Measured())
        for record in [*second.chunk_metrics, *first.chunk_metrics] * 2:
            second.record_chunk_metrics(record)
        make_runner()(fileset_of(tiny_file), Measured())
        for record in second.chunk_metrics:
            second.record_chunk_metrics(record)
    assert len(second.chunk_metrics) == 3 * CHUNKS
