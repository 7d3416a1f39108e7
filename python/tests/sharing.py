# SPDX-License-Identifier: BSD-3-Clause
"""Several processes share the tests: each takes the next file that no other has begun.

tools/pytests.py starts them and names a folder that they have in common. Whole files
are taken, because what is costly in one (a pool, a run) is made once for all its tests.
Files that wait much are taken from one end and those that compute from the other one:
what waits leaves its core to the others, and what is timed has a core. Files that use
one cluster (`shared_client`) come one after another, so that it is started once.
Each process is a plain pytest: pytest-xdist would put a thread and two pipes of its own
into it, and many tests look at the threads, children and forks of their process.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

WAITING = re.compile(r"test_(budget|dask|findings_|selftest)")


class Kept:
    """What takes seconds to start, and serves several files of tests in a row."""

    def __init__(self) -> None:
        self._made: dict[Any, Any] = {}
        self._stack = contextlib.ExitStack()

    def use(self, make: Callable[[], Iterator[Any]]) -> Any:
        """What ``make`` yields; it ends in :meth:`close`."""
        if make not in self._made:
            entered = contextlib.contextmanager(make)()
            self._made[make] = self._stack.enter_context(entered)
        return self._made[make]

    def close(self) -> None:
        self._made.clear()
        self._stack.close()


kept = Kept()


def uses_kept(item: pytest.Item) -> bool:
    """Whether the file of a test uses the cluster that files share."""
    return hasattr(getattr(item, "module", None), "shared_client")


class Share:
    """Leaves out tests in files that another process has begun."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder = folder
        self.number = number
        self.is_mine: dict[str, bool] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Every second process begins at the other end."""
        uses = {item.path.name: uses_kept(item) for item in items}
        names = sorted(uses, key=lambda name: (not WAITING.match(name), not uses[name]))
        if self.number % 2:
            names.reverse()
        place = {name: n for n, name in enumerate(names)}
        items.sort(key=lambda item: place[item.path.name])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """True, which is "done", for the tests of others."""
        name = item.path.name
        if name not in self.is_mine:
            self.is_mine[name] = self.take(name)
        return None if self.is_mine[name] else True

    def take(self, name: str) -> bool:
        try:
            (self.folder / f"{name}.begun").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def join(config: pytest.Config) -> None:
    """Take part, if this is one of several processes."""
    if folder := shared_folder():
        number = int(os.environ.get("ROAST_TESTS_PROCESS", 0))
        config.pluginmanager.register(Share(folder, number))


def shared_folder() -> Path | None:
    """What the processes have in common, if there are several."""
    name = os.environ.get("ROAST_TESTS_SHARED")
    return Path(name) if name else None


def made_once(
    factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], object]
) -> Path:
    """A folder that is filled by the first process to need it; others wait."""
    shared = shared_folder()
    if shared is None:
        folder = factory.mktemp(name)
        fill(folder)
        return folder
    folder, begun = shared / name, shared / f"{name}.part"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            begun.mkdir()
            fill(begun)
            begun.rename(folder)
    return folder
