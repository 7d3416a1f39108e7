# SPDX-License-Identifier: BSD-3-Clause
"""What the plugin on a worker of Dask begins and ends there: the runs that it knows,
and decorated functions in tasks that no Runner made.

Such a function asks nobody while no run is known. Everything that is needed until the
end is imported here and now: a copy of the package that was sent to a worker is no
longer to be found when the last chunks end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .. import _probe
from .._setup import is_switched_off
from . import hooks
from .dask_outbox import outbox
from .dask_task import Known, forget, gate, known_at, place_of_known, runs
from .guard import guarded
from .packing import packing
from .work_function import WorkFunction, receivers
from .work_item import item_of

LANGUAGE = 1  # between this and the plugin; one of another language brings its own copy
NANOEVENTS = "coffea.nanoevents.factory"


def begin(mark: str, worker: Any, run_id: bytes, client: int) -> str:
    """A worker knows a run; else the reason why not."""
    if is_switched_off():
        return "roastcoffea is switched off there (ROASTCOFFEA=off)"
    if not _probe.status()["enabled"]:
        if runs:
            return "the monitor gave up there, in a run that still goes on"
        _probe.configure(enabled=True)  # it gave up in an earlier run
    runs.setdefault(mark, {})[worker] = Known(run_id, client)
    _probe.configure(work=WorkFunction)
    _probe.ambient_ask(call)
    return ""


def end(mark: str, worker: Any, kept_bytes: int = 0) -> tuple[list[Any], int]:
    """It forgets it; the last one takes along what is still in place. Gives what is to
    be told to the run and has not been sent, and how much could not be; with kept_bytes
    also what went with results that came to nothing, as far as it fits."""
    guarded(END, packing.flush)
    with gate.lock:  # whoever sends at this moment has sent, or will not any more
        known = forget(mark, worker)
        if not runs:
            _leave()
        unsent = outbox.take(mark, worker)
    kept, unkept = known.given(kept_bytes) if known and kept_bytes else ([], 0)
    return kept + unsent, unkept + (known.lost if known else 0)


def _leave() -> None:
    """No run is known here any more."""
    _probe.ambient_ask(None)
    if not receivers:  # nor does a collector of this process need them
        packing.clear()
        hooks.clear()


Tell = Callable[[bytes | None], Any]
HOOKS, BEGIN, END = "hooks of a call", "begin of a call", "end of a call"


def call(func: Any, args: Any, kwargs: Any, is_method: bool) -> Any:
    """A decorated function whose switch says nothing: a chunk, if its task is of a run.

    What ``_probe`` asks about it."""
    place = place_of_known()
    known = known_at(place.marks[0], place.worker) if place else None
    if place is None or known is None:
        return func(*args, **(kwargs or {}))
    tell = place.tell if place.begun_ago_s else outbox.bound(place)
    item = guarded("item of a call", _item, args, kwargs) or item_of(())
    user = object()
    try:  # whatever happens, what has begun is ended
        guarded(BEGIN, _begin, tell, known, (*item, place.address, 0.0))
        try:
            if NANOEVENTS in sys.modules:  # else there is nothing to look into
                guarded(HOOKS, hooks.arm, user, (), False)
            result = _probe.front.run(func, args, kwargs, is_method)
        finally:
            guarded(HOOKS, hooks.disarm, user)
    except BaseException as error:
        guarded(END, _end, tell, known, error)
        raise
    guarded(END, _end, tell, known, None)
    guarded(END, place.tell_trouble)
    return result


def _begin(tell: Tell, known: Known, item: tuple[Any, ...]) -> None:
    tell(_probe.attempt_begin(known.run_id, known.client, (), item))


def _end(tell: Tell, known: Known, error: BaseException | None) -> None:
    tell(_probe.attempt_end(known.client, (), error))


def _item(args: tuple[Any, ...], kwargs: Any) -> tuple[Any, ...]:
    """What a WorkItem among the arguments says."""
    values = (*args, *(kwargs or {}).values())
    return item_of(tuple(value for value in values if _is_item(value)))


def _is_item(value: Any) -> bool:
    try:
        return "entrystart" in getattr(type(value), "__dataclass_fields__", ())
    except Exception:  # a metaclass that answers to anything: no WorkItem has one
        return False
