# SPDX-License-Identifier: BSD-3-Clause
"""What a backend does, for those who write their own.

A backend knows the workers of one kind of executor. Five methods are required, those of
0.1.2 and of the documents: an object that has them can be given to the collector
(``backend=my_backend``). The others have defaults.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Any

__all__ = ["AbstractMetricsBackend", "RunTracking", "track_run"]

SPAN = "coffea-processing"


def is_instance(value: Any, module: str, name: str) -> bool:
    """isinstance() without an import: a class that is not loaded has no objects."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


class AbstractMetricsBackend(ABC):
    """Watches the workers of one executor during a run."""

    #: Whether its workers are processes of this machine, which _core samples.
    is_local = False

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

    # ---- optional ------------------------------------------------------------------

    @classmethod
    def matches(cls, executor_or_client: Any) -> bool:
        """Whether chunks of this executor, Runner or client run on its workers."""
        return False

    @classmethod
    def is_connected(cls) -> bool:
        """Whether this process could use its workers without naming them."""
        return False

    @classmethod
    def for_collector(cls, given: Any) -> AbstractMetricsBackend | None:
        """The backend for what a collector was given; None: another kind is used."""
        return cls() if cls.matches(given) else None

    def sources(self) -> tuple[str, ...]:
        """Rows of collect_sources.def that a run on it polls at the interval."""
        return ()

    def cannot_know(self) -> dict[str, str]:
        """{what: why}, the reason of metrics that no run on it can have. ``what`` is
        ``workers``, ``samples``, ``spans``, ``scheduler`` or ``gpu``."""
        return {}

    def track_run(self, run: Any, interval_s: float, given: Any) -> RunTracking:
        """What begins and ends the tracking of one run; an interval of 0 s: workers are
        not sampled. ``given`` is what the collector was given."""
        return RunTracking(self, run, interval_s)


class RunTracking:
    """The tracking of one run, through the five methods of a backend. What they raise
    is an error of the run."""

    def __init__(self, backend: Any, run: Any, interval_s: float) -> None:
        self.backend = backend
        self.run = run
        self.interval_s = interval_s
        self._span: Any = None

    def begin(self) -> None:
        self.run.core.watch(self.interval_s, self.run.sources)
        self.run.interval_s = 0.0  # the backend samples
        self.run.awaits_counts = self.interval_s > 0
        if self.interval_s:
            self._call("start_tracking", self.interval_s)
        if self._call("supports_fine_metrics"):
            self._span = self._call("create_span", SPAN)

    def span_info(self) -> Any:
        """What create_span() returned, for get_span_metrics(); None without spans."""
        return self._span

    def end(self) -> None:
        sampled = self._call("stop_tracking") if self.interval_s else None
        self.run.take_tracking(sampled)
        if self._span is not None:
            self.run.take_spans(self._call("get_span_metrics", self._span))

    def _call(self, method: str, *args: Any) -> Any:
        """None where it raises."""
        try:
            return getattr(self.backend, method)(*args)
        except Exception as error:
            self.run.note_error(f"{method}() of the backend", error)
            return None


def track_run(backend: Any, run: Any, interval_s: float, given: Any) -> RunTracking:
    """That of a backend; an object with the five methods alone needs no base class."""
    if isinstance(backend, AbstractMetricsBackend):
        run.use_backend(backend)
        return backend.track_run(run, interval_s, given)
    return RunTracking(backend, run, interval_s)
