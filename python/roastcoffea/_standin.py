# SPDX-License-Identifier: BSD-3-Clause
"""What pickled code rebuilds instead of us where the package is not installed.

``_probe.front`` and the package itself pickle as ``eval(expression, globals)``: the
globals carry the text of this very file, so that it needs nothing on the far side and
fits every Python version there. It gives the real thing: the copy that a collector sent
to this worker, or what is installed, if that speaks of frames as we do. Otherwise it is
a stand-in that does nothing: the user's processor runs unmeasured. So this file imports
nothing of ours at its top.
"""

from types import ModuleType
from typing import Any

# What is evaluated, with `recipe` as its globals: the quick ways first, because it
# happens once per chunk on workers, and must not fail there. `key` says which frames we
# speak; under it a module that is whole has what is looked for, and under `kept` the
# class of stand-ins has the one that somebody uses already. Classes know those that
# derive from them only weakly: a stand-in goes with the last code that mentions it, and
# a process that is not ours keeps nothing. The text of this file is compiled only where
# it is needed.
EXPRESSION = (
    "(lambda sys, of: of(sys.modules.get(private), key)"
    " or of(sys.modules.get(module), key)"
    " or next(filter(None, [of(x, kept) for x in type(sys).__subclasses__()]), None)"
    " or (exec(source, globals()), find(globals()))[1])"
    "(__import__('sys'), lambda found, name: getattr(found, '__dict__', {}).get(name))"
    "[0]"
)
PROBE = "roastcoffea._probe"
IMPORTER = "roastcoffea import"  # the thread of a plugin that imports us on a worker


def key_of(version: int) -> str:
    """Where modules have, in a tuple, what is pickled for this version of frames."""
    return f"_roastcoffea frames {version}"


def recipe(source: str, private: str, module: str, key: str) -> Any:
    """How to pickle what a module has under `key`: a callable and its arguments."""
    needs = {"source": source, "private": private, "module": module, "key": key}
    needs |= {"kept": f"{key} in place of {module}"}
    return eval, (EXPRESSION, needs | {"__name__": "roastcoffea_standin"})


class Nothing:
    """A context that does nothing."""

    def __enter__(self) -> "Nothing":
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
    "run_ambient": run,
    "work_function": plain_work,
    "current_chunk": no_chunk,
    "record_metric": forget,
}


class Name:
    """One name users mention. Sent back to where we are, it is the real one again."""

    def __init__(self, owner: "Standin", name: str) -> None:
        self.owner = owner
        self.name = name
        self.action = ACTIONS[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.action(*args, **kwargs)

    def __reduce__(self) -> Any:
        return getattr, (self.owner, self.name)


class Standin(ModuleType):
    """Stands in for ``_probe.front`` or the package: every name, doing nothing."""

    def __init__(self, name: str, needs: tuple[str, ...]) -> None:
        super().__init__(name)
        self.recipe = needs
        for action in ACTIONS:
            setattr(self, action, Name(self, action))

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> Any:
        return recipe(*self.recipe)


def may_be_ours(modules: dict[str, Any]) -> bool:
    """Whether it is worth to import what has our name; another one is not imported."""
    from importlib.util import find_spec
    from sys import meta_path

    if "roastcoffea" in modules:
        return True
    package = find_spec("roastcoffea")
    where = package.submodule_search_locations if package else None
    finders = [finder for finder in meta_path if hasattr(finder, "find_spec")]
    return bool(where) and any(finder.find_spec(PROBE, where) for finder in finders)


def is_awaited() -> bool:
    """Whether somebody imports us here already. Code arrives on the event loop of a
    worker, which waits for no import."""
    from threading import enumerate as threads

    return any(thread.name == IMPORTER for thread in threads())


def find(ns: dict[str, Any]) -> Any:
    """The real thing; the stand-in when there is none, for whatever reason."""
    from sys import modules

    module, key = ns["module"], ns["key"]
    try:
        if not is_awaited() and may_be_ours(modules):
            __import__(PROBE)
            found = vars(__import__(module, fromlist=["front"])).get(key)
            if found:
                return found
    except Exception:
        pass
    standin = Standin(module, (ns["source"], ns["private"], module, key))
    setattr(Standin, ns["kept"], (standin,))
    return (standin,)
