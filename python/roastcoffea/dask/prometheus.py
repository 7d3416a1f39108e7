# SPDX-License-Identifier: BSD-3-Clause
"""A Dask preload module: metrics of running runs on the scheduler's /metrics page.

    dask scheduler --preload roastcoffea.dask.prometheus

A client that sees this module on the scheduler (``SHOWN_BY``) sends the metrics of its
run with a pull now and then, as OpenMetrics text, and the plugin of the run keeps the
last one. When the page is requested, the texts are parsed and each series gets the id
of its run; nothing is computed here. When the plugin goes, so do its metrics. Errors
are logged once and counted on the page; they never reach Dask.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from .scheduler_plugin import SHOWN_BY

missing = ""
try:
    from prometheus_client import REGISTRY, Metric
    from prometheus_client.parser import text_string_to_metric_families
except ImportError as error:  # the scheduler starts anyway
    missing = str(error)

logger = logging.getLogger("distributed.roastcoffea")  # in the scheduler's log


def _limits(scheduler: Any) -> float | None:
    limits = [worker.memory_limit for worker in scheduler.workers.values()]
    return sum(limits) if all(limits) else None


def _reported(scheduler: Any, name: str) -> float:
    workers = scheduler.workers.values()
    return float(sum(worker.metrics[name] for worker in workers))


CLUSTER: dict[str, tuple[str, Callable[[Any], float | None]]] = {
    "roast_cluster_workers": ("workers, now", lambda s: len(s.workers)),
    "roast_cluster_threads": ("threads of the workers", lambda s: s.total_nthreads),
    "roast_cluster_memory_bytes": (
        "memory of the workers, as each last reported it",
        lambda s: _reported(s, "memory"),
    ),
    "roast_cluster_memory_limit_bytes": (
        "memory limits of the workers, summed; absent if one has none",
        _limits,
    ),
    "roast_cluster_busy_cores": (
        "cores that the workers use, as each last reported it",
        lambda s: _reported(s, "cpu") / 100,
    ),
}


class Runs:
    """A collector of prometheus_client: the running runs of a scheduler."""

    def __init__(self, scheduler: Any) -> None:
        self.scheduler = scheduler
        self.errors = 0
        self._parsed: dict[str, tuple[str, list[Metric]]] = {}  # by text

    def describe(self) -> Iterable[Metric]:
        return ()  # without this, registering would collect

    def collect(self) -> Iterator[Metric]:
        runs = self._runs()
        found: dict[str, Metric] = {}
        for family in chain.from_iterable(runs.values()):
            name = family.name
            if name not in found:
                found[name] = Metric(name, family.documentation, family.type)
            found[name].samples.extend(family.samples)
        yield from found.values()
        if runs:
            yield from self._cluster()
        if self.errors:
            text = "errors while this page was made; the first one is in the log"
            yield _gauge("roast_page_errors", text, self.errors)

    def _runs(self) -> dict[str, list[Metric]]:
        """The metrics of each run, by its id. A client that was disconnected may have
        two plugins for a moment: the later one counts."""
        runs: dict[str, list[Metric]] = {}
        parsed: dict[str, tuple[str, list[Metric]]] = {}
        for plugin in self.scheduler.plugins.values():
            text = getattr(plugin, "live_metrics", "")
            if not text:
                continue
            try:
                parsed[text] = self._parsed.get(text) or _parse(text)
                run_id, families = parsed[text]
                runs[run_id] = families
            except Exception as error:
                self._fail(error)
        self._parsed = parsed
        return runs

    def _cluster(self) -> Iterator[Metric]:
        for name, (text, read) in CLUSTER.items():
            try:
                value = read(self.scheduler)
            except Exception as error:  # this Dask differs
                self._fail(error)
            else:
                if value is not None:
                    yield _gauge(name, text, value)

    def _fail(self, error: Exception) -> None:
        self.errors += 1
        if self.errors == 1:
            logger.warning("roastcoffea: /metrics is incomplete: %r", error)


def _parse(text: str) -> tuple[str, list[Metric]]:
    """The id of a run ("" without a collector), and its metrics with this label."""
    families = list(text_string_to_metric_families(text))
    (info,) = (each for each in families if each.name == "roast_run_info")
    run_id = info.samples[0].labels.get("run_id", "")
    for sample in chain.from_iterable(each.samples for each in families):
        sample.labels["run_id"] = run_id
    return run_id, families


def _gauge(name: str, text: str, value: float) -> Metric:
    gauge = Metric(name, text, "gauge")
    gauge.add_sample(name, {}, value)
    return gauge


def dask_setup(scheduler: Any) -> None:
    """Called by Dask when the scheduler has started."""
    if missing:
        logger.warning(
            "roastcoffea: no runs on /metrics: %s (pip install prometheus_client)",
            missing,
        )
        return
    runs = Runs(scheduler)
    REGISTRY.register(runs)
    scheduler.extensions[SHOWN_BY] = runs


def dask_teardown(scheduler: Any) -> None:
    """Called by Dask when the scheduler closes."""
    runs = scheduler.extensions.pop(SHOWN_BY, None)
    if runs is not None:
        REGISTRY.unregister(runs)
