# SPDX-License-Identifier: BSD-3-Clause
"""Joins the C probe to its Python parts and to the environment, once, at import.

The library itself never reads the environment; this does:

``ROASTCOFFEA=off``         everything is a no-op (also 0, no, false)
``ROASTCOFFEA_PEAK=exact``  reset the kernel's high-water mark of memory at each chunk,
                            so that every peak is exact; other code in the process that
                            reads the mark (``ru_maxrss``) sees it reset

The files that a worker needs import each other by relative names only: a collector may
have sent them there, where they are a package of another name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import _probe, _standin, decorator
from .adapters import uproot_source

PUBLIC = "roastcoffea"
HERE = __name__.rpartition(".")[0]
KEY = _standin.key_of(_probe.frame_version)


class _Package(ModuleType):
    """The package, pickled so that code which says ``roastcoffea.track_time`` runs
    where it is not installed."""

    def __reduce__(self) -> Any:
        return _recipe("")


_private = HERE if HERE != PUBLIC else "(no copy was sent)"


def is_shipped() -> bool:
    """Whether this is a copy that a collector sent to a worker."""
    return HERE != PUBLIC


def make_absent(name: str, error: ImportError) -> Callable[..., Any]:
    """In place of a name that only a collecting process needs: it can be imported."""

    def absent(*args: Any, **kwargs: Any) -> Any:
        raise ImportError(f"roastcoffea.{name} is not on this worker: {error}")

    return absent


def _is(variable: str, *values: str) -> bool:
    return os.environ.get(variable, "").strip().lower() in values


def is_switched_off() -> bool:
    """Whether the user wants nothing of us in this process."""
    return _is("ROASTCOFFEA", "off", "0", "no", "false")


def _recipe(module: str) -> Any:
    """How to pickle what a module of ours has under KEY: a callable and arguments."""
    get_source = getattr(_standin.__loader__, "get_source", None)
    source = get_source(_standin.__name__) if get_source else None
    if not source:  # installed without sources: there is nothing to send
        source = "def find(ns):\n    raise ImportError('roastcoffea')\n"
    return _standin.recipe(source, _private + module, PUBLIC + module, KEY)


def _work_function(function: Any, token: Any) -> Any:
    """Rebuilds a pickled work function; imported on the first chunk, not with us."""
    from .adapters.work_function import WorkFunction

    return WorkFunction(function, token)


def ships_as(name: str) -> None:
    """What is pickled from now on looks for a copy of this name first."""
    global _private
    if name != _private:
        _private = name
        _probe.configure(stub=_recipe("._probe"))


def install() -> None:
    """Tell the probe who decorates, who counts bytes, and what is switched on."""
    _probe.configure(
        enabled=not is_switched_off(),
        exact_peak=_is("ROASTCOFFEA_PEAK", "exact"),
        decorate=decorator.decorate,
        byte_source=uproot_source.byte_source,
        work=_work_function,
        stub=_recipe("._probe"),
    )
    package = sys.modules[HERE]
    package.__class__ = _Package
    vars(package)[KEY] = (package,)
    vars(_probe)[KEY] = (_probe.front,)
