# SPDX-License-Identifier: BSD-3-Clause
"""The two contexts that assign Dask's tasks to a run.

Dask's span is for its fine metrics. A group of tasks belongs to the first span that
used its name, so an annotation of our own identifies the run of a task. Annotations
belong to a thread: each thread that submits work of the run enters them.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Iterator
from typing import Any

SPAN = "coffea-processing"


def new_mark() -> str:
    """A new name for all objects of a run on a scheduler and its workers."""
    return "roastcoffea-" + secrets.token_hex(8)


class Marked:
    """Marks the tasks of a run, and collects its spans."""

    def __init__(self, mark: str, name: str = SPAN) -> None:
        self.mark = mark
        self.name = name
        self._more_marks: tuple[str, ...] = ()
        self._spans: list[str] = []
        self._lock = threading.Lock()

    @property
    def marks(self) -> tuple[str, ...]:
        return (self.mark, *self._more_marks)

    def add(self, mark: str) -> None:
        """Mark tasks with this mark too, from now on."""
        with self._lock:
            self._more_marks += (mark,)

    @property
    def span_ids(self) -> list[str]:
        """The spans of all threads."""
        with self._lock:
            return list(self._spans)

    @contextlib.contextmanager
    def tasks(self) -> Iterator[None]:
        """Tasks submitted inside belong to the run; nested contexts change nothing."""
        from dask.base import annotate, get_annotations
        from distributed import span

        known = get_annotations()
        missing = {mark: True for mark in self.marks if mark not in known}
        with contextlib.ExitStack() as stack:
            if self.mark in missing:
                span_id = stack.enter_context(span(self.name))
                with self._lock:
                    self._spans.append(span_id)
            if missing:
                stack.enter_context(annotate(**missing))
            yield


class Entered:
    """Contexts of one thread.

    A generator may be closed in another context than it was entered in (notebooks and
    test fixtures do that): then there is nothing to restore.
    """

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()

    def enter(self, marked: Marked) -> None:
        self._stack.enter_context(marked.tasks())

    def leave(self, *exc: Any) -> None:
        with contextlib.suppress(ValueError):  # a contextvar of another context
            self._stack.close()
