# SPDX-License-Identifier: BSD-3-Clause
"""The backend of runs on this machine: coffea's Iterative and Futures executors.

The workers of such a run are the client process and its descendants, which a thread in
C samples. There are no spans; the clocks of the chunks say what spans would.
"""

from __future__ import annotations

import socket
import time
from typing import Any

from roastcoffea import _core
from roastcoffea.backends.base import AbstractMetricsBackend


class LocalMetricsBackend(AbstractMetricsBackend):
    """Samples this process and its descendants."""

    def __init__(self, core: Any = None) -> None:
        self._core = core

    def start_tracking(self, interval: float = 1.0) -> None:
        """Take a sample now and every ``interval`` seconds."""
        if self._core is None:
            self._core = _core.Run(
                time.monotonic_ns(), time.time_ns(), socket.gethostname()
            )
        self._core.watch(float(interval))

    def stop_tracking(self) -> dict[str, Any]:
        """Take the last sample; everything sampled so far."""
        if self._core is None:
            return {"worker_counts": {}}
        self._core.unwatch()
        tracking: dict[str, Any] = self._core.tracking()
        return tracking

    def create_span(self, name: str) -> None:
        """There are no spans on one machine."""
        return None

    def get_span_metrics(self, span_info: Any) -> dict[tuple[str, ...], Any]:
        return {}

    def supports_fine_metrics(self) -> bool:
        return False
