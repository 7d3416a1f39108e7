# SPDX-License-Identifier: BSD-3-Clause
"""One collector in several blocks, several collectors at once: every run keeps what is
its own, and none sees those of another."""

from __future__ import annotations

import threading

import pytest

import roastcoffea
from collector_helpers import (
    CHUNKS,
    EVENTS,
    FLAG,
    Measured,
    Plain,
    Surroundings,
    fileset_of,
    iterative,
    make_runner,
    starts,
    threads,
)
from roastcoffea import MetricsCollector, track_metrics
from support import KEY


class Waiting(Plain):
    """Meets the other run in its first chunk, so that both are surely in the middle."""

    barrier = threading.Barrier(2, timeout=60)

    @track_metrics
    def process(self, events):
        if events.metadata["entrystart"] == 0:
            self.barrier.wait()
        return Plain.process(self, events)


def run_once(collector, tiny_file, **options):
    with collector:
        runner = make_runner(savemetrics=True, **options)
        return runner(fileset_of(tiny_file), processor_instance=Measured())


# ---- one collector, several blocks -------------------------------------------------


def test_second_block_starts_anew_and_the_first_run_stays_whole(tiny_file):
    collector = MetricsCollector(None, labels={"site": "UNL"})
    run_once(collector, tiny_file)
    first = collector.run
    records, metrics = list(first.chunk_metrics), dict(first.metrics)
    run_once(collector, tiny_file, chunksize=1500)
    assert collector.run is not first
    assert starts(collector.chunk_metrics) == [0, 1500]
    assert collector.get_metrics()["total_events"] == EVENTS
    assert first.chunk_metrics == records
    assert dict(first.metrics) == metrics
    assert first.metrics["num_chunks"] == CHUNKS
    assert first.t_end <= collector.t_start
    assert first.labels == collector.run.labels == {"site": "UNL"}


def test_second_block_does_not_get_the_first_ones_report(tiny_file):
    collector = MetricsCollector(None)
    run_once(collector, tiny_file)
    with collector:
        pass
    assert "total_events" not in collector.get_metrics()
    assert collector.chunk_metrics == []
    assert collector.section_metrics == []


def test_output_of_the_first_block_can_be_passed_to_the_second_run(tiny_file):
    collector = MetricsCollector(None)
    output, _ = run_once(collector, tiny_file)
    with collector:
        collector.extract_metrics_from_output(output)
    assert len(collector.chunk_metrics) == CHUNKS


def test_first_run_can_be_saved_after_the_second(tiny_file, tmp_path):
    collector = MetricsCollector(None)
    run_once(collector, tiny_file)
    first = collector.run
    run_once(collector, tiny_file, chunksize=1500)
    first.save_measurement(tmp_path, "first")
    collector.save_measurement(tmp_path, "second")
    stored = [
        roastcoffea.load_measurement(tmp_path / n)[0] for n in ("first", "second")
    ]
    assert [metrics["num_chunks"] for metrics in stored] == [3, 2]


def test_block_after_one_that_raised_is_clean(tiny_file):
    collector = MetricsCollector(None)
    with pytest.raises(KeyError), collector:
        raise KeyError("mine")
    assert collector.get_metrics()["partial"] is True
    run_once(collector, tiny_file)
    assert collector.get_metrics()["partial"] is False
    assert collector.get_metrics()["total_events"] == EVENTS


def test_processor_on_its_second_run_has_the_records_of_that_run(tiny_file):
    analysis = Measured()
    with roastcoffea.MetricsCollector():
        make_runner()(fileset_of(tiny_file), analysis)
        make_runner(chunksize=1500)(fileset_of(tiny_file), analysis)
    assert starts(analysis._chunk_metrics) == [0, 1500]


# ---- collectors inside one another -------------------------------------------------


@pytest.mark.parametrize("executor", [iterative, threads])
def test_nested_collectors_see_the_same_chunks_once_each(executor, tiny_file):
    analysis = Measured()
    runner = make_runner(executor(retries=0))
    with MetricsCollector(None) as outer, MetricsCollector(runner.executor) as inner:
        output = runner(fileset_of(tiny_file), processor_instance=analysis)
    assert starts(output[KEY]) == starts(analysis._chunk_metrics) == [0, 1000, 2000]
    for collector in (outer, inner):
        assert starts(collector.chunk_metrics) == [0, 1000, 2000]
        assert collector.get_metrics()["total_events"] == EVENTS
        assert collector.get_metrics()["losses"] == {}


def test_outer_collector_sees_what_the_inner_one_missed(tiny_file):
    with roastcoffea.MetricsCollector() as outer:
        make_runner()(fileset_of(tiny_file), Measured())
        with roastcoffea.MetricsCollector() as inner:
            make_runner(chunksize=1500)(fileset_of(tiny_file), Measured())
        make_runner()(fileset_of(tiny_file), Measured())
    assert starts(inner.chunk_metrics) == [0, 1500]
    assert len(outer.chunk_metrics) == 2 * CHUNKS + 2
    assert outer.get_metrics()["runner_calls"] == 3
    assert inner.get_metrics()["runner_calls"] == 1


def test_collectors_may_leave_in_another_order_than_they_came(tiny_file):
    first, second = roastcoffea.MetricsCollector(), roastcoffea.monitor()
    runner, analysis = make_runner(), Measured()
    around = Surroundings(runner, analysis)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    runner(fileset_of(tiny_file), processor_instance=analysis)
    second.__exit__(None, None, None)
    assert first.chunk_metrics == []
    assert len(second.chunk_metrics) == CHUNKS
    around.check()


def test_collectors_of_two_executors_each_get_their_own(tiny_file):
    runners = [make_runner(), make_runner(chunksize=1500)]
    with (
        MetricsCollector(runners[0].executor) as first,
        MetricsCollector(runners[1].executor) as second,
    ):
        for runner in runners:
            runner(fileset_of(tiny_file), processor_instance=Measured())
    assert starts(first.chunk_metrics) == [0, 1000, 2000]
    assert starts(second.chunk_metrics) == [0, 1500]


# ---- threads -----------------------------------------------------------------------


def in_threads(*targets):
    """Runs them at the same time; their results, or the exception of one."""
    results = [None] * len(targets)

    def call(n):
        try:
            results[n] = targets[n]()
        except BaseException as error:
            results[n] = error

    workers = [threading.Thread(target=call, args=(n,)) for n in range(len(targets))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def measured_in_a_thread(tiny_file, runner, analysis):
    def target():
        with roastcoffea.MetricsCollector() as collector:
            output = runner(fileset_of(tiny_file), processor_instance=analysis)
        return collector, output

    return target


@pytest.mark.parametrize("shared", ["nothing", "runner", "processor", "both"])
def test_collectors_in_two_threads_do_not_mix(shared, tiny_file):
    runner, analysis = make_runner(), Waiting()
    around = Surroundings(runner, analysis)
    runners = [runner, runner if shared in ("runner", "both") else make_runner()]
    analyses = [analysis, analysis if shared in ("processor", "both") else Waiting()]
    found = in_threads(
        *(
            measured_in_a_thread(tiny_file, *pair)
            for pair in zip(runners, analyses, strict=True)
        )
    )
    around.check()
    for collector, output in found:
        assert starts(collector.chunk_metrics) == [0, 1000, 2000]
        assert starts(output[KEY]) == [0, 1000, 2000]
        metrics = collector.get_metrics()
        assert metrics["num_attempts"] == CHUNKS
        assert metrics["total_events"] == EVENTS
        assert metrics["losses"] == {}
        assert metrics["monitor_first_error"] == ""
    ids = [{(r["process_id"], r["sequence"]) for r in out[KEY]} for _, out in found]
    assert not ids[0] & ids[1]


def test_many_threads_with_one_runner_and_one_processor(tiny_file):
    """Entries and exits come in any order."""
    runner, analysis = make_runner(), Measured()
    around = Surroundings(runner, analysis)
    target = measured_in_a_thread(tiny_file, runner, analysis)
    for collector, output in in_threads(*[target] * 8):
        assert starts(collector.chunk_metrics) == [0, 1000, 2000]
        assert starts(output[KEY]) == [0, 1000, 2000]
        assert collector.get_metrics()["monitor_first_error"] == ""
    around.check()


def test_run_outside_any_block_is_left_alone_by_another_threads_collector(tiny_file):
    def unmeasured():
        analysis = Waiting()
        output = make_runner()(fileset_of(tiny_file), processor_instance=analysis)
        return output, vars(analysis)

    measured = measured_in_a_thread(tiny_file, make_runner(), Waiting())
    (collector, _), (output, attributes) = in_threads(measured, unmeasured)
    assert starts(collector.chunk_metrics) == [0, 1000, 2000]
    assert KEY not in output
    assert attributes == {}
    assert FLAG not in attributes


def test_metrics_may_be_read_by_a_thread_while_the_run_goes_on(tiny_file):
    stop = threading.Event()
    seen = []

    def watch(collector):
        while not stop.is_set():
            seen.append(dict(collector.get_metrics())["partial"])
            str(collector)

    with roastcoffea.MetricsCollector(worker_tracking_interval=0.01) as collector:
        thread = threading.Thread(target=watch, args=(collector,))
        thread.start()
        try:
            make_runner(threads())(fileset_of(tiny_file), Measured())
            while not seen:
                pass
        finally:
            stop.set()
            thread.join()
    assert set(seen) == {True}
    assert collector.get_metrics()["partial"] is False
    assert len(collector.chunk_metrics) == CHUNKS
