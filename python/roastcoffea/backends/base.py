# SPDX-License-Identifier: BSD-3-Clause
"""What a backend does, for those who write their own.

Exactly five methods, those of 0.1.2 and of the documents: a subclass that has them can
be handed to the collector (``backend=my_backend``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["AbstractMetricsBackend"]


class AbstractMetricsBackend(ABC):
    """Watches the workers of one executor during a run."""

    @abstractmethod
    def start_tracking(self, interval: float) -> None:
        """Begin to sample workers every ``interval`` seconds."""

    @abstractmethod
    def stop_tracking(self) -> dict[str, Any]:
        """End it and give tracking_data."""

    @abstractmethod
    def create_span(self, name: str) -> Any:
        """Begin to account tasks under a name; None where spans are not known."""

    @abstractmethod
    def get_span_metrics(self, span_info: Any) -> dict[tuple[str, ...], Any]:
        """What create_span()'s tasks used, by (context, prefix, activity, unit)."""

    @abstractmethod
    def supports_fine_metrics(self) -> bool:
        """Whether spans are known here."""
