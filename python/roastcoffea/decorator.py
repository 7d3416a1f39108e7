# SPDX-License-Identifier: BSD-3-Clause
"""``@track_metrics``: the thin Python function around a user's process().

A Python function, not a C callable: that is fastest when the switch is off, and pickles
by reference like any other function. It only reads the switch. The default is
``user_functions``, which is true while a Dask task may assign the call to a run. It
refers to ``user_functions`` and the user's function only, so it also pickles by value
for machines without the package.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ._probe import user_functions

F = TypeVar("F", bound=Callable[..., Any])

_VARARGS, _VARKEYWORDS = 0x04, 0x08  # co_flags; inspect is slow to import

track_metrics = user_functions.track_metrics


def decorate(func: F) -> F:
    """The measured form of ``process(self, events)`` or of ``f(events)``."""
    if isinstance(func, (staticmethod, classmethod)):
        return type(func)(decorate(func.__func__))
    if _is_open(func):
        return _decorate_open(func)
    return _decorate_method(func) if _is_method(func) else _decorate_function(func)


def _is_method(func: Callable[..., Any]) -> bool:
    """Whether ``func`` takes self and events, not events alone.

    It is a method if it is defined in a class and does not take one argument, as a
    staticmethod does, or if its first argument is called self or cls.
    """
    code = func.__code__
    names = code.co_varnames[: code.co_argcount]
    owner = func.__qualname__.rpartition(".")[0]
    in_class = bool(owner) and not owner.endswith("<locals>")
    return names[0] in ("self", "cls") or (in_class and len(names) != 1)


def _is_open(func: Callable[..., Any]) -> bool:
    """Whether its arguments are unknown: ``*args``, or no Python function."""
    code = getattr(func, "__code__", None)
    return code is None or not code.co_argcount


def _decorate_method(func: F) -> F:
    probe = user_functions  # in the closure, so that it is pickled with the function

    @functools.wraps(func)
    def process(self, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        try:
            on = getattr(self, "_roastcoffea_collect_metrics", probe)
        except Exception:  # a __getattr__ of the user's may raise anything
            if probe.has_switch(self):  # a handler of a signal has raised it
                raise
            on = False
        if on:
            run = probe.run_unswitched if on is probe else probe.run
            return run(func, (self, *args), kwargs, True)
        return func(self, *args, **kwargs)

    @functools.wraps(func)
    def process_plain(self, events):  # type: ignore[no-untyped-def]
        try:
            on = getattr(self, "_roastcoffea_collect_metrics", probe)
        except Exception:
            if probe.has_switch(self):
                raise
            on = False
        if on:
            run = probe.run_unswitched if on is probe else probe.run
            return run(func, (self, events), None, True)
        return func(self, events)

    return process_plain if _is_plain(func) else process  # type: ignore[return-value]


def _is_plain(func: Callable[..., Any]) -> bool:
    """Exactly ``(self, events)``: without packing arguments, off costs half."""
    code = func.__code__
    return (
        code.co_varnames[: code.co_argcount] == ("self", "events")
        and not func.__defaults__
        and not code.co_kwonlyargcount
        and not code.co_flags & (_VARARGS | _VARKEYWORDS)
    )


def _decorate_function(func: F) -> F:
    probe = user_functions

    @functools.wraps(func)
    def process(*args, **kwargs):  # type: ignore[no-untyped-def]
        on = process._roastcoffea_collect_metrics  # type: ignore[attr-defined]
        if on:
            run = probe.run_unswitched if on is probe else probe.run
            return run(func, args, kwargs, False)
        return func(*args, **kwargs)

    process._roastcoffea_collect_metrics = probe  # type: ignore[attr-defined]
    return process  # type: ignore[return-value]


def _decorate_open(func: F) -> F:
    """Either switch turns it on: the function's own, or its first argument's."""
    probe = user_functions

    @functools.wraps(func)
    def process(*args, **kwargs):  # type: ignore[no-untyped-def]
        own = process._roastcoffea_collect_metrics  # type: ignore[attr-defined]
        if own and own is not probe:
            return probe.run(func, args, kwargs, False)
        on: Any = probe
        try:
            if args:
                on = getattr(args[0], "_roastcoffea_collect_metrics", probe)
        except Exception:
            if probe.has_switch(args[0]):
                raise
            on = False
        if on is True:
            return probe.run(func, args, kwargs, True)
        if own and on is probe:
            has_self = len(args) > 1 and hasattr(type(args[0]), "process")
            return probe.run_unswitched(func, args, kwargs, has_self)
        return func(*args, **kwargs)

    process._roastcoffea_collect_metrics = probe  # type: ignore[attr-defined]
    return process  # type: ignore[return-value]
