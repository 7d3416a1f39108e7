# SPDX-License-Identifier: BSD-3-Clause
"""The wrapper on ``coffea.processor.Runner.run``, while a collector is entered.

Importing the package patches nothing. The first collector that is entered installs the
wrapper, the last one that leaves restores the identical original. If another tool has
wrapped ours meanwhile, ours stays and only calls the original.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, Protocol

from .. import _probe

_lock = threading.RLock()
_active: list[Watcher] = []
_installed: tuple[type, Any, Any] | None = None  # class, original, wrapper


class Watcher(Protocol):
    """What the wrapper needs of a collector."""

    thread: int

    def wants(self, runner: Any) -> bool: ...

    def is_for(self, runner: Any) -> bool: ...


Begin = Callable[[list[Any], tuple[Any, ...], dict[str, Any], list[Any]], Any]


def install(watcher: Watcher, begin: Begin) -> str | None:
    """Watch the calls that belong to ``watcher``; the reason if that is impossible."""
    with _lock:
        why = None if _installed else _patch(begin)
        _active.append(watcher)
        return why


def remove(watcher: Watcher) -> None:
    """Stop watching; the last one removes the wrapper."""
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
    _installed = (Runner, original, wrapper)
    Runner.run = wrapper
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
    """In a forked child: its parent reports."""
    global _lock
    _lock = threading.RLock()  # another thread may have held it
    _active.clear()
    _restore()


os.register_at_fork(after_in_child=_forget)


@_probe.frameless_call
class _Measured:
    """A call of the original; what belongs to its collectors is around it."""

    def __init__(self, original: Callable[..., Any], begin: Begin) -> None:
        self.function = original
        self.begin = begin

    __call__: Callable[..., Any]  # before_call(), the function, after_call(); from C

    def before_call(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], undo: list[Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], Any]:
        watchers = _watchers_of(args[0])
        call = self.begin(watchers, args, kwargs, undo) if watchers else None
        if call is None:
            return self.function, args, kwargs, None
        return self.function, (call.runner, *call.args), call.kwargs, call

    def after_call(self, call: Any, result: Any, error: BaseException | None) -> Any:
        if call is None:
            return result
        try:
            return call.finished(result) if error is None else call.failed(error)
        finally:
            call.restore()

    def note_error(self, error: Exception) -> None:
        """Count an error around the call."""
        _probe.note_error("around Runner.run", error)


def _wrap(original: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    measured = _Measured(original, begin)

    @functools.wraps(original)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        ours = _installed is not None and _installed[2] is run  # else wrapped by others
        return (measured if ours else original)(self, *args, **kwargs)

    return run


def _watchers_of(runner: Any) -> list[Watcher]:
    """The collectors that a call belongs to, the innermost last.

    Those that were given this executor, runner or client, and those of the same thread
    that were given nothing. If there is none, the innermost of the thread.
    """
    me = threading.get_ident()
    with _lock:
        active = list(_active)
    found = [
        w for w in active if w.is_for(runner) or (w.thread == me and w.wants(runner))
    ]
    return found or [w for w in active if w.thread == me][-1:]
