# SPDX-License-Identifier: BSD-3-Clause
"""Contexts that measure a part of process(), and the base class for users' own."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from ._probe import user_functions

track_time = user_functions.track_time
track_section = user_functions.track_section
track_memory = user_functions.track_memory
track_bytes = user_functions.track_bytes

_record_metric = user_functions.record_metric


class BaseInstrumentationContext:
    """A context whose subclass records its own values with the running chunk.

    Override ``__exit__`` (and ``__enter__``) and call :meth:`record_metric`; the values
    appear in the chunk's ``custom_metrics``. Outside a measured chunk nothing is
    recorded. A pure Python class, so that it pickles by value with a user's subclass.
    """

    __module__ = "roastcoffea.instrumentation"  # also in a copy with another name

    def __init__(self, processor: Any = None, name: str = "") -> None:
        self.processor = processor
        self.name = name

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return None

    def record_metric(self, name: str, value: Any) -> None:
        """Keep a value under ``custom_metrics[name]`` of the running chunk."""
        _record_metric(name, value)
