# SPDX-License-Identifier: BSD-3-Clause
"""The runs of a worker's process, which the worker plugin begins and ends: decorated
functions in tasks that no Runner made, and the public name of a copy of the package.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

from .. import _probe
from .._setup import HERE, is_shipped, is_switched_off
from ..coffea import hooks
from ..coffea.guard import guarded
from ..coffea.packing import packing
from ..coffea.work_function import WorkFunction, receivers
from ..coffea.work_item import item_of
from .task import WorkerRun, forget, gate, outbox, place_by_annotation, run_at, runs

PROTOCOL = 2  # between this and the plugin; another version brings its own copy
PUBLIC_NAMES = ("roastcoffea", "coffea_metrics")
NANOEVENTS = "coffea.nanoevents.factory"


def begin(
    mark: str,
    worker: Any,
    run_id: bytes,
    client: int,
    free: Iterable[str] = (),
    name_key: bytes = b"",
) -> str:
    """Begin a run on a worker; the reason if that is impossible.

    ``free`` is the result of free_names(), which may take long."""
    if is_switched_off():
        return "roastcoffea is switched off there (ROASTCOFFEA=off)"
    with gate:
        if not _probe.status()["enabled"]:
            if runs:
                return "the monitor gave up there, in a run that still goes on"
            _probe.configure(enabled=True)  # switched off by errors of an earlier run
        runs.setdefault(mark, {})[worker] = WorkerRun(run_id, client, name_key)
        if is_shipped():
            _put_aliases(free)
    _probe.configure(work=WorkFunction)
    _probe.set_unswitched_call(call)
    return ""


def end(mark: str, worker: Any, kept_bytes: int = 0) -> tuple[list[Any], int]:
    """End a run on a worker; the last run of the process removes all hooks.

    Returns the unsent messages of the run and the number of lost ones; with kept_bytes
    also frames that were sent with results, as far as they fit."""
    guarded("end frames that wait", packing.flush)
    with gate:
        run = forget(mark, worker)
        if not runs:
            _probe.set_unswitched_call(None)
            _remove_aliases()
            if not receivers:  # a collector of this process needs them
                packing.clear()
                hooks.clear()
        unsent = outbox.take(mark, worker)
    kept, unkept = run.take_kept(kept_bytes) if run and kept_bytes else ([], 0)
    return kept + unsent, unkept + (run.lost if run else 0)


# ---- the public name of a copy -------------------------------------------------------


def free_names() -> list[str]:
    """The public names that no installed package has."""
    free = []
    for name in PUBLIC_NAMES if is_shipped() else ():
        with contextlib.suppress(Exception):
            if name not in sys.modules and find_spec(name) is None:
                free.append(name)
    return free


def _put_aliases(free: Iterable[str]) -> None:
    """Register the copy under free names, with its modules: importing one of them would
    load it twice."""
    for name in free:
        if name not in sys.modules:
            sys.modules[name] = sys.modules[HERE]
    if sys.modules.get(PUBLIC_NAMES[0]) is sys.modules[HERE]:
        for key, module in list(sys.modules.items()):
            if key.startswith(HERE + "."):
                sys.modules[PUBLIC_NAMES[0] + key[len(HERE) :]] = module


def _remove_aliases() -> None:
    if not is_shipped():
        return
    everything = list(sys.modules.items())
    copy = [key for key in sys.modules if key == HERE or key.startswith(HERE + ".")]
    ours = {id(sys.modules[key]) for key in copy}
    for key, module in everything:
        if id(module) in ours and key not in copy:
            sys.modules.pop(key, None)


# ---- decorated functions in tasks that no Runner made --------------------------------


Send = Callable[[bytes | None], Any]
HOOKS, BEGIN, END = "hooks of a call", "begin of a call", "end of a call"


def call(func: Any, args: Any, kwargs: Any, is_method: bool) -> Any:
    """Called by ``_probe`` for a decorated function whose switch is unset: a chunk, if
    the task belongs to a run."""
    place = place_by_annotation()
    run = run_at(place.marks[0], place.worker) if place else None
    if place is None or run is None:
        return func(*args, **(kwargs or {}))
    send = place.send if place.begun_ago_s else outbox.bound(place)
    item = guarded("item of a call", _item, args, kwargs) or item_of(())
    user = object()
    try:  # what has begun is ended in any case
        guarded(BEGIN, _begin, send, run, (*item, place.address, 0.0))
        try:
            if NANOEVENTS in sys.modules:  # else there is nothing to hook
                guarded(HOOKS, hooks.arm, user, (), False)
            result = _probe.user_functions.run(func, args, kwargs, is_method)
        finally:
            guarded(HOOKS, hooks.disarm, user)
    except BaseException as error:
        guarded(END, _end, send, run, error)
        raise
    guarded(END, _end, send, run, None)
    guarded(END, place.report_disarmed)
    return result


def _begin(send: Send, run: WorkerRun, item: tuple[Any, ...]) -> None:
    send(_probe.attempt_begin(run.run_id, run.client, (), item, False, run.name_key))


def _end(send: Send, run: WorkerRun, error: BaseException | None) -> None:
    send(_probe.attempt_end(run.client, (), error))


def _item(args: tuple[Any, ...], kwargs: Any) -> tuple[Any, ...]:
    """The fields of a WorkItem among the arguments."""
    values = (*args, *(kwargs or {}).values())
    return item_of(tuple(value for value in values if _is_item(value)))


def _is_item(value: Any) -> bool:
    try:
        return "entrystart" in getattr(type(value), "__dataclass_fields__", ())
    except Exception:  # a strange metaclass: not a WorkItem
        return False
