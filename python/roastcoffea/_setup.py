# SPDX-License-Identifier: BSD-3-Clause
"""Joins the C probe to its Python parts and to the environment, once, at import.

The library itself never reads the environment; this does:

``ROASTCOFFEA=off``         everything is a no-op (also 0, no, false)
``ROASTCOFFEA_PEAK=exact``  reset the kernel's high-water mark of memory at each chunk,
                            so that every peak is exact; other code in the process that
                            reads the mark (``ru_maxrss``) sees it reset
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from roastcoffea import _probe, _standin, decorator
from roastcoffea.adapters import uproot_source

PACKAGE = "roastcoffea"


class _Package(ModuleType):
    """The package, pickled so that code which says ``roastcoffea.track_time`` runs
    where it is not installed."""

    def __reduce__(self) -> Any:
        return _recipe(self.__name__, "")


def _is(variable: str, *values: str) -> bool:
    return os.environ.get(variable, "").strip().lower() in values


def _recipe(module: str, name: str) -> Any:
    """How to pickle ``module.name``: a callable and its arguments."""
    get_source = getattr(_standin.__loader__, "get_source", None)
    source = get_source(_standin.__name__) if get_source else None
    if not source:  # installed without sources: there is nothing to send
        source = "def find(source, ns):\n    raise ImportError('roastcoffea')\n"
    return _standin.recipe(source, module, name)


def _work_function(function: Any, token: Any) -> Any:
    """Rebuilds a pickled work function; imported on the first chunk, not with us."""
    from roastcoffea.adapters.work_function import WorkFunction

    return WorkFunction(function, token)


def install() -> None:
    """Tell the probe who decorates, who counts bytes, and what is switched on."""
    _probe.configure(
        enabled=not _is("ROASTCOFFEA", "off", "0", "no", "false"),
        exact_peak=_is("ROASTCOFFEA_PEAK", "exact"),
        decorate=decorator.decorate,
        byte_source=uproot_source.byte_source,
        work=_work_function,
        stub=_recipe(_probe.__name__, "front"),
    )
    sys.modules[PACKAGE].__class__ = _Package
