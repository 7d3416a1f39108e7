# SPDX-License-Identifier: BSD-3-Clause
"""Functions pickled by value: they can be unpickled where the package is not installed.

cloudpickle does that while our package is registered with it. Its pickles hold
bytecode, on which another version of Python would crash. So a pickle contains the
version, and another version of Python never loads the bytecode.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import MAGIC_NUMBER
from operator import itemgetter
from typing import Any

from .coffea.guard import ForkSafeLock

_registering = ForkSafeLock()  # cloudpickle's registry is global


class Call:
    """Pickles as a call, which is made when it is unpickled."""

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self.function = function
        self.args = args

    def __reduce__(self) -> Any:
        return self.function, self.args


class ByValue:
    """A function with one argument, pickled by value.

    Another version of Python gets ``itemgetter(otherwise)`` in its place: the call then
    returns that item of the argument, or raises KeyError.
    """

    def __init__(self, function: Callable[..., Any], otherwise: Any) -> None:
        self.function = function
        self.otherwise = otherwise

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __reduce__(self) -> Any:
        import pickle

        import cloudpickle

        version = Call(getattr, Call(import_module, "importlib.util"), "MAGIC_NUMBER")
        known = {MAGIC_NUMBER: dumps_by_value(self.function)}
        other = pickle.dumps(itemgetter(self.otherwise), protocol=4)
        return cloudpickle.loads, (Call(dict.get, known, version, other),)


@functools.cache
def dumps_by_value(function: Any) -> bytes:
    """A function or class for cloudpickle.loads(), with all of this package it uses."""
    import cloudpickle

    package = sys.modules[function.__module__.partition(".")[0]]
    with _registering:
        is_new = package.__name__ not in cloudpickle.list_registry_pickle_by_value()
        if is_new:
            cloudpickle.register_pickle_by_value(package)
        try:
            return bytes(cloudpickle.dumps(function))
        finally:
            if is_new:
                cloudpickle.unregister_pickle_by_value(package)
