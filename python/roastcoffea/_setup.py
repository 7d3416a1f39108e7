# SPDX-License-Identifier: BSD-3-Clause
"""Connects the C probe with its Python parts and the environment, once, at import.

The C library never reads the environment; this does:

``ROASTCOFFEA=off``         everything is a no-op (also 0, no, false)
``ROASTCOFFEA_HOT_LINES=off``  no lines of user code are sampled
``ROASTCOFFEA_PEAK=exact``  reset the kernel's high-water mark of memory at each chunk,
                            so that every peak is exact; other code in the process that
                            reads the mark (``ru_maxrss``) sees it reset

The files that a worker needs use relative imports only: a collector may have sent them
there as a package of another name.
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
# The attribute with the object that pickles refer to, in a tuple.
KEY = f"_roastcoffea frames {_probe.frame_version}"

_find = ByValue(_standin.find, otherwise="nothing")
_private = HERE  # name of the copy on workers


class Needs:
    """The argument of _standin.find() for a module, made when it is pickled."""

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
    """The package; code with ``roastcoffea.track_time`` in it unpickles where the
    package is not installed."""

    def __reduce__(self) -> Any:
        return _find, (Needs(""),)


def is_shipped() -> bool:
    """Whether this is a copy that a collector sent to a worker."""
    return HERE != PUBLIC


def make_absent(name: str, error: ImportError) -> Callable[..., Any]:
    """A placeholder for a name that only a collecting process needs."""

    def absent(*args: Any, **kwargs: Any) -> Any:
        raise ImportError(f"roastcoffea.{name} is not on this worker: {error}")

    return absent


def _is(variable: str, *values: str) -> bool:
    return os.environ.get(variable, "").strip().lower() in values


def is_switched_off(what: str = "ROASTCOFFEA") -> bool:
    """Whether the user has switched the monitor, or a part, off in this process."""
    return _is(what, "off", "0", "no", "false")


def _work_function(function: Any, token: Any) -> Any:
    """Rebuilds a pickled work function; the module is imported on the first chunk."""
    from .coffea.work_function import WorkFunction

    return WorkFunction(function, token)


def ships_as(name: str) -> None:
    """Objects that are pickled from now on look for a copy of this name first."""
    global _private
    _private = name


def install() -> None:
    """Configure the probe."""
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
    vars(_probe)[KEY] = (_probe.user_functions,)
