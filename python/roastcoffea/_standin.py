# SPDX-License-Identifier: BSD-3-Clause
"""What pickled code rebuilds instead of us where the package is not installed.

``_probe.front`` and the package itself pickle as ``eval(expression, globals)``: the
globals carry the text of this very file, so that it needs nothing on the far side and
fits every Python version there. It gives the real thing where that can be imported,
otherwise a stand-in that does nothing: the user's processor runs unmeasured. So this
file imports nothing of ours at its top.
"""

from typing import Any

# What is evaluated, with `recipe` as its globals: the quick ways first, because it
# happens once per chunk on workers. The text of this file is not part of it, so that it
# is compiled only where it is needed.
EXPRESSION = (
    "(lambda found: getattr(found, name, None) if name else found)"
    "(__import__('sys').modules.get(module))"
    " or getattr(__import__('sys').modules.get('roastcoffea_standin:' + module),"
    " 'standin', None)"
    " or (exec(source, globals()), find(source, globals()))[1]"
)


def recipe(source: str, module: str, name: str) -> Any:
    """How to pickle ``module.name`` (or the module): a callable and its arguments."""
    needs = {"source": source, "module": module, "name": name}
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


class Standin:
    """Stands in for ``_probe.front`` or the package: every name, doing nothing."""

    def __init__(self, source: str, module: str, name: str) -> None:
        self.recipe = (source, module, name)
        for action in ACTIONS:
            setattr(self, action, Name(self, action))

    def __reduce__(self) -> Any:
        return recipe(*self.recipe)


def find(source: str, ns: dict[str, Any]) -> Any:
    """The real thing; the stand-in when it cannot be imported, for whatever reason."""
    module, name = ns["module"], ns["name"]
    try:
        found = __import__(module, fromlist=["front"])
        return getattr(found, name) if name else found
    except Exception:
        return keep(Standin(source, module, name), f"roastcoffea_standin:{module}")


def keep(standin: Standin, name: str) -> Standin:
    """For the next chunk: to look for a package that is not there takes long."""
    import sys
    import types

    sys.modules[name] = holder = types.ModuleType(name)
    holder.standin = standin  # type: ignore[attr-defined]
    return standin
