# SPDX-License-Identifier: BSD-3-Clause
"""A Dask preload module: metrics of running runs on the scheduler's /metrics page.

    dask scheduler --preload roastcoffea.dask.prometheus

Clients send the metrics of their run to its plugin on the scheduler, as OpenMetrics,
once they see that this module is there (scheduler_plugin.py, watch.py). When the page
is requested, they are parsed and get the id of the run as a label; nothing is computed
here. With the plugin of a run its metrics go. Errors are counted and logged once, and
never reach the page of Dask.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .scheduler_plugin import SHOWN_BY

if TYPE_CHECKING:
    from prometheus_client import Metric

logger = logging.getLogger("distributed.roastcoffea")  # shown as Dask's own lines

CLUSTER: dict[str, tuple[str, Callable[[Any], float]]] = {
    "roast_cluster_workers": ("workers", lambda s: len(s.workers)),
    "roast_cluster_threads": ("threads of them", lambda s: s.total_nthreads),
    "roast_cluster_memory_bytes": (
        "memory of them, as they reported it",
        lambda s: sum(w.metrics["memory"] for w in s.workers.values()),
    ),
    "roast_cluster_memory_limit_bytes": (
        "their memory limits; of workers that have one",
        lambda s: sum(w.memory_limit or 0 for w in s.workers.values()),
    ),
    "roast_cluster_busy_cores": (
        "CPU time per second of them, as they reported it",
        lambda s: sum(w.metrics["cpu"] for w in s.workers.values()) / 100,
    ),
}


class Runs:
    """A collector of prometheus_client: the running runs of one scheduler."""

    def __init__(self, scheduler: Any) -> None:
        self.scheduler = scheduler
        self.errors = 0
        self._parsed: dict[str, list[Metric]] = {}  # by text: pages may be frequent

    def describe(self) -> Iterable[Metric]:
        return ()  # else registering would collect

    def collect(self) -> Iterator[Metric]:
        runs = self._runs()
        found: dict[str, Metric] = {}
        for run_id, families in runs.items():
            for family in families:
                whole = found.setdefault(family.name, _empty(family))
                for sample in family.samples:
                    labels = {"run_id": run_id, **sample.labels}
                    whole.add_sample(sample.name, labels, sample.value)
        yield from found.values()
        if runs:
            yield from self._cluster()
        if self.errors:
            text = "errors of roastcoffea while this page was made"
            yield _gauge("roast_page_errors", text, self.errors)

    def _runs(self) -> dict[str, list[Metric]]:
        """The families of each run, by its id. A client that lost its connection may
        have two plugins for a moment: the later one counts."""
        runs, parsed = {}, {}
        for plugin in list(self.scheduler.plugins.values()):
            if not (text := getattr(plugin, "live", "")):
                continue
            try:
                families = self._parsed.get(text) or _parse(text)
                parsed[text] = families
                runs[_run_id(families)] = families
            except Exception as error:
                self._fail(error)
        self._parsed = parsed
        return runs

    def _cluster(self) -> Iterator[Metric]:
        for name, (text, value) in CLUSTER.items():
            try:
                yield _gauge(name, f"{text}; of this scheduler, now", value(self.scheduler))
            except Exception as error:  # a worker without this metric: unknown
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        self.errors += 1
        if self.errors == 1:
            logger.warning("roastcoffea: metrics of a run are missing: %r", error)


def _parse(text: str) -> list[Metric]:
    from prometheus_client.parser import text_string_to_metric_families

    return list(text_string_to_metric_families(text))


def _run_id(families: list[Metric]) -> str:
    (info,) = (each for each in families if each.name == "roast_run_info")
    run_id: str = info.samples[0].labels["run_id"]
    return run_id


def _empty(family: Metric) -> Metric:
    from prometheus_client import Metric

    return Metric(family.name, family.documentation, family.type)


def _gauge(name: str, text: str, value: float) -> Metric:
    from prometheus_client import Metric

    gauge = Metric(name, text, "gauge")
    gauge.add_sample(name, {}, value)
    return gauge


def dask_setup(scheduler: Any) -> None:
    """Called by Dask when the scheduler has started."""
    try:
        from prometheus_client import REGISTRY
    except ImportError:
        logger.warning(
            "roastcoffea: no metrics of runs on /metrics: prometheus_client is missing"
            " (pip install prometheus_client)"
        )
        return
    runs = Runs(scheduler)
    REGISTRY.register(runs)
    scheduler.extensions[SHOWN_BY] = runs


def dask_teardown(scheduler: Any) -> None:
    """Called by Dask when the scheduler closes."""
    runs = scheduler.extensions.pop(SHOWN_BY, None)
    if runs is not None:
        from prometheus_client import REGISTRY

        REGISTRY.unregister(runs)
