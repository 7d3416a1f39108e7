# SPDX-License-Identifier: BSD-3-Clause
"""What is measured against what others say: the kernel's accounts, coffea's report, and
sums that must come out."""

from __future__ import annotations

import datetime
import os
import resource
import time
from pathlib import Path

import pytest
from coffea import processor

import roastcoffea
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Measured,
    fileset_of,
    iterative,
    make_runner,
    open_pool,
    processes,
    threads,
)
from roastcoffea import track_metrics

pool = pytest.fixture(scope="module", name="pool")(open_pool)
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
DEADLINE_S = 60
INTERVAL_S = 0.05  # a worker that is busy for Busy.seconds is seen many times


class Busy(Measured):
    """Uses a known amount of CPU time per chunk, beside what Measured does."""

    seconds = 0.4

    @track_metrics
    def process(self, events):
        until = time.thread_time() + self.seconds
        while time.thread_time() < until:
            pass
        return Measured.process(self, events)


def used_s(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def living_s():
    """CPU of the processes below this one that are still there, and of those that they
    have waited for; in ticks of the kernel."""
    rows = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # gone meanwhile
            continue
        rows[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    below, found = {os.getpid()}, 0
    while found != len(below):
        found = len(below)
        below |= {pid for pid, (parent, _) in rows.items() if parent in below}
    return sum(rows[pid][1] for pid in below - {os.getpid()}) * TICK_S


def used_here_s():
    """CPU of this process and of all below it, by the kernel's accounts."""
    done_s = used_s(resource.RUSAGE_SELF) + used_s(resource.RUSAGE_CHILDREN)
    return done_s + living_s()


def network_bytes():
    """(received, sent) of this network namespace, as the kernel has them."""
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    rows = [line.split() for line in lines if not line.strip().startswith("lo:")]
    return [sum(int(row[at]) for row in rows) for at in (1, 9)]


class Block:
    """A run in a block; what the kernel and coffea say of it."""

    def __init__(self, executor, path, analysis=None, **options):
        self.runner = make_runner(executor, savemetrics=True)
        files = fileset_of(path)
        before_s, begin_s = used_here_s(), time.monotonic()
        before_bytes = network_bytes()
        with roastcoffea.monitor(**options) as self.collector:
            entered_s = time.monotonic()
            _, self.report = self.runner(files, analysis or Measured())
            left_s = time.monotonic()
        self.kernel_cpu_s = used_here_s() - before_s
        self.wall_s = (left_s - entered_s, time.monotonic() - begin_s)
        self.left_at_s = time.time()
        pairs = zip(before_bytes, network_bytes(), strict=True)
        self.network_bytes = [after - before for before, after in pairs]
        self.metrics = self.collector.get_metrics()


@pytest.fixture(scope="module", params=["iterative", "threads", "processes"])
def busy(request, tiny_file):
    """Long enough that one per cent of it is visible."""
    executor = {
        "iterative": iterative,
        "threads": threads,
        "processes": lambda: processor.FuturesExecutor(workers=2, status=False),
    }[request.param]()
    return Block(executor, tiny_file, Busy(), worker_tracking_interval=INTERVAL_S)


def test_cpu_of_the_process_tree_is_that_of_the_kernel(busy):
    measured_s = busy.metrics["tree_cpu_seconds"]
    assert measured_s == pytest.approx(busy.kernel_cpu_s, rel=0.03)
    assert measured_s >= CHUNKS * Busy.seconds


def test_cpu_of_the_chunks_is_that_of_their_threads(busy):
    used = [record["cpu_time"] for record in busy.collector.chunk_metrics]
    assert min(used) >= Busy.seconds
    assert busy.metrics["cpu_seconds"] == pytest.approx(sum(used))
    assert busy.metrics["cpu_seconds"] <= busy.metrics["tree_cpu_seconds"]


def test_counters_of_the_machine_are_those_of_the_kernel(busy):
    metrics = busy.metrics
    received, sent = busy.network_bytes
    assert 0 <= metrics["network_received_bytes"] <= received
    assert 0 <= metrics["network_sent_bytes"] <= sent
    assert metrics.get("oom_kills", 0) == 0
    for what in ("cpu", "memory", "io"):
        name = f"{what}_pressure_seconds"
        if os.path.exists(f"/proc/pressure/{what}"):
            assert 0 <= metrics[name] <= busy.wall_s[1] + 1
        else:
            assert metrics["unavailable"][name]


def test_busy_workers_are_sampled(busy):
    pids = {f"pid-{record['pid']}" for record in busy.collector.chunk_metrics}
    assert pids <= set(busy.collector.tracking_data["worker_memory"])


def test_wall_time_is_that_of_the_block(busy):
    inside_s, around_s = busy.wall_s
    assert inside_s <= busy.metrics["wall_time"] <= around_s


def test_wall_account_adds_up_to_the_wall_time(busy):
    account = busy.metrics["wall_account"]
    names = {"wait_first_worker", "client", "preprocess", "chunks", "tail", "merge"}
    names |= {"pool_start", "pool_stop", "postprocess", "monitor"}
    assert set(account) == names
    assert min(account.values()) >= 0
    assert sum(account.values()) == pytest.approx(busy.metrics["wall_time"], abs=1e-6)
    assert account["chunks"] + account["tail"] >= Busy.seconds


def test_events_bytes_and_times_are_those_of_the_report(busy):
    metrics, report = busy.metrics, busy.report
    assert metrics["total_events"] == report["entries"] == EVENTS
    assert metrics["total_events_from_chunks"] == EVENTS
    assert metrics["total_bytes_read"] == report["bytesread"]
    assert metrics["total_cpu_time"] == report["processtime"]
    assert metrics["num_chunks"] == report["chunks"]


def test_own_clocks_agree_with_coffeas(busy):
    """coffea's interval is around ours, the attempt's around coffea's."""
    inside_s = sum(record["duration"] for record in busy.collector.chunk_metrics)
    assert inside_s <= busy.report["processtime"] <= busy.metrics["task_seconds"]


def test_formulas_hold_between_published_values(busy):
    metrics = busy.metrics
    wall_s = metrics["wall_time"]
    assert metrics["event_rate_wall_khz"] == pytest.approx(EVENTS / wall_s / 1e3)
    rate = 8 * metrics["total_bytes_read"] / wall_s / 1e9
    assert metrics["data_rate_gbps"] == pytest.approx(rate)
    assert metrics["speedup"] == pytest.approx(metrics["total_cpu_time"] / wall_s)
    offered_s = metrics["offered_thread_seconds"]
    assert offered_s == pytest.approx(metrics["total_cores"] * wall_s)


# ---- bytes without a report --------------------------------------------------------


@pytest.mark.parametrize("executor", [iterative, threads])
def test_bytes_of_the_records_are_those_coffea_would_report(executor, tiny_file):
    files = fileset_of(tiny_file)
    _, report = make_runner(executor(), savemetrics=True)(files, Measured())
    with roastcoffea.monitor() as collector:
        make_runner(executor())(files, processor_instance=Measured())
    assert collector.get_metrics()["total_bytes_read"] == report["bytesread"]


# ---- workers -----------------------------------------------------------------------


def test_workers_are_those_of_the_executor(pool, tiny_file):
    single = processor.FuturesExecutor(
        pool=threads().pool, workers=1, status=False, retries=0
    )
    for executor, workers in (
        (iterative(), 1),
        (single, 1),
        (threads(), 2),
        (processes(pool), 2),
    ):
        metrics = Block(executor, tiny_file).metrics
        assert metrics["peak_workers"] == workers
        assert metrics["avg_workers"] == metrics["total_cores"] == workers
        assert metrics["cores_per_worker"] == 1


def test_pool_that_is_there_already_counts_with_its_own_size(pool, tiny_file):
    executor = processor.FuturesExecutor(pool=pool, workers=7, status=False)
    assert Block(executor, tiny_file).metrics["peak_workers"] == 2


def test_cpu_of_a_pool_that_lives_on_is_counted(pool, tiny_file):
    """Its processes were there before the block and are there after it."""
    Block(processes(pool), tiny_file)  # imports what chunks need
    block = Block(processes(pool), tiny_file, Busy())
    assert block.metrics["tree_cpu_seconds"] == pytest.approx(
        block.kernel_cpu_s, rel=0.03, abs=4 * TICK_S
    )
    workers = {record["pid"] for record in block.collector.chunk_metrics}
    assert workers <= set(pool._processes)


# ---- samples -----------------------------------------------------------------------


def test_long_interval_gives_a_sample_at_either_end(tiny_file):
    block = Block(iterative(), tiny_file, worker_tracking_interval=3600)
    counts = block.collector.tracking_data["worker_counts"]
    assert 2 <= len(counts) <= 4  # and at the begin and end of the run
    assert set(counts.values()) == {1}
    assert len(samples_of_this_process(block.collector)) == 2


def samples_of_this_process(collector):
    memory = collector.tracking_data.get("worker_memory", {})
    return memory.get(f"pid-{os.getpid()}", [])


@pytest.mark.parametrize("interval_s", [0.02, 0.1])
def test_samples_come_at_the_interval(interval_s):
    wanted = 8
    deadline = time.monotonic() + DEADLINE_S
    with roastcoffea.monitor(worker_tracking_interval=interval_s) as collector:
        while len(samples_of_this_process(collector)) < wanted:
            assert time.monotonic() < deadline
            time.sleep(interval_s / 4)
    at_most = collector.get_metrics()["wall_time"] / interval_s + 2
    assert wanted <= len(samples_of_this_process(collector)) <= at_most


def test_tracking_data_has_the_documented_shape(busy):
    tracking = busy.collector.tracking_data
    begin = busy.collector.t_start
    for moment, count in tracking["worker_counts"].items():
        assert moment.tzinfo is datetime.UTC
        assert type(count) is int
        assert count == busy.metrics["peak_workers"]
    documented = {
        "worker_memory",
        "worker_cores",
        "worker_cpu",
        "worker_active_tasks",
        "worker_executing",
        "worker_last_seen",
        "worker_disk_read_bps",
        "worker_disk_write_bps",
    }
    assert documented <= set(tracking)
    for series in set(tracking) - {"worker_counts"}:
        for points in tracking[series].values():
            moments = [moment for moment, _ in points]
            assert moments == sorted(moments)
            assert {moment.tzinfo for moment in moments} == {datetime.UTC}
            assert begin <= moments[0].timestamp() + 1e-6
            assert moments[-1].timestamp() <= busy.left_at_s + 1e-6
            assert all(isinstance(value, (int, float)) for _, value in points)


def test_workers_that_are_not_tracked_leave_the_rest(tiny_file):
    block = Block(iterative(), tiny_file, track_workers=False)
    assert block.collector.tracking_data is None
    metrics = block.metrics
    assert metrics["total_events"] == EVENTS
    assert metrics["peak_workers"] == 1
    for name in ("avg_memory_per_worker_bytes", "tree_cpu_seconds", "oom_kills"):
        assert name not in metrics
        assert metrics["unavailable"][name]
    assert metrics["peak_memory_bytes"] == metrics["chunk_mem_peak_max_mb"] * 2**20
