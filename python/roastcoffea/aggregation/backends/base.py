# SPDX-License-Identifier: BSD-3-Clause
"""What turns a backend's tracking data into worker metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["AbstractTrackingDataParser"]


class AbstractTrackingDataParser(ABC):
    """Subclass it for a backend whose tracking data has a shape of its own."""

    @abstractmethod
    def parse_tracking_data(self, tracking_data: dict[str, Any]) -> dict[str, Any]:
        """avg_workers, peak_workers, total_cores, cores_per_worker,
        peak_memory_bytes and avg_memory_per_worker_bytes."""
