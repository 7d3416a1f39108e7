# SPDX-License-Identifier: BSD-3-Clause
"""Parsers of tracking data, by the name of the backend.

Besides our own and those of register_parser(), entry points of the group
``roastcoffea.backends`` are used: each names a parser class, or a backend, whose
``tracking_data_parser`` makes the parser if its data has a form of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roastcoffea.aggregation.backends.base import AbstractTrackingDataParser
from roastcoffea.aggregation.backends.dask import (
    DaskMetricsParser,
    DaskTrackingDataParser,
)
from roastcoffea.aggregation.backends.taskvine import TaskVineMetricsParser

__all__ = [
    "AbstractTrackingDataParser",
    "DaskMetricsParser",
    "DaskTrackingDataParser",
    "TaskVineMetricsParser",
    "get_parser",
    "register_parser",
]

GROUP = "roastcoffea.backends"

ParserFactory = Callable[[], AbstractTrackingDataParser]

_factories: dict[str, ParserFactory] = {
    "dask": DaskTrackingDataParser,
    "local": DaskTrackingDataParser,
    "taskvine": TaskVineMetricsParser,
}


def register_parser(name: str, factory: ParserFactory) -> None:
    """Make get_parser(name) give factory(); an earlier one of that name is replaced."""
    if not name:
        raise ValueError("a backend's name is a non-empty str")
    if not callable(factory):
        raise TypeError(f"a parser factory is callable, not {factory!r}")
    _factories[name] = factory


def get_parser(backend: str) -> AbstractTrackingDataParser:
    """A parser for the tracking data of a backend, by its name."""
    name = str(backend)
    if name in _factories:
        return _factories[name]()
    from importlib.metadata import entry_points

    others = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in others:
        known = sorted(_factories.keys() | others.keys())
        raise ValueError(f"Unsupported backend: {backend}. Available: {known}")
    return _factory_of(others[name].load())()


def _factory_of(found: Any) -> ParserFactory:
    """How to make the parser that an entry point's object stands for."""
    if isinstance(found, type) and issubclass(found, AbstractTrackingDataParser):
        return found
    own: ParserFactory = getattr(found, "tracking_data_parser", DaskTrackingDataParser)
    return own
