# SPDX-License-Identifier: BSD-3-Clause
"""What a collector costs a whole run on Dask: the example analysis, with and without.

    python bench/dask_overhead.py [--pairs 30] [--most 120] [--samples DIR]

A LocalCluster of two workers in processes; the scheduler is in the client's. Two
answers. CPU seconds of all of them together, for whole blocks: from before the
collector is made until nothing of it is left on the cluster; with and without at the
same time on the same cores (together.py). And calls times the cost of one, from a run
in which they were counted (counted.py). An analysis of seconds is the worst case:
entering and leaving cost the same for one of hours.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from coffea.nanoevents import NanoAODSchema
from coffea.processor import DaskExecutor, Runner
from distributed import Client, LocalCluster

import report
from counted import Calls, counting
from roastcoffea import MetricsCollector
from roastcoffea.dask.scheduler_plugin import DEFAULT_LIMITS
from together import Ready, Together, stay_on

sys.path.append(str(Path(__file__).parents[1] / "examples"))

from make_samples import fileset, read_manifest, write_samples
from ttbar import TtbarProcessor

SAMPLES = Path(__file__).parents[1] / "build" / "samples"  # those of `make demo`
WORKERS = 2
CHUNKSIZE = 5_000  # as in the example
BLOCKS = 15
SHORTLY_S = 0.3  # by when everything has arrived
TAIL_S = DEFAULT_LIMITS["again_s"] + 1.0  # until the last of ours has gone
LINE = "{:10} {:24} {:>8} {:>12} {:>10} {:>9}"


def cpu_here() -> float:
    return time.process_time()


def clean_here() -> None:
    gc.collect()


class Cluster:
    """Two workers, and what they and this process have spent."""

    def __init__(self, samples: Path) -> None:
        self.local = LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=None
        )
        self.client = Client(self.local)
        self.files = fileset(samples, "physics")
        self.ready: Ready = lambda: None

    def pin(self) -> None:
        """Each worker on a core of its own, if there are as many."""
        cpus = sorted(os.sched_getaffinity(0))
        for number, worker in enumerate(sorted(self.local.scheduler.workers)):
            self.client.run(stay_on, cpus[number % len(cpus)], workers=[worker])

    def close(self) -> None:
        self.client.close()
        self.local.close()

    def analyse(self) -> dict[str, Any]:
        """The example; the events of each dataset, which must always be the same."""
        executor = DaskExecutor(client=self.client, status=False)
        runner = Runner(executor, schema=NanoAODSchema, chunksize=CHUNKSIZE)
        output = runner(self.files, TtbarProcessor())
        return {name: output[name] for name in self.files}

    def cpu_s(self, work: Callable[[], object], tail_s: float = TAIL_S) -> float:
        """CPU seconds of all processes; each meets its garbage in the same state."""
        self.client.run(clean_here)
        gc.collect()
        self.ready()
        before = self.client.run(cpu_here)
        start = time.process_time()
        work()
        time.sleep(tail_s)
        spent = time.process_time() - start
        after = self.client.run(cpu_here)
        if after.keys() != before.keys():
            raise RuntimeError("a worker has come or gone meanwhile")
        return spent + sum(after.values()) - sum(before.values())


class Both:
    """The analysis without a collector and in one, with the same result."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.expected = cluster.analyse()
        self.metrics: Mapping[str, Any] = {}

    def plain(self) -> float:
        return self.cluster.cpu_s(self._check)

    def armed(self) -> float:
        return self.cluster.cpu_s(self._collect)

    def counted(self) -> list[Calls]:
        """One run in which calls are counted; its own time is of no interest."""
        collector = MetricsCollector(self.cluster.client)
        with collector:
            scheduler = self.cluster.local.scheduler
            with counting(self.cluster.client, scheduler) as calls:
                self._check()
        self._keep(collector)
        return calls + own_words(collector)

    def _collect(self) -> None:
        collector = MetricsCollector(self.cluster.client)
        with collector:
            self._check()
        self._keep(collector)

    def _check(self) -> None:
        found = self.cluster.analyse()
        if found != self.expected:
            raise RuntimeError(f"{found} in place of {self.expected}")

    def _keep(self, collector: MetricsCollector) -> None:
        self.metrics = collector.get_metrics()
        errors = self.metrics["monitor_errors"]
        if errors or not self.metrics["num_successful_chunks"]:
            raise RuntimeError(f"nothing was measured, or with {errors} errors")


def serve(samples: Path, ready: Ready, end: Connection) -> None:
    """One of two clusters that are measured at the same time."""
    cluster = Cluster(samples)
    try:
        cluster.pin()
        both = Both(cluster)
        cluster.ready = ready
        for side in iter(end.recv, "close"):
            end.send(both.plain() if side == "plain" else both.armed())
    finally:
        cluster.close()


def own_words(collector: MetricsCollector) -> list[Calls]:
    """What the records of the chunks say of themselves."""
    records = collector.chunk_metrics
    hooks = sum(record["hook_calls"] for record in records)
    hooks_s = sum(record["hook_cost"] for record in records)
    readings_s = sum(record["monitor_time"] for record in records)
    return [
        Calls("workers", "hooks in chunks", hooks, hooks_s),
        Calls("workers", "readings (wall time)", len(records), readings_s),
    ]


def both_ends(both: Both) -> list[Calls]:
    """Entering and leaving, around a run; the idle cluster is taken off."""
    cpu_s = both.cluster.cpu_s
    entering, leaving = [], []
    for _ in range(BLOCKS):
        idle = cpu_s(lambda: None)
        idle_shortly = cpu_s(lambda: None, SHORTLY_S)
        collector = MetricsCollector(both.cluster.client)
        entering.append(cpu_s(collector.__enter__, SHORTLY_S) - idle_shortly)
        try:
            both.cluster.analyse()
        finally:
            leaving.append(cpu_s(partial(collector.__exit__, None, None, None)) - idle)
    ends = {"entering": entering, "leaving": leaving}
    return [
        Calls("all", what, 1, max(0.0, statistics.median(costs)))
        for what, costs in ends.items()
    ]


def print_calls(calls: list[Calls], cpu_time_s: float) -> None:
    def line(where: str, what: str, count: Any, each: str, total_s: float) -> None:
        share = f"{total_s / cpu_time_s * 100:.3f} %"
        print(LINE.format(where, what, count, each, f"{total_s * 1e3:.2f} ms", share))

    print(LINE.format("where", "what", "calls", "each", "all", "of run"))
    for row in calls:
        line(row.where, row.what, row.count, f"{row.each_us:.2f} us", row.cpu_s)
    line("", "calls x cost of one", "", "", sum(row.cpu_s for row in calls))


def print_pairs(figures: Mapping[str, float]) -> None:
    low, median, high = (1 + figures[key] / 100 for key in ("low", "median", "high"))
    print(
        f"CPU with / without: median {median:.4f}, 95 % within {low:.4f} and "
        f"{high:.4f}; {figures['pairs']} pairs of {figures['cpu_time']:.2f} s"
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--pairs", type=int, default=30, help="at least so many")
    add("--most", type=int, default=120, help="while they do not agree")
    add("--samples", type=Path, default=SAMPLES)
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    if read_manifest(options.samples) is None:
        write_samples(options.samples)
    machine = report.describe_machine()
    print(f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}")
    pairs = Together(serve, options.samples)
    try:
        pairs.take(options.pairs, max(options.pairs, options.most))
    finally:
        pairs.close()
    figures = pairs.figures()
    print_pairs(figures)
    cluster = Cluster(options.samples)
    try:
        both = Both(cluster)
        calls = [*both_ends(both), *both.counted()]
        print_calls(calls, figures["cpu_time"])
    finally:
        cluster.close()
    print(f"load before {machine['load_before']}, after {report.load()}")


if __name__ == "__main__":
    main()
