# SPDX-License-Identifier: BSD-3-Clause
"""What is known of a run beside its numbers: words, labels, documents.

All of it rests in the run in C, as notes, from the moment it is known: a live file then
has it even if this process is killed, and a run that was opened gives the same answers
as the one that was saved. Documents (what users hand over) are JSON, see encoding.py.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

from roastcoffea import _core
from roastcoffea.adapters import fileset
from roastcoffea.export.decoding import decode
from roastcoffea.export.encoding import Encoder

PART = 1000  # items of a list that grows
Record = dict[str, Any]


def shown(text: object) -> str:
    """A text of the user's for pages and files: without secrets, and of characters
    that can be written."""
    plain = str(text).encode(errors="replace").decode().replace("\0", "?")
    redacted: str = _core.redact(plain)
    return redacted


def check_label(name: object) -> None:
    """ValueError for a name that cannot be kept."""
    size = len(shown(name).encode()) if isinstance(name, str) else 0
    if size > _core.NOTE_NAME_BYTES:
        start = shown(name)[:20]
        raise ValueError(
            f"the label {start!r}... has a name of {size} bytes, at most"
            f" {_core.NOTE_NAME_BYTES}: put the rest into its text"
        )


def write(core: Any, name: str, value: Any) -> None:
    """A document as JSON; what JSON lacks comes back too, secrets do not."""
    text = json.dumps(Encoder(exact=True).plain(value), allow_nan=False)
    core.set_note("document", name, text)


def read(core: Any, name: str) -> Any:
    """What was written; None for nothing, or for nonsense."""
    text = core.note("document", name)
    if text is None:
        return None
    try:
        return decode(json.loads(text))
    except (ValueError, RecursionError):  # a file is not trusted
        return None


class GrowingList:
    """Dicts that are handed over one by one, kept in parts of a thousand.

    The last part is written again when it has doubled, and when somebody says
    :meth:`write`: so adding one costs the same however many there are.
    """

    def __init__(self, core: Any, name: str) -> None:
        self.items: list[Record] = []
        self._core = core
        self._name = name
        while self._full and self._read_part():
            pass
        self._written = len(self.items)

    def _read_part(self) -> bool:
        part = read(self._core, f"{self._name} {len(self.items) // PART}")
        found = part if isinstance(part, list) else []
        dicts = [item for item in found if isinstance(item, dict)]
        self.items += dicts
        return bool(dicts)

    @property
    def _full(self) -> bool:
        return len(self.items) % PART == 0

    def write_if_due(self) -> None:
        """After an item was appended."""
        waiting = len(self.items) - self._written
        if self._full or 2 * waiting >= len(self.items) % PART:
            self.write()

    def write(self) -> None:
        """Keep those that came since the last time."""
        while self._written < len(self.items):
            part = self._written // PART
            items = self.items[part * PART : (part + 1) * PART]
            self._written = part * PART + len(items)
            write(self._core, f"{self._name} {part}", items)


class Known:
    """The words of a run. ``core`` is the run in C."""

    def __init__(self, core: Any) -> None:
        self.core = core
        self._documents: dict[str, Any] = {}
        self._lists: dict[str, GrowingList] = {}
        self._told_damage = False

    def tell_damage(self) -> None:
        """Warn, once, if what was read of a file by now is not all that was in it."""
        pieces = (self.core.info() or {}).get("damaged", 0)
        if pieces and not self._told_damage:
            self._told_damage = True
            warnings.warn(
                f"the file of this run is damaged: {pieces} pieces are left out"
                " (`roast check` names them)",
                stacklevel=4,
            )

    # ---- words -------------------------------------------------------------------

    def word(self, name: str) -> str | None:
        """A note of the group ``run``."""
        text: str | None = self.core.note("run", name)
        return text

    def set_word(self, name: str, text: object) -> None:
        self.core.set_note("run", name, None if text is None else shown(text))

    @property
    def id(self) -> str | None:
        """32 hexadecimal digits that no other run has."""
        return self.word("id")

    @property
    def processor_name(self) -> str | None:
        return self.word("processor")

    @property
    def executor_text(self) -> str | None:
        return self.word("executor")

    @property
    def failure(self) -> str | None:
        """The exception that ended the block, or a call in it."""
        return self.word("failure")

    @property
    def why_off(self) -> str | None:
        """Why nothing was measured."""
        return self.word("why_off")

    @property
    def remarks(self) -> list[str]:
        """What is missing of the run and why, in words."""
        return (self.word("remarks") or "").splitlines()

    def add_remark(self, text: str) -> None:
        if text not in self.remarks:
            self.set_word("remarks", "\n".join([*self.remarks, text]))

    @property
    def first_error(self) -> str:
        """The first error of the monitor itself, here or in a worker."""
        return self.word("first_error") or self.core.first_error()

    # ---- labels ------------------------------------------------------------------

    @property
    def labels(self) -> dict[str, str]:
        """What the user wrote on the run."""
        labels: dict[str, str] = self.core.notes("label")
        return labels

    def set_label(self, name: Any, text: Any) -> None:
        self.core.set_note("label", shown(name), shown(text))

    # ---- documents ---------------------------------------------------------------

    def document(self, name: str, make: Callable[[], Any]) -> Any:
        """What is kept under a name; what ``make`` gives where there is nothing yet.

        The same object every time: whoever changes it calls :meth:`keep`.
        """
        if name not in self._documents:
            found = read(self.core, name)
            self._documents[name] = make() if found is None else found
        return self._documents[name]

    def keep(self, name: str, value: Any) -> None:
        """Keep a value under a name."""
        self._documents[name] = value
        write(self.core, name, value)

    @property
    def custom_metrics(self) -> dict[str, Any]:
        """What the user handed over with a report."""
        return self._dict("custom_metrics")

    @property
    def span_metrics(self) -> dict[Any, Any]:
        """What a backend of the user's accounted under spans."""
        return self._dict("span_metrics")

    @property
    def foreign_tracking(self) -> dict[str, Any]:
        """What a backend of the user's sampled."""
        return self._dict("tracking_data")

    @property
    def section_metrics(self) -> list[Record]:
        """Sections that the user measured by other means."""
        return self.growing("sections").items

    @property
    def made_records(self) -> list[Record]:
        """Chunk records that the user made by hand, with all their keys."""
        return self.growing("records").items

    def growing(self, name: str) -> GrowingList:
        """A list that is handed over one by one."""
        if name not in self._lists:
            self._lists[name] = GrowingList(self.core, name)
        return self._lists[name]

    def write_lists(self) -> None:
        """Keep what was added to lists and not written yet."""
        for growing in list(self._lists.values()):
            growing.write()

    @property
    def fileset(self) -> dict[str, Any]:
        """Datasets and files that were given to the Runner, as far as they fit."""
        return fileset.read_text(self.core.note("document", "fileset") or "")

    def _dict(self, name: str) -> dict[Any, Any]:
        found = self.document(name, dict)
        return found if isinstance(found, dict) else {}
