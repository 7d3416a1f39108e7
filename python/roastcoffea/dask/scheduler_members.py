# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: workers that come and go, and why they went.

The hook for a worker that leaves does not say why. Events do, and come before it: the
scheduler's own (was it told to go?), the worker's last words, and the nanny's when it
kills a worker for its memory. Travels as source: standard library only.
"""

from __future__ import annotations

import re
from time import monotonic, time
from typing import Any

from .scheduler_pages import FACTS, Pages

MOST_HINTS = 20_000
TIME_BEHIND = re.compile(r"-\d+\.\d+$")  # stimulus ids end with the time
WORDS = {  # what Dask calls it, and the name of the reason
    "handle-worker-cleanup": "connection",
    "worker-send-comm-fail": "connection",
    "retire-workers": "retired",
}


class Members:
    """Numbers of workers, who is there, and hints why somebody will go."""

    def __init__(self, pages: Pages, rules: dict[str, Any]) -> None:
        self.pages = pages
        self.numbers: dict[str, int] = {}
        self.addresses: list[str] = []  # by number
        self.present: dict[str, Any] = {}  # address: its state
        self._reasons: dict[str, str] = rules["reasons"]
        self._most_workers = int(rules["most_workers"])
        self._since: dict[str, float] = {}  # of those that are there
        self._going: dict[str, tuple[bool, str]] = {}
        self._hints: dict[str, tuple[str, str]] = {}  # name of the reason, more of it
        self._restarting: set[str] = set()

    def number(self, address: str) -> int:
        """The number of a worker; the first time, the page says which it is."""
        number = self.numbers.get(address)
        if number is None:
            if len(self.numbers) >= self._most_workers:
                raise OverflowError(f"more than {self._most_workers} workers")
            number = self.numbers[address] = len(self.numbers)
            self.addresses.append(address)
            self.pages.put(FACTS, "worker", number, texts=(address,))
        return number

    def joined(self, state: Any, when: float | None = None) -> None:
        """A worker is there, since now or since another time."""
        address = state.address
        self.present[address] = state
        self._hints.pop(address, None)
        self._restarting.discard(address)
        self._since[address] = monotonic()
        self.pages.put(
            FACTS,
            "joined",
            self.number(address),
            time() if when is None else when,
            _whole(getattr(state, "nthreads", 0)),
            float(getattr(state, "memory_limit", 0) or 0),
            _whole(getattr(state, "pid", 0)),
            texts=(getattr(state, "name", ""), getattr(state, "host", "")),
        )

    def left(self, address: str, stimulus_id: str) -> None:
        if self.present.pop(address, None) is None:
            return
        self._since.pop(address, None)
        expected, stimulus = self._going.pop(address, (False, stimulus_id))
        known, more = self._hints.pop(address, ("", ""))
        plain_id = TIME_BEHIND.sub("", stimulus)
        if not known:
            known, more = WORDS.get(plain_id, ""), ""
        if known not in ("memory", "silent"):  # those that say so were not asked
            told = address in self._restarting or "restart" in plain_id + more
            expected = expected or told
        self._restarting.discard(address)
        reason = self._reasons[known] + more if known else plain_id
        number = self.number(address)
        self.pages.put(FACTS, "left", number, time(), int(expected), texts=(reason,))

    def joined_after(self, moment: float) -> list[str]:
        """Who came after a moment of the monotonic clock."""
        return [each for each, since in self._since.items() if since > moment]

    def restart(self) -> None:
        """All that are there are told to go; not each has the time to say so."""
        self._restarting = set(self.present)

    def hear(self, topic: str, event: dict[str, Any]) -> None:
        """An event of the scheduler, a worker or a nanny; most say nothing to us."""
        action = event.get("action")
        if action == "remove-worker":
            if topic == "all":
                told = bool(event.get("expected")), str(event.get("stimulus_id", ""))
                self._going[str(event.get("worker"))] = told
        elif action == "closing-worker":
            why = TIME_BEHIND.sub("", str(event.get("reason", "")))
            self._hint(topic, "closed", f": {why}")
        elif action == "worker-ttl-timed-out":
            for address in event.get("workers", ()):
                self._hint(address, "silent", f" for {event.get('ttl')} s (ttl)")
        elif topic == "worker-restart-memory":
            used = int(event.get("rss", 0)) / 1e6
            self._hint(str(event.get("worker")), "memory", f": {used:.0f} MB resident")

    def _hint(self, address: str, name: str, more: str) -> None:
        if address not in self.present or len(self._hints) >= MOST_HINTS:
            return
        if address not in self._hints or name == "memory":
            self._hints[address] = (name, more)


def _whole(value: Any) -> int:
    """A number for 32 bits; 0 where it is none."""
    return value if isinstance(value, int) and 0 <= value < 1 << 32 else 0
