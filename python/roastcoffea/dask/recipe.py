# SPDX-License-Identifier: BSD-3-Clause
"""What is sent to a scheduler, made from our own source files.

Modules that travel together import each other with `from .name import ...`; the source
of such a module stands in place of that statement. So they are modules like any others
here, and one text there. No two of them give different things the same name.
"""

from __future__ import annotations

import functools
import marshal
import re
from importlib import import_module
from importlib.util import MAGIC_NUMBER, resolve_name
from inspect import getsource
from types import ModuleType
from typing import Any

from roastcoffea.dask.shipped import EXPRESSION, Shipped

__all__ = [
    "EXPRESSION",
    "Shipped",
    "parts_of",
    "scheduler_payload",
    "scheduler_plugin",
    "source_of",
]

RELATIVE = re.compile(r"^from (\.+\w+) import (?:\([^)]*\)|.*)\n", re.MULTILINE)
FUTURE = "from __future__ import annotations\n"


def source_of(module: ModuleType) -> str:
    """The source of a module with that of the modules beside it that it needs."""
    seen: set[str] = set()

    def spliced(name: str) -> str:
        if name in seen:
            return ""
        seen.add(name)
        text = getsource(import_module(name)).replace(FUTURE, "")
        near = name.rpartition(".")[0]
        return RELATIVE.sub(lambda found: spliced(resolve_name(found[1], near)), text)

    return FUTURE + spliced(module.__name__)


@functools.cache
def parts_of(module: ModuleType) -> dict[str, Any]:
    """The source of a module and its bytecode, as Shipped takes them."""
    source = source_of(module)
    code = marshal.dumps(compile(source, "<roastcoffea>", "exec"))
    return {"source": source, "code": code, "magic": MAGIC_NUMBER}


def scheduler_payload(
    mark: str, client: str, interval: float | None, worker_plugin: bytes | None = None
) -> dict[str, Any]:
    """What scheduler_part.make() takes, for a run of the client with this id."""
    from roastcoffea import _core
    from roastcoffea.dask import farewell

    return {
        "mark": mark,
        "items": _core.batch_items(),
        "rules": _core.batch_rules(),
        "series": _core.series_names(),
        "interval": interval,
        "client": client,
        "worker_plugin": worker_plugin,
        "farewell": parts_of(farewell),
    }


def scheduler_plugin(
    mark: str,
    client: str,
    interval: float | None,
    worker_plugin: bytes | None = None,
    **more: Any,
) -> bytes:
    """What Scheduler.register_scheduler_plugin takes; ``more`` goes to its payload."""
    from distributed.protocol.pickle import dumps

    from roastcoffea.dask import scheduler_part

    payload = scheduler_payload(mark, client, interval, worker_plugin) | more
    shipped = Shipped(payload=payload, **parts_of(scheduler_part))
    return bytes(dumps(shipped))  # type: ignore[no-untyped-call]
