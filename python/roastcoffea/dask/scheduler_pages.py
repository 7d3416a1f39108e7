# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: facts packed into pages, which wait there until they are pulled.

Each kind of fact has pages of its own, so that past the cap samples go before frames
and frames before tasks; the names that all of them use never go. Every page can be read
without the ones that were dropped: one of samples begins with the time of its first.
Travels as source: standard library only.
"""

from __future__ import annotations

from collections import deque
from struct import Struct
from typing import Any

from .texts import error_words, plain

FACTS, FRAMES, TASKS, SAMPLES = range(4)  # in the order in which they are sealed
DEFAULT_LIMITS = {
    "page_bytes": 64 << 10,
    "answer_bytes": 1 << 20,
    "cap_bytes": 64 << 20,
    "silence_s": 60.0,  # without a pull; then everything of ours goes
    "lifetime_s": 7 * 86400.0,  # the hard cap: nobody's run is longer
    "stop_s": 2.0,  # to wait for workers at the end
    "start_s": 5.0,  # and at the start
    "again_s": 3.0,  # from the end of a run until it is swept once more
}


class Errors:
    """What failed in our own code: counted, never raised."""

    def __init__(self) -> None:
        self.count = 0
        self.first = ""

    def note(self, where: str, error: BaseException) -> None:
        self.count += 1
        if not self.first:
            self.first = plain(f"{where}: {error_words(error, 400)}")


def text_bytes(text: Any, most: int) -> bytes:
    """A text with its length in front; cut where it is too long."""
    data = str(text).encode("utf-8", "replace")
    if len(data) > most:
        data = data[:most].decode("utf-8", "ignore").encode()
    return len(data).to_bytes(2, "little") + data


class Page:
    """What is sent at once. `count` is of what is lost with it."""

    __slots__ = ("count", "data", "kind", "sequence")

    def __init__(self, sequence: int, kind: int, data: bytes, count: int) -> None:
        self.sequence, self.kind, self.data, self.count = sequence, kind, data, count


class Pages:
    """One growing page of each kind, and those that are whole."""

    def __init__(
        self, items: dict[str, Any], rules: dict[str, Any], limits: dict[str, float]
    ) -> None:
        self.numbers = {name: int(row[0]) for name, row in items.items()}
        self.structs = {name: Struct("<B" + row[1]) for name, row in items.items()}
        self.task_bytes = self.structs["task"].size
        self.most_text_bytes = int(rules["most_text_bytes"])
        self.page_bytes = int(limits["page_bytes"])
        self.answer_bytes = int(limits["answer_bytes"])
        self.cap_bytes = int(limits["cap_bytes"])
        self.open = [bytearray() for _ in range(4)]  # kept: others append to them
        self.counts = [0, 0, 0, 0]
        self.dropped = [0, 0, 0, 0]
        self.head = b""  # of a page of samples: the tick that goes on
        self.trims = 0  # how often the cap was reached
        self.whole: deque[Page] = deque()
        self.whole_bytes = 0
        self.sequence = 0
        self._told = [0, 0, 0, 0]

    def put(
        self,
        kind: int,
        name: str,
        *values: Any,
        texts: tuple[Any, ...] = (),
        tail: bytes = b"",
    ) -> None:
        """Pack an item; what is frequent does it by itself."""
        data = self.open[kind]
        data += self.structs[name].pack(self.numbers[name], *values)
        for text in texts:
            data += text_bytes(text, self.most_text_bytes)
        data += tail
        self.counts[kind] += 1
        if len(data) >= self.page_bytes:
            self.seal(kind)

    def seal(self, kind: int, trims: bool = True) -> None:
        """Close the page of a kind, and before it the names that it may use."""
        if kind != FACTS:
            self.seal(FACTS)
        data = self.open[kind]
        if not data:
            return
        self.sequence += 1
        count = len(data) // self.task_bytes if kind == TASKS else self.counts[kind]
        self.whole.append(Page(self.sequence, kind, bytes(data), count))
        self.whole_bytes += len(data)
        data.clear()
        self.counts[kind] = 0
        if kind == SAMPLES:
            data += self.head
        if trims and self.whole_bytes > self.cap_bytes:
            self._trim()

    def _trim(self) -> None:
        """Give up the oldest of what matters least, down to three quarters."""
        self.trims += 1
        enough = self.cap_bytes * 3 // 4
        for kind in (SAMPLES, FRAMES, TASKS):
            if self.whole_bytes > enough:
                self._drop(kind, enough)

    def _drop(self, kind: int, enough: int) -> None:
        kept = deque[Page]()
        for page in self.whole:
            if page.kind == kind and self.whole_bytes > enough:
                self.whole_bytes -= len(page.data)
                self.dropped[kind] += page.count
            else:
                kept.append(page)
        self.whole = kept

    def lose(self, kind: int, count: int = 1) -> None:
        """Count what could not even be packed."""
        self.dropped[kind] += count

    def pull(self, after: int) -> dict[str, Any]:
        """Pages behind a sequence number, as many as one answer takes."""
        while self.whole and self.whole[0].sequence <= after:
            self.whole_bytes -= len(self.whole.popleft().data)
        self._seal_all()
        pages: list[Any] = []
        room = self.answer_bytes
        for page in self.whole:
            room -= len(page.data)
            if pages and room < 0:
                break
            pages.append([page.sequence, page.data])
        return {"pages": pages, "more": len(pages) < len(self.whole)}

    def _seal_all(self) -> None:
        """Close what is open; the last page says what was lost, itself included."""
        for kind in (FACTS, FRAMES, TASKS):
            self.seal(kind)
        if self.counts[SAMPLES]:
            self.seal(SAMPLES)
        if self._told != self.dropped:
            self._told = list(self.dropped)
            lost = self.dropped
            self.put(FACTS, "dropped", lost[SAMPLES], lost[TASKS], lost[FRAMES])
            self.seal(FACTS, trims=False)

    def end_tick(self) -> None:
        """What follows is of another time."""
        self.head = b""
        if not self.counts[SAMPLES]:
            self.open[SAMPLES].clear()
