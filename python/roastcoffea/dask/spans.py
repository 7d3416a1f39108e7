# SPDX-License-Identifier: BSD-3-Clause
"""The two contexts that make Dask's tasks those of a run.

Dask's own span is for its fine metrics; a group of tasks belongs to the span that used
its name first, so our own annotation beside it identifies the run of a task.
Annotations belong to a thread: each one that sends work of the run enters them.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Iterator
from typing import Any

SPAN = "coffea-processing"


def new_mark() -> str:
    """The one name of everything of a run on a scheduler and its workers."""
    return "roastcoffea-" + secrets.token_hex(8)


class Marked:
    """Where tasks of a run are sent from, and the spans that this has made."""

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
        """Tasks that are sent from now on have it too."""
        with self._lock:
            self._more_marks += (mark,)

    @property
    def span_ids(self) -> list[str]:
        """Of every thread that was in it."""
        with self._lock:
            return list(self._spans)

    @contextlib.contextmanager
    def tasks(self) -> Iterator[None]:
        """Tasks sent from here belong to the run; once is enough for a thread."""
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
    """Contexts of one thread, left in any case.

    A generator may leave a block in another context than it came from (notebooks and
    fixtures of tests do): nothing is left to be undone there then.
    """

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()

    def enter(self, marked: Marked) -> None:
        self._stack.enter_context(marked.tasks())

    def leave(self, *exc: Any) -> None:
        with contextlib.suppress(ValueError):  # a contextvar of another context
            self._stack.close()
