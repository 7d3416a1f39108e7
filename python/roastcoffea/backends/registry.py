# SPDX-License-Identifier: BSD-3-Clause
"""The backends, and which of them a collector uses: deduced, named, or the user's own.

A built-in backend is a module and a row of KINDS; other packages add theirs by an entry
point of the group ``roastcoffea.backends``, a function of what the collector was given.
"""

from __future__ import annotations

from importlib import metadata
from typing import Any

from roastcoffea.backends.base import AbstractMetricsBackend
from roastcoffea.backends.dask import DaskMetricsBackend
from roastcoffea.backends.local import LocalMetricsBackend

GROUP = "roastcoffea.backends"
KINDS: dict[str, type[AbstractMetricsBackend]] = {  # the first one that matches is used
    "dask": DaskMetricsBackend,
    "local": LocalMetricsBackend,
    "iterative": LocalMetricsBackend,
    "futures": LocalMetricsBackend,
}
RESERVED = ("taskvine",)  # refused, rather than taken for an output folder
METHODS = sorted(AbstractMetricsBackend.__abstractmethods__)


def kind_of(executor_or_client: Any) -> type[AbstractMetricsBackend]:
    """The backend of the workers on which chunks of an executor or client run."""
    return next(kind for kind in KINDS.values() if kind.matches(executor_or_client))


def is_connected() -> bool:
    """Whether this process could use other workers than its own."""
    return any(kind.is_connected() for kind in KINDS.values())


def is_backend_name(value: Any) -> bool:
    """Whether a value given for output_dir is the name of a backend, as in 0.1.2."""
    if not isinstance(value, str):
        return False  # without searching entry points, which takes milliseconds
    return value in {*KINDS, *RESERVED, *_entry_points()}


def find_backend(backend: Any, given: Any) -> Any:
    """The backend object; ValueError for an unknown name."""
    if backend is None or (isinstance(backend, str) and backend in KINDS):
        is_used = backend is None or not KINDS[backend].is_local
        if is_used and isinstance(given, (str, bytes, int, float)):
            raise TypeError(
                "a collector takes a Dask client, an executor or a Runner, not"
                f" {given!r} (of an address: Client(address))"
            )
        kinds = [KINDS[backend]] if backend else list(KINDS.values())
        found = (kind.for_collector(given) for kind in kinds)
        return next(filter(None, found), None) or LocalMetricsBackend()
    if not isinstance(backend, (str, type)):
        missing = [name for name in METHODS if not hasattr(backend, name)]
        if missing:
            raise ValueError(f"Unsupported backend: {backend!r} has no {missing[0]}()")
        return backend
    entry = _entry_points().get(str(backend))
    if entry is None:
        known = ", ".join(sorted({*KINDS, *_entry_points()}))
        raise ValueError(f"Unsupported backend: {backend} (known: {known})")
    return entry.load()(given)


def _entry_points() -> dict[str, metadata.EntryPoint]:
    return {entry.name: entry for entry in metadata.entry_points(group=GROUP)}
