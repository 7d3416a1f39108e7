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
from ._by_value import ByValue, dumps_by_value
from .coffea import uproot_source

PUBLIC = "roastcoffea"
HERE = __name__.rpartition(".")[0]
# Where modules have, in a tuple, what is pickled for this version of frames.
KEY = f"_roastcoffea frames {_probe.frame_version}"

_find = ByValue(_standin.find, otherwise="nothing")
_private = HERE  # of the copy that workers have


class Needs:
    """What _standin.find() takes for a module of ours, made when it is pickled."""

    def __init__(self, module: str) -> None:
        self.module = module  # in the package: "._probe", or "" for itself

    def __reduce__(self) -> Any:
        needs = {
            "key": KEY,
            "modules": [_private + self.module, PUBLIC + self.module],
            "standin": dumps_by_value(_standin.Standin),
            "nothing": None,
        }
        return dict, (needs,)


class _Package(ModuleType):
    """The package, pickled so that code with ``roastcoffea.track_time`` in it runs
    where the package is not installed."""

    def __reduce__(self) -> Any:
        return _find, (Needs(""),)


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


def _work_function(function: Any, token: Any) -> Any:
    """Rebuilds a pickled work function; imported on the first chunk, not with us."""
    from .coffea.work_function import WorkFunction

    return WorkFunction(function, token)


def ships_as(name: str) -> None:
    """What is pickled from now on looks for a copy of this name first."""
    global _private
    _private = name


def install() -> None:
    """Configure the probe: who decorates, who counts bytes, and what is switched on."""
    _probe.configure(
        enabled=not is_switched_off(),
        exact_peak=_is("ROASTCOFFEA_PEAK", "exact"),
        decorate=decorator.decorate,
        byte_source=uproot_source.byte_source,
        work=_work_function,
        stub=(_find, (Needs("._probe"),)),
    )
    package = sys.modules[HERE]
    package.__class__ = _Package
    vars(package)[KEY] = (package,)
    vars(_probe)[KEY] = (_probe.front,)
