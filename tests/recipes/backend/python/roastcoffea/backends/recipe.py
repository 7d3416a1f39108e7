# SPDX-License-Identifier: BSD-3-Clause
"""The backend of runs with a client of the class Answer."""

from __future__ import annotations

from typing import Any

from roastcoffea.backends.base import AbstractMetricsBackend


class RecipeBackend(AbstractMetricsBackend):
    """Its workers are sampled by a source in C."""

    @classmethod
    def matches(cls, executor_or_client: Any) -> bool:
        return type(executor_or_client).__name__ == "Answer"

    def sources(self) -> tuple[str, ...]:
        return ("recipe",)

    def cannot_know(self) -> dict[str, str]:
        return {"spans": "an Answer has no spans"}

    def start_tracking(self, interval: float) -> None:
        pass

    def stop_tracking(self) -> dict[str, Any]:
        return {}

    def create_span(self, name: str) -> Any:
        return None

    def get_span_metrics(self, span_info: Any) -> dict[tuple[str, ...], Any]:
        return {}

    def supports_fine_metrics(self) -> bool:
        return False
