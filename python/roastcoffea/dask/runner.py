# SPDX-License-Identifier: BSD-3-Clause
"""A call of ``Runner.run`` whose executor is coffea's ``DaskExecutor``.

Its schedulers are watched, and its tasks marked, in any thread. If the executor has no
client, it or the Runner creates one during the call: so the Runner gets a copy of the
executor that reports when its client is set and closed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roastcoffea import _probe
from roastcoffea.backends.dask import EXECUTORS, is_dask_executor

OnClient = Callable[[Any], None]


class DaskCall:
    """The Dask part of a call; does nothing for other executors."""

    def __init__(
        self, runs: list[Any], runner: Any, before_close: Callable[[], None]
    ) -> None:
        self.runs = runs
        self.before_close = before_close  # of a client that coffea made
        self.executors: list[Any] = [getattr(runner, name, None) for name in EXECUTORS]
        self.is_dask = any(map(is_dask_executor, self.executors))
        self._entered: Any = None
        self._watched: dict[int, Any] = {}  # copies of executors, by the original's id

    def begin(self) -> tuple[str, ...]:
        """Watch the known schedulers and mark this thread; the marks."""
        if not self.is_dask:
            return ()
        from roastcoffea.dask.spans import Entered

        for executor in self.executors:
            if is_dask_executor(executor) and executor.client is not None:
                self.client_set(executor.client, False)
        self._entered = Entered()
        for run in self.runs:
            run.guarded("marks of tasks", self._entered.enter, run.on_dask().marked)
        return tuple(m for run in self.runs for m in run.on_dask().marked.marks)

    def end(self) -> None:
        entered, self._entered = self._entered, None
        if entered is not None:
            entered.leave()

    @_probe.leave
    def client_set(self, client: Any, is_new: bool = True) -> None:
        for run in self.runs:
            run.guarded("start on Dask", run.on_dask().add, client, is_new)

    @_probe.leave
    def client_closes(self, client: Any) -> None:
        self.before_close()
        for run in self.runs:
            run.guarded("end on Dask", run.on_dask().drop, client)

    def replaced(self, executor: Any) -> Any:
        """The executor for the call: itself, or a copy that reports its client. The
        client of one that cannot be copied is not watched."""
        if not is_dask_executor(executor) or executor.client is not None:
            return executor
        if id(executor) not in self._watched:
            try:
                copied = _copied(executor, self.client_set, self.client_closes)
            except Exception as error:
                copied = executor
                for run in self.runs:
                    run.note_error("copy of an executor", error)
            self._watched[id(executor)] = copied
        return self._watched[id(executor)]


def _copied(executor: Any, client_set: OnClient, client_closes: OnClient) -> Any:
    """A copy that reports when its client is set, and before it is unset, when coffea
    closes it. Made without __init__(), which may have any arguments."""
    kind: Any = type(executor)
    if any(vars(base).get("__slots__") for base in kind.__mro__):
        raise TypeError("an executor with slots")

    def get(self: Any) -> Any:
        return vars(self).get("client")

    def put(self: Any, client: Any) -> None:
        before = get(self)
        if before is not None and client is None:
            client_closes(before)
        vars(self)["client"] = client
        if client is not None:
            client_set(client)

    reporting = type(kind.__name__, (kind,), {"client": property(get, put)})
    copied: Any = object.__new__(reporting)
    vars(copied).update(vars(executor))
    return copied
