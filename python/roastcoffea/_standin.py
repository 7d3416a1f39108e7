# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins for pickled code, for machines where the package is not installed.

``_probe.user_functions`` and the package itself pickle as a call of :func:`find`, by
value. When it is unpickled, that returns the real object: of the copy that a collector
sent to this worker, or of the installed package if it has our frame version. Otherwise
it returns a stand-in that does nothing. So this file imports the standard library only.
"""

from __future__ import annotations

import sys
import threading
from importlib.util import find_spec
from typing import Any

PUBLIC = "roastcoffea"
IMPORTER = "roastcoffea import"  # name of the worker plugin's importing thread


class Nothing:
    """A context that does nothing."""

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


def unchanged(func: Any) -> Any:
    return func


def nothing(*args: object, **kwargs: object) -> Nothing:
    return Nothing()


def run(func: Any, args: Any, kwargs: Any, is_method: bool) -> Any:
    return func(*args, **(kwargs or {}))


def plain_work(function: Any, token: Any) -> Any:
    return function


def has_switch(processor: object) -> bool:
    return False


def no_chunk(processor: object) -> Any:
    raise AttributeError("no chunk is measured: roastcoffea is not installed here")


def forget(name: object, value: object) -> None:
    return None


ACTIONS: dict[str, Any] = {
    "track_metrics": unchanged,
    "track_time": nothing,
    "track_section": nothing,
    "track_memory": nothing,
    "track_bytes": nothing,
    "run": run,
    "run_unswitched": run,
    "work_function": plain_work,
    "has_switch": has_switch,
    "current_chunk": no_chunk,
    "record_metric": forget,
}


class Name:
    """One public name. Where the package is installed it unpickles as the real one."""

    def __init__(self, owner: Standin, name: str) -> None:
        self.owner = owner
        self.name = name
        self.action = ACTIONS[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.action(*args, **kwargs)

    def __reduce__(self) -> Any:
        return getattr, (self.owner, self.name)


class Standin:
    """Replaces ``_probe.user_functions`` or the package: every name does nothing.

    Pickles as the call of :func:`find` that it came from."""

    def __init__(self, find: Any, needs: dict[str, Any]) -> None:
        self._found_by = find, (needs,)
        for action in ACTIONS:
            setattr(self, action, Name(self, action))

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> Any:
        return self._found_by


def may_be_ours() -> bool:
    """Whether the installed package of our name has a probe; another one is not
    imported."""
    if PUBLIC in sys.modules:
        return True
    package = find_spec(PUBLIC)
    where = package.submodule_search_locations if package else None
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_spec")]
    probe = PUBLIC + "._probe"
    return bool(where) and any(finder.find_spec(probe, where) for finder in finders)


def find(needs: dict[str, Any]) -> Any:
    """The object of one of our modules under ``key``, else a stand-in.

    Called for each chunk, on the event loop of a worker: loaded modules are tried
    first, and an import by another thread is not awaited."""
    key = needs["key"]
    for name in needs["modules"]:
        found = getattr(sys.modules.get(name), "__dict__", {}).get(key)
        if found:
            return found[0]
    try:
        is_importing = any(each.name == IMPORTER for each in threading.enumerate())
        if not is_importing and may_be_ours():
            __import__(PUBLIC + "._probe")
            found = vars(sys.modules[needs["modules"][-1]]).get(key)
            if found:
                return found[0]
    except Exception:
        pass
    import cloudpickle

    return cloudpickle.loads(needs["standin"])(find, needs)
