# SPDX-License-Identifier: BSD-3-Clause
"""On the client: what is sent to workers, which may have nothing of ours.

The worker part of the package goes along with the plugin, as bytes of its files, packed
once per process. The Dask setting ``roastcoffea.ship: false`` forbids that: then
workers without the package stay unmeasured.
"""

from __future__ import annotations

import functools
import hashlib
import os
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from roastcoffea import _probe, _setup

PACKAGE = "roastcoffea"
MODULES = (
    "",
    "_address",
    "_probe",
    "_setup",
    "_standin",
    "decorator",
    "instrumentation",
    "adapters",
    "adapters.dask_outbox",
    "adapters.dask_task",
    "adapters.dask_worker",
    "adapters.guard",
    "adapters.hook_places",
    "adapters.hooks",
    "adapters.packing",
    "adapters.switch",
    "adapters.uproot_source",
    "adapters.work_function",
    "adapters.work_item",
)
SETTING = "roastcoffea.ship"

# Of decorated functions in any task: that of all collectors of this process, because a
# task may belong to several of them.
RUN_ID = os.urandom(16)


class Package(NamedTuple):
    """The worker part: {path: packed bytes}, and the name it is imported by there."""

    name: str
    files: dict[str, bytes]


@functools.cache
def package() -> Package:
    """The worker part, from the files that this process has imported it from. OSError
    or ImportError where they are not to be had."""
    files: dict[str, bytes] = {}
    digest = hashlib.sha256()
    for name in MODULES:
        path, data = _file_of(name)
        digest.update(f"{path} {len(data)} ".encode() + data)
        files[path] = zlib.compress(data, 6)
    version = "".join(x if x.isalnum() else "_" for x in _probe.version)
    return Package(f"_{PACKAGE}_{version}_{digest.hexdigest()[:8]}", files)


def _file_of(name: str) -> tuple[str, bytes]:
    """The path of a module inside the package, and its source or binary."""
    module = import_module(f"{PACKAGE}.{name}" if name else PACKAGE)
    spec: Any = module.__spec__
    within = name.replace(".", "/")
    if name == "_probe":
        return "_probe.abi3.so", Path(spec.origin).read_bytes()
    if spec.submodule_search_locations is not None:
        within = f"{within}/__init__" if within else "__init__"
    source = spec.loader.get_source(spec.name)
    if source is None:
        raise ImportError(f"the source of {spec.name} is not installed")
    return within + ".py", source.encode()


def worker_payload(mark: str) -> dict[str, Any]:
    """What the plugin on workers gets for a run with this mark."""
    from roastcoffea.adapters import dask_worker

    payload: dict[str, Any] = {
        "mark": mark,
        "run_id": RUN_ID,
        "client": _probe.process_id(),
        "frame_version": _probe.frame_version,
        "language": dask_worker.LANGUAGE,
        "files": None,
    }
    why = _why_not()
    if why:
        return payload | {"why_not": why}
    try:
        sent = package()
    except (OSError, ImportError) as error:
        why = f"roastcoffea is not there, and the client cannot send it: {error}"
        return payload | {"why_not": why}
    _setup.ships_as(sent.name)
    return payload | {"name": sent.name, "files": sent.files}


def _why_not() -> str:
    """Why nothing may be sent, if so."""
    import dask

    if dask.config.get(SETTING, True) in (False, "false", "no", "off", 0):
        return f"roastcoffea is not there, and {SETTING} forbids to send it"
    return ""


def worker_plugin(mark: str) -> bytes:
    """The plugin on workers, as Dask's scheduler takes it."""
    from distributed.protocol.pickle import dumps

    from roastcoffea.dask import recipe, worker_part

    plugin = recipe.Shipped(
        payload=worker_payload(mark), **recipe.parts_of(worker_part)
    )
    return bytes(dumps(plugin))  # type: ignore[no-untyped-call]
