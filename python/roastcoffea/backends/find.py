# SPDX-License-Identifier: BSD-3-Clause
"""Which backend a collector uses: deduced, named, or brought along by the user."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from roastcoffea.backends.local import LocalMetricsBackend

GROUP = "roastcoffea.backends"
METHODS = (
    "start_tracking",
    "stop_tracking",
    "create_span",
    "get_span_metrics",
    "supports_fine_metrics",
)
# Dask's own backend is still to come: until then its runs give what this machine sees.
BUILT_IN = ("local", "iterative", "futures", "dask")
TO_COME = ("taskvine",)  # a name, not a folder: better refused than misunderstood


def is_backend_name(value: Any) -> bool:
    """Whether a value given for output_dir is the name of a backend, as in 0.1.2."""
    if not isinstance(value, str):
        return False  # without looking for entry points, which takes milliseconds
    return value in {*BUILT_IN, *TO_COME, *_entry_points()}


def find_backend(backend: Any, client: Any) -> Any:
    """The backend object; ValueError for a name that nobody knows."""
    if backend is None or backend in BUILT_IN:
        return LocalMetricsBackend()
    if not isinstance(backend, (str, type)):
        missing = [name for name in METHODS if not hasattr(backend, name)]
        if missing:
            raise ValueError(f"Unsupported backend: {backend!r} has no {missing[0]}()")
        return backend
    found = _entry_points().get(str(backend))
    if found is None:
        known = ", ".join(sorted({*BUILT_IN, *_entry_points()}))
        raise ValueError(f"Unsupported backend: {backend} (known: {known})")
    return found.load()(client)


def _entry_points() -> dict[str, metadata.EntryPoint]:
    return {entry.name: entry for entry in metadata.entry_points(group=GROUP)}
