# SPDX-License-Identifier: BSD-3-Clause
"""The backend of runs on this machine: coffea's Iterative and Futures executors.

The workers of such a run are the client process and its descendants, which a thread in
C samples.
"""

from __future__ import annotations

import socket
import time
from typing import Any

from roastcoffea import _core
from roastcoffea.backends.base import AbstractMetricsBackend, RunTracking

NO_SPANS = "only a Dask scheduler has spans; chunks have their own clocks"
NO_SCHEDULER = "only available on Dask"


class LocalMetricsBackend(AbstractMetricsBackend):
    """Samples this process and its descendants, and what the machine counts."""

    is_local = True

    def __init__(self, core: Any = None) -> None:
        self._core = core

    @classmethod
    def matches(cls, executor_or_client: Any) -> bool:
        """Whatever no other backend matches."""
        return True

    def sources(self) -> tuple[str, ...]:
        return ("process", "host", "gpu")

    def cannot_know(self) -> dict[str, str]:
        return {"spans": NO_SPANS, "scheduler": NO_SCHEDULER}

    def start_tracking(self, interval: float = 1.0) -> None:
        """Take a sample now and every ``interval`` seconds."""
        if self._core is None:
            self._core = _core.Run(
                time.monotonic_ns(), time.time_ns(), socket.gethostname()
            )
        self._core.watch(float(interval), self.sources())

    def stop_tracking(self) -> dict[str, Any]:
        """Take the last sample; everything sampled so far."""
        if self._core is None:
            return {"worker_counts": {}}
        self._core.unwatch()
        tracking: dict[str, Any] = self._core.tracking()
        return tracking

    def create_span(self, name: str) -> None:
        return None

    def get_span_metrics(
        self, span_info: Any = None, *, span_id: Any = None
    ) -> dict[tuple[str, ...], Any]:
        return {}

    def supports_fine_metrics(self) -> bool:
        return False

    def track_run(self, run: Any, interval_s: float, given: Any) -> RunTracking:
        self._core = run.core
        return LocalTracking(self, run, interval_s, given)


class LocalTracking(RunTracking):
    """Sampling by the run's own core, which its finish() ends."""

    def __init__(self, backend: Any, run: Any, interval_s: float, given: Any) -> None:
        super().__init__(backend, run, interval_s)
        self.given = given

    def begin(self) -> None:
        """Where chunks run elsewhere, processes of this machine are no workers. A
        connection that the collector was not given may be used or not: that is known
        with the first call of a Runner."""
        from roastcoffea.backends import registry

        interval_s = self.interval_s
        if self.given is None and registry.is_connected():
            self.run.local_interval_s, interval_s = interval_s, 0.0
        elif not registry.kind_of(self.given).is_local:
            interval_s = 0.0
        self.run.core.watch(interval_s, self.run.sources)

    def end(self) -> None:
        pass
