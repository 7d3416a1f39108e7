# SPDX-License-Identifier: BSD-3-Clause
"""Texts, labels and documents of a run.

They are stored as notes of the run in C at once, so that the live file of a killed
process has them. Documents (values that users pass) are JSON, see export/encoding.py.
"""

from __future__ import annotations

import json
from typing import Any

from roastcoffea import _core
from roastcoffea.export.decoding import decode
from roastcoffea.export.encoding import Encoder

MOST_REMARKS = 20
PART = 1000  # items of a NoteList in one note


def printable(text: object) -> str:
    """A user's text without secrets, of characters that have a UTF-8 form."""
    return _core.redact(str(text).encode(errors="replace").decode().replace("\0", "?"))


def check_label(name: object) -> None:
    """ValueError for a name that is too long for a note."""
    size = len(printable(name).encode()) if isinstance(name, str) else 0
    if size > _core.NOTE_NAME_BYTES:
        start = printable(name)[:20]
        raise ValueError(
            f"the label {start!r}... has a name of {size} bytes, at most"
            f" {_core.NOTE_NAME_BYTES}: put the rest into its text"
        )


class RunNotes:
    """The notes of one run; ``core`` is the run in C."""

    def __init__(self, core: _core.Run) -> None:
        self._core = core
        self._documents: dict[str, dict[Any, Any]] = {}
        self._more_remarks = 0  # than are kept
        self._lists: dict[str, NoteList] = {}

    def text(self, name: str) -> str | None:
        """id, processor, executor, failure, why_off, remarks, first_error."""
        return self._core.note("run", name)

    def set_text(self, name: str, text: object) -> None:
        self._core.set_note("run", name, None if text is None else printable(text))

    @property
    def remarks(self) -> list[str]:
        """What is missing in the run and why."""
        return (self.text("remarks") or "").splitlines()

    def add_remark(self, text: str) -> None:
        """One more remark; the last of many is how many more there were."""
        remarks = self.remarks
        if text in remarks:
            return
        if len(remarks) >= MOST_REMARKS:
            self._more_remarks += 1
            del remarks[MOST_REMARKS - 1 :]
            text = f"and {self._more_remarks + 1} more remarks"
        self.set_text("remarks", "\n".join([*remarks, text]))

    @property
    def first_error(self) -> str:
        """The first error of the monitor itself, here or in a worker."""
        return self.text("first_error") or self._core.first_error()

    @property
    def labels(self) -> dict[str, str]:
        return self._core.notes("label")

    def set_label(self, name: object, text: object) -> None:
        self._core.set_note("label", printable(name), printable(text))

    def document(self, name: str) -> dict[Any, Any]:
        """The dict that is kept under a name, {} without one.

        Always the same object; after a change call :meth:`set_document`.
        """
        if name not in self._documents:
            found = self.read(name)
            self._documents[name] = found if isinstance(found, dict) else {}
        return self._documents[name]

    def set_document(self, name: str, value: dict[Any, Any]) -> None:
        self._documents[name] = value
        self.write(name, value)

    def read(self, name: str) -> Any:
        """A decoded document; None if there is none, or no valid one."""
        text = self._core.note("document", name)
        try:
            return None if text is None else decode(json.loads(text))
        except (ValueError, RecursionError):  # a file is not trusted
            return None

    def write(self, name: str, value: Any) -> None:
        text = json.dumps(Encoder(exact=True).plain(value), allow_nan=False)
        self._core.set_note("document", name, text)

    def list(self, name: str) -> NoteList:
        """``records`` or ``sections`` that the user passed one by one."""
        if name not in self._lists:
            self._lists[name] = NoteList(self, name)
        return self._lists[name]

    def write_lists(self) -> None:
        """Store the items that are not stored yet."""
        for each in list(self._lists.values()):
            each.write()


class NoteList:
    """Dicts that arrive one by one, stored in documents of a thousand.

    The last document is written again when it has doubled: adding an item costs the
    same however many there are.
    """

    def __init__(self, notes: RunNotes, name: str) -> None:
        self.items: list[dict[str, Any]] = []
        self._notes = notes
        self._name = name
        while len(self.items) % PART == 0:
            part = notes.read(f"{name} {len(self.items) // PART}")
            is_list = isinstance(part, list)  # a file is not trusted
            dicts = [x for x in part if isinstance(x, dict)] if is_list else []
            if not dicts:
                break
            self.items += dicts
        self._written = len(self.items)

    def write_if_due(self) -> None:
        """Called after an item was appended."""
        count = len(self.items)
        if count % PART == 0 or 2 * (count - self._written) >= count % PART:
            self.write()

    def write(self) -> None:
        while self._written < len(self.items):
            part = self._written // PART
            items = self.items[part * PART : (part + 1) * PART]
            self._written = part * PART + len(items)
            self._notes.write(f"{self._name} {part}", items)
