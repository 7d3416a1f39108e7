# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the hooks share: a look at everything that is hooked while chunks
run, and processors that look at it from inside."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import awkward as ak
import coffea.processor.executor
import pyarrow.parquet  # noqa: F401 - hooked where it is imported
import pytest
from coffea import processor

from roastcoffea import _probe
from roastcoffea.coffea import hook_list, hooks

KIND = type(_probe.hook(hook_list.NUMBER["open"], hook_list.PLAIN, len))
METHOD_KIND = type(_probe.hook(hook_list.NUMBER["events"], hook_list.METHOD, len))


def hooked_objects() -> dict[Any, Any]:
    """What is at each place now."""
    places = [(hooks.owner_of(place), place.attribute) for place in hook_list.PLACES]
    places += [(kind, name) for kind in hooks.sources() for name in ("chunk", "chunks")]
    now = {
        (owner, name): vars(owner)[name]
        for owner, name in places
        if name in vars(owner)
    }
    return now | {"_compress": coffea.processor.executor._compress}


def is_hook(value: Any) -> bool:
    return isinstance(value, KIND | METHOD_KIND)


class Originals:
    """Everything that is hooked, as it was before."""

    def __init__(self) -> None:
        self.before = hooked_objects()
        self.callbacks = list(gc.callbacks)
        assert not any(map(is_hook, self.before.values()))

    def check(self) -> None:
        """Each is the identical object again."""
        now = hooked_objects()
        assert now.keys() == self.before.keys()
        changed = [key for key, was in self.before.items() if now[key] is not was]
        assert not changed
        assert gc.callbacks == self.callbacks


def fresh_hooks(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """For a fixture: hooks that were not looked for yet, in a test and after it."""
    hooks._hooks = hooks.Hooks()
    yield monkeypatch
    monkeypatch.undo()
    hooks._hooks = hooks.Hooks()


@contextmanager
def in_place() -> Iterator[None]:
    """Hooks in place, though no chunk runs."""
    own = hooks.Hooks(())
    own.arm(own)
    try:
        yield
    finally:
        own.disarm(own)


class Looking(processor.ProcessorABC):
    """Sums some columns, and says how many hooks are in place meanwhile."""

    def __init__(self, names: Iterable[str] = ("Hit_value", "event")) -> None:
        self.names = tuple(names)

    def process(self, events: Any) -> Any:
        sums = {name: float(ak.sum(events[name])) for name in self.names}
        placed = sum(map(is_hook, hooked_objects().values()))
        return sums | {"hooks": placed, "collected": len(gc.callbacks)}

    def postprocess(self, accumulator: Any) -> Any:
        return None
