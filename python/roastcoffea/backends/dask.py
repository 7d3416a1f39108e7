# SPDX-License-Identifier: BSD-3-Clause
"""The backend of runs on a cluster of dask.distributed.

A collector watches the scheduler through :mod:`roastcoffea.dask.watch`. The five
methods are for those who use the backend alone, as in 0.1.2.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from roastcoffea import _core
from roastcoffea._by_value import ByValue
from roastcoffea.backends.base import (
    SPAN,
    AbstractMetricsBackend,
    RunTracking,
    is_instance,
)

__all__ = ["DaskBackend", "DaskMetricsBackend"]

ASYNCHRONOUS = (
    "MetricsCollector needs a synchronous Client; this one is asynchronous: "
    "make it without asynchronous=True"
)
HEARTBEAT_TIMEOUT_S = 2.0
SPANS_TIMEOUT_S = 20.0  # of a scheduler that is busy
EXECUTED = "thread-cpu"
CANNOT_KNOW = {"gpu": "GPUs of Dask workers are not measured"}
EXECUTORS = ("executor", "pre_executor")  # of a Runner


def is_dask_executor(executor: Any) -> bool:
    """Whether chunks of a coffea executor are tasks of a Dask client."""
    return is_instance(executor, "coffea.processor.executor", "DaskExecutor")


def client_of(given: Any) -> Any:
    """The Dask client in what a collector was given; None where there is none."""
    if is_instance(given, "distributed.client", "Client"):
        return given
    executors = [given, *(getattr(given, name, None) for name in EXECUTORS)]
    clients = [each.client for each in executors if is_dask_executor(each)]
    return next((client for client in clients if client is not None), None)


class DaskMetricsBackend(AbstractMetricsBackend):
    """Samples the workers of a client and accounts its tasks under spans."""

    def __init__(self, client: Any) -> None:
        if client is None:
            raise ValueError("client cannot be None")
        if getattr(client, "asynchronous", False) is True:
            raise ValueError(ASYNCHRONOUS)
        self.client = client
        self._core: Any = None
        self._watch: Any = None

    def cannot_know(self) -> dict[str, str]:
        return CANNOT_KNOW

    @classmethod
    def matches(cls, executor_or_client: Any) -> bool:
        executor = getattr(executor_or_client, EXECUTORS[0], executor_or_client)
        is_client = is_instance(executor_or_client, "distributed.client", "Client")
        return is_client or is_dask_executor(executor)

    @classmethod
    def is_connected(cls) -> bool:
        client = getattr(sys.modules.get("distributed.client"), "Client", None)
        clients = list(getattr(client, "_instances", ()))
        return any(getattr(each, "status", "") == "running" for each in clients)

    @classmethod
    def for_collector(cls, given: Any) -> DaskMetricsBackend | None:
        """An executor on Dask without a client gets one when it is called: its
        scheduler is watched from then on."""
        client = client_of(given)
        return None if client is None else cls(client)

    def track_run(self, run: Any, interval_s: float, given: Any) -> RunTracking:
        """A subclass may have other methods: it is used through those."""
        if type(self) is not DaskMetricsBackend:
            return super().track_run(run, interval_s, given)
        return DaskTracking(self, run, interval_s)

    def start_tracking(self, interval: float = 1.0) -> None:
        """Begin to sample workers every ``interval`` seconds."""
        from roastcoffea.dask.spans import new_mark
        from roastcoffea.dask.watch import Watch

        if self._watch is not None:
            self.stop_tracking()
        host = socket.gethostname()
        core = _core.Run(time.monotonic_ns(), time.time_ns(), host)
        watch = Watch(self.client, core, new_mark(), float(interval))
        is_there = False
        try:
            is_there = watch.start()
        finally:  # Ctrl-C too: it may still be installed
            if not is_there:
                watch.begin_stop(())
                watch.leave()
        if not is_there:
            raise watch.first_error()
        self._core, self._watch = core, watch

    def stop_tracking(self) -> dict[str, Any]:
        """End it and give tracking_data."""
        if self._core is None:
            return {"worker_counts": {}}
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.stop(())
        tracking: dict[str, Any] = self._core.tracking()
        return tracking

    def create_span(self, name: str) -> dict[str, Any]:
        """A span of tasks: ``with create_span(name)["context"]: ...``."""
        info: dict[str, Any] = {"name": name}
        info["context"] = _noting(info)
        return info

    def get_span_metrics(
        self,
        span_info: Any = None,
        max_retries: int = 3,
        retry_delay: float = 0.5,
        delay: float | None = None,
        *,
        span_id: Any = None,
    ) -> dict[tuple[str, ...], Any]:
        """What the tasks of a span used, by (context, prefix, activity, unit).

        All workers send a heartbeat first, so it is complete at once. The arguments are
        for clusters where that fails: how often to try again while nothing has arrived,
        and how long to wait before that, twice as long each time.
        """
        ids = _ids(span_id if span_info is None else span_info)
        wait_s = retry_delay if delay is None else delay
        for left in reversed(range(max(1, max_retries))):
            self._flush()
            found = self._spans(ids) if ids else {}
            if not ids or left == 0 or any(EXECUTED in names for names in found):
                return found
            time.sleep(wait_s)
            wait_s *= 2
        return {}

    def supports_fine_metrics(self) -> bool:
        return True

    def _flush(self) -> None:
        """Let all workers send a heartbeat."""
        from roastcoffea.dask.watch import send

        # workers send one anyway, and the next request raises what is wrong
        with contextlib.suppress(TimeoutError, OSError, RuntimeError):
            send(self.client, _request_heartbeats(self.client)).result(
                2 * HEARTBEAT_TIMEOUT_S
            )

    def _spans(self, ids: list[str]) -> dict[tuple[str, ...], Any]:
        from roastcoffea.dask.watch import send

        request = send(self.client, _request_spans(self.client, ids))
        found: dict[tuple[str, ...], Any] = {}
        for names, value in request.result(2 * SPANS_TIMEOUT_S):
            found[tuple(names)] = found.get(tuple(names), 0) + value
        return found


DaskBackend = DaskMetricsBackend


class DaskTracking(RunTracking):
    """Watches the scheduler of the client, and marks the tasks of this thread."""

    _marked: Any = None

    def begin(self) -> None:
        from roastcoffea.dask.spans import Entered

        self.run.core.watch(0.0, ())
        watches = self.run.on_dask()
        watches.add(self.backend.client)
        self._marked = watches.marked
        self._span = Entered()
        self._span.enter(self._marked)

    def span_info(self) -> dict[str, Any] | None:
        """The spans of all threads that submitted tasks of the run."""
        ids = self._marked.span_ids if self._marked else []
        return {"name": SPAN, "id": ids[0] if len(ids) == 1 else ids} if ids else None

    def end(self) -> None:
        if self._span is not None:
            self._span.leave()


async def _request_heartbeats(client: Any) -> None:
    from roastcoffea.dask.worker_plugin import heartbeat

    await asyncio.wait_for(
        client.run(ByValue(heartbeat, otherwise=""), {}, on_error="ignore"),
        HEARTBEAT_TIMEOUT_S,
    )


async def _request_spans(client: Any, ids: list[str]) -> list[Any]:
    from roastcoffea.dask.scheduler_plugin import spans_on

    answer = client.run_on_scheduler(ByValue(spans_on, otherwise=""), {"ids": ids})
    rows: list[Any] = await asyncio.wait_for(answer, SPANS_TIMEOUT_S)
    return rows


@contextlib.contextmanager
def _noting(info: dict[str, Any]) -> Iterator[str]:
    """Dask's span, whose id is kept."""
    from distributed import span

    with span(info["name"]) as span_id:
        info["id"] = span_id
        yield span_id


def _ids(span_info: Any) -> list[str]:
    """The ids of a span: what create_span() gave, a dict with its id, or the id."""
    if isinstance(span_info, Mapping):
        span_info = span_info.get("id")
    if isinstance(span_info, str):
        return [span_info]
    return [str(each) for each in span_info or ()]
