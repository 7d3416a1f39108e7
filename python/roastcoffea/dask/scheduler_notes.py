# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: what its hooks and events say, noted on the pages of one run.

A hook is called in the middle of the scheduler's own work: it does little, and whatever
fails in it is counted and goes no further. Travels as source: standard library and
distributed only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distributed import SchedulerPlugin

from .scheduler_last import LastWords
from .scheduler_members import Members
from .scheduler_pages import DEFAULT_LIMITS, FRAMES, Errors, Pages
from .scheduler_samples import Samples
from .scheduler_tasks import Tasks, key_hash
from .texts import error_words, plain

MOST_FRAME_BYTES = 16 << 20
MOST_UNSENT = 1 << 32  # frames that one worker may say it could not send


class Notes(SchedulerPlugin):
    """All that is noted of one run."""

    def __init__(self, payload: dict[str, Any]) -> None:
        self.mark = self.name = str(payload["mark"])
        self.payload = payload
        self.limits = {**DEFAULT_LIMITS, **(payload.get("limits") or {})}
        self.errors = Errors()
        rules = payload["rules"]
        self.pages = Pages(payload["items"], rules, self.limits)
        self.members = Members(self.pages, rules)
        self.tasks = Tasks(self.mark, self.pages, self.members, self.errors, rules)
        self.last_words = LastWords()
        series = list(payload["series"])
        self.samples = Samples(self.pages, self.members, self.errors, series)
        vars(self)["transition"] = self.tasks.transition  # one call less per task
        self.scheduler: Any = None
        self.left_out: dict[str, str] = {}  # {what: why}
        self.unmeasured: dict[str, str] = {}  # {worker: why}

    def add_worker(
        self, scheduler: Any, worker: str, since: float | None = None
    ) -> None:
        try:
            state = scheduler.workers.get(worker)
            if state is not None:
                self.members.joined(state, since)
                self.samples.join(state)
        except Exception as error:
            self.errors.note("a worker that joins", error)

    def remove_worker(
        self, scheduler: Any, worker: str, *, stimulus_id: str = "", **more: Any
    ) -> None:
        try:
            if self.payload.get("interval"):
                self.samples.last_words(worker, len(self.tasks.running))
            self.samples.leave(worker)
            self.last_words.end(worker)
            self.members.left(worker, stimulus_id)
        except Exception as error:
            self.errors.note("a worker that leaves", error)

    def log_event(self, topic: str, msg: Any) -> None:
        try:
            if topic == self.mark:
                self._take_event(msg)
            elif topic == "stealing":
                self.tasks.moved(msg)
            elif type(msg) is dict:
                self.members.hear(topic, msg)
        except Exception as error:
            if topic == self.mark:
                self.pages.lose(FRAMES)
            self.errors.note("an event", error)

    def _take_event(self, msg: Any) -> None:
        try:
            self._frames(*msg)
        finally:
            if "topic" not in self.left_out:  # a second time would fail, too
                self._try("topic", self._forget_events)

    def _forget_events(self) -> None:
        """Dask keeps the last thousand of a topic, and ours may be megabytes each."""
        broker = getattr(self.scheduler, "_broker", None)
        if broker is not None:
            broker.truncate(self.mark)

    def _frames(self, address: str, key: Any, frames: bytes, *words: str) -> None:
        """What a worker says of an attempt, or of itself."""
        if words:
            self._status(address, *words)
        size = len(frames)
        if size > MOST_FRAME_BYTES:
            raise ValueError(f"frames of {size} bytes")
        if size:
            number = self.members.number(address)
            self.pages.put(FRAMES, "frames", number, key_hash(key), size, tail=frames)

    def _status(self, address: str, word: str, *more: str) -> None:
        """It measures, or why it does not; or that nothing more will come."""
        if word == "last":
            self.last_words.end(address)
            self.pages.lose(FRAMES, min(max(int(more[0]), 0), MOST_UNSENT))
        elif word.startswith("unmeasured"):
            self.unmeasured[plain(address)] = plain(word.partition(": ")[2] or word)
        else:
            self.unmeasured.pop(address, None)
            self.last_words.begin(address)

    def restart(self, scheduler: Any) -> None:
        """All tasks are forgotten without a word, and all workers told to go."""
        self.tasks.forget()
        self.members.restart()

    def _try(self, what: str, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return function(*args)
        except Exception as error:
            return self._fail(what, error)

    def _fail(self, what: str, error: BaseException) -> None:
        """A part that this distributed does not have, or that broke."""
        self.errors.note(what, error)
        self.left_out.setdefault(what, error_words(error))
