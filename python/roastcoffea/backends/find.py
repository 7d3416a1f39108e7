# SPDX-License-Identifier: BSD-3-Clause
"""Which backend a collector uses: deduced, named, or brought along by the user."""

from __future__ import annotations

import sys
from importlib import metadata
from typing import Any

from roastcoffea.adapters.coffea_result import is_dask
from roastcoffea.adapters.dask_call import EXECUTORS
from roastcoffea.backends.local import LocalMetricsBackend

GROUP = "roastcoffea.backends"
METHODS = (
    "start_tracking",
    "stop_tracking",
    "create_span",
    "get_span_metrics",
    "supports_fine_metrics",
)
BUILT_IN = ("local", "iterative", "futures", "dask")
TO_COME = ("taskvine",)  # a name, not a folder: better refused than misunderstood


def is_backend_name(value: Any) -> bool:
    """Whether a value given for output_dir is the name of a backend, as in 0.1.2."""
    if not isinstance(value, str):
        return False  # without looking for entry points, which takes milliseconds
    return value in {*BUILT_IN, *TO_COME, *_entry_points()}


def find_backend(backend: Any, client: Any) -> Any:
    """The backend object; ValueError for a name that nobody knows."""
    if backend is None or backend == "dask":
        return _deduced(client)
    if backend in BUILT_IN:
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


def _deduced(client: Any) -> Any:
    """By what the collector was given. An executor on Dask that has no client yet gets
    one when it is called: its scheduler is watched from then on."""
    if isinstance(client, (str, bytes, int, float)):
        raise TypeError(
            "a collector takes a Dask client, an executor or a Runner, not"
            f" {client!r} (of an address: Client(address))"
        )
    found = client_of(client)
    if found is None:
        return LocalMetricsBackend()
    from roastcoffea.backends.dask import DaskMetricsBackend

    return DaskMetricsBackend(found)


def client_of(given: Any) -> Any:
    """The Dask client in what a collector was given; None where there is none."""
    if _is_client(given):
        return given
    executors = [given, *(getattr(given, name, None) for name in EXECUTORS)]
    clients = [executor.client for executor in executors if is_dask(executor)]
    return next((client for client in clients if client is not None), None)


def runs_on_dask(given: Any) -> bool:
    """Whether its chunks will be tasks of Dask, with a client or without one yet."""
    return _is_client(given) or is_dask(getattr(given, "executor", given))


def has_client() -> bool:
    """Whether this process is connected to a cluster of Dask."""
    client = getattr(sys.modules.get("distributed.client"), "Client", None)
    clients = list(getattr(client, "_instances", ()))
    return any(getattr(each, "status", "") == "running" for each in clients)


def _is_client(given: Any) -> bool:
    """A ``distributed.Client``, told without an import of distributed."""
    bases = [(kind.__name__, kind.__module__) for kind in type(given).__mro__]
    return ("Client", "distributed.client") in bases


def _entry_points() -> dict[str, metadata.EntryPoint]:
    return {entry.name: entry for entry in metadata.entry_points(group=GROUP)}
