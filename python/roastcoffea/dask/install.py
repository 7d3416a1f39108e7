# SPDX-License-Identifier: BSD-3-Clause
"""Builds the plugins for a scheduler and its workers, and installs them.

Both are pickled by value. The worker plugin carries the files of the worker part,
packed once per process, unless the Dask setting ``roastcoffea.ship: false`` forbids it:
then workers without the package are not measured.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import math
import os
import pickle
import secrets
import sys
import zlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from roastcoffea import _probe, _setup
from roastcoffea._by_value import ByValue, Call

PACKAGE = "roastcoffea"
MODULES = (  # of the worker part
    "",
    "_by_value",
    "_probe",
    "_setup",
    "_standin",
    "coffea",
    "coffea.guard",
    "coffea.hook_list",
    "coffea.hooks",
    "coffea.packing",
    "coffea.switch",
    "coffea.uproot_source",
    "coffea.work_function",
    "coffea.work_item",
    "dask",
    "dask.task",
    "dask.worker",
    "decorator",
    "instrumentation",
)
SETTING = "roastcoffea.ship"
OTHER_PYTHON = "the scheduler has another version of Python than the client"
START = "start on the scheduler"
AGAIN = "start on the scheduler, again"

# Run id of decorated functions in any task: one for all collectors of this process,
# because a task may belong to several of them.
RUN_ID = os.urandom(16)


class Package(NamedTuple):
    """The worker part: its module name on workers, and {path: compressed bytes}."""

    name: str
    files: dict[str, bytes]


@functools.cache
def package() -> Package:
    """The worker part, from the files that this process has imported. OSError or
    ImportError if there are none."""
    files: dict[str, bytes] = {}
    digest = hashlib.sha256()
    for name in MODULES:
        path, data = _file_of(name)
        digest.update(f"{path} {len(data)} ".encode() + data)
        files[path] = zlib.compress(data, 6)
    version = "".join(x if x.isalnum() else "_" for x in _probe.version)
    return Package(f"_{PACKAGE}_{version}_{digest.hexdigest()[:16]}", files)


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


def _why_not() -> str:
    """Why the worker part may not be sent; empty: it may."""
    import dask

    if dask.config.get(SETTING, True) in (False, "false", "no", "off", 0):
        return f"roastcoffea is not installed there, and {SETTING} forbids to send it"
    return ""


def worker_payload(mark: str) -> dict[str, Any]:
    """The payload of the worker plugin for a run with this mark."""
    from distributed import WorkerPlugin

    from roastcoffea.dask import worker

    payload: dict[str, Any] = {
        "mark": mark,
        "run_id": RUN_ID,
        "client": _probe.process_id(),
        "name_key": _probe.name_key(),
        "frame_version": _probe.frame_version,
        "protocol": worker.PROTOCOL,
        "files": None,
        "nothing": WorkerPlugin(),  # for another version of Python
    }
    if why := _why_not():
        return payload | {"why_not": why}
    try:
        sent = package()
    except (OSError, ImportError) as error:
        why = f"roastcoffea is not installed there, and cannot be sent: {error}"
        return payload | {"why_not": why}
    _setup.ships_as(sent.name)
    return payload | {"name": sent.name, "files": sent.files}


def worker_plugin(mark: str) -> bytes:
    """The pickled worker plugin, for Dask's scheduler."""
    from roastcoffea.dask.worker_plugin import Plugin

    plugin = ByValue(Plugin, otherwise="nothing")
    return pickle.dumps(Call(plugin, worker_payload(mark)))


def scheduler_payload(
    mark: str, client: str, interval: float | None, worker_plugin: bytes | None = None
) -> dict[str, Any]:
    """The payload of the scheduler plugin, for a run of the client with this id. Its
    token is needed to pull and to stop; workers do not get it."""
    from roastcoffea import _core
    from roastcoffea.dask.worker_plugin import leave

    return {
        "mark": mark,
        "token": secrets.token_hex(16),
        "items": _core.batch_items(),
        "rules": _core.batch_rules(),
        "series": _core.series_names(),
        "interval": interval,
        "client": client,
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "worker_plugin": worker_plugin,
        "leave_function": pickle.dumps(ByValue(leave, otherwise="another Python")),
    }


def scheduler_plugin(payload: dict[str, Any]) -> bytes:
    """The pickled plugin, for Scheduler.register_scheduler_plugin()."""
    from roastcoffea.dask.scheduler_plugin import Plugin

    return pickle.dumps(Call(ByValue(Plugin, otherwise=OTHER_PYTHON), payload))


class Installation:
    """Installs the plugin of one run on a scheduler, once or again.

    A scheduler removes it after a minute without a pull, and loses it in a restart.
    Then the same plugin is sent again. Everything but :meth:`make` runs on the client's
    event loop. ``note`` takes errors.
    """

    def __init__(
        self, client: Any, mark: str, note: Callable[[str, BaseException], None]
    ) -> None:
        self.client = client
        self.mark = mark
        self.token = ""
        self.is_there = False  # True after it was installed once
        self._note = note
        self._plugin = b""
        self._again: asyncio.Task[None] | None = None
        self._failed_again = False

    def make(self, interval_s: float, is_new: bool) -> None:
        """Build it; ``is_new``: the workers of the cluster have joined just now."""
        payload = scheduler_payload(
            self.mark, self.client.id, interval_s, worker_plugin(self.mark)
        )
        payload["workers_since"] = None if is_new else math.nan
        self.token = payload["token"]
        self._plugin = scheduler_plugin(payload)

    async def begin(self) -> bool:
        """Send it; False: it is not installed."""
        try:
            await self.send(False)
        except OSError as error:  # it may be installed: the next pull shows
            self._note(START, error)
        except Exception as error:
            self._note(START, error)
            return False
        else:
            self.is_there = True
        return True

    async def begin_again(self, wait_s: float) -> None:
        """Send it again, unless that is being done."""
        if self._again is None or self._again.done():
            self._again = asyncio.create_task(self._send_again())
        await asyncio.wait({self._again}, timeout=wait_s)

    async def _send_again(self) -> None:
        try:
            await self.send(True)
            self.is_there = True
        except Exception as error:
            if not self._failed_again:  # noted once, though tried until the end
                self._note(AGAIN, error)
            self._failed_again = True

    async def send(self, again: bool) -> None:
        await self.client.scheduler.register_scheduler_plugin(
            plugin=self._plugin, name=self.mark, idempotent=again
        )

    async def end(self) -> None:
        """Nothing is sent after this."""
        if self._again is not None:
            await asyncio.wait({self._again})
        self._plugin = b""  # megabytes, with the files of the worker part
