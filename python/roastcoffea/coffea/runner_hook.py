# SPDX-License-Identifier: BSD-3-Clause
"""The wrapper on ``coffea.processor.Runner.run``, there while a collector is entered.

Importing us patches nothing. The first collector that is entered puts the wrapper on
the class, the last one that leaves takes it off again, and what was there before is
there again, the identical object. If another tool has put its own wrapper on top
meanwhile, ours stays below it as a plain pass-through.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, Protocol

_lock = threading.RLock()
_active: list[Watcher] = []
_installed: tuple[type, Any, Any] | None = None  # class, original, wrapper


class Watcher(Protocol):
    """A collector, as far as the wrapper knows it."""

    thread: int

    def wants(self, runner: Any) -> bool: ...

    def is_for(self, runner: Any) -> bool: ...


Begin = Callable[[list[Any], Any, tuple[Any, ...], dict[str, Any]], Any]


def install(watcher: Watcher, begin: Begin) -> str | None:
    """Watch the runs that belong to ``watcher``; the reason when that cannot be."""
    with _lock:
        why = None if _installed else _patch(begin)
        _active.append(watcher)
        return why


def remove(watcher: Watcher) -> None:
    """Stop watching for it; the last one takes the wrapper off."""
    with _lock:
        if watcher in _active:
            _active.remove(watcher)
        if not _active:
            _restore()


def _patch(begin: Begin) -> str | None:
    global _installed
    try:
        from coffea.processor import Runner
    except Exception as error:
        return f"coffea cannot be imported: {error}"
    original = Runner.__dict__.get("run")
    if not callable(original):
        return "this coffea has no Runner.run"
    wrapper = _wrap(original, begin)
    Runner.run = wrapper
    _installed = (Runner, original, wrapper)
    return None


def _restore() -> None:
    global _installed
    if _installed is None:
        return
    runner, original, wrapper = _installed
    if runner.__dict__.get("run") is wrapper:
        runner.run = original  # type: ignore[attr-defined]
    _installed = None


def _forget() -> None:
    """A forked child is outside of every block: its parent reports."""
    global _lock
    _lock = threading.RLock()  # another thread may have held it
    _active.clear()
    _restore()


os.register_at_fork(after_in_child=_forget)


def _wrap(original: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    @functools.wraps(original)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        ours = _installed is not None and _installed[2] is run  # or buried by others
        watchers = _watchers_of(self) if ours else []
        call = begin(watchers, self, args, kwargs) if watchers else None
        if call is None:
            return original(self, *args, **kwargs)
        try:
            result = original(call.runner, *args, **kwargs)
        except BaseException as error:
            call.failed(error)
            raise
        else:
            return call.finished(result)
        finally:
            call.restore()  # Ctrl-C may have kept them from it

    return run


def _watchers_of(runner: Any) -> list[Watcher]:
    """Who a run belongs to, the innermost collector last.

    Those that were given this very executor, runner or client, and those of the same
    thread that were given nothing. When there is none, the innermost of the
    thread: what runs inside a block belongs to it.
    """
    me = threading.get_ident()
    with _lock:
        active = list(_active)
    found = [
        w for w in active if w.is_for(runner) or (w.thread == me and w.wants(runner))
    ]
    return found or [w for w in active if w.thread == me][-1:]
