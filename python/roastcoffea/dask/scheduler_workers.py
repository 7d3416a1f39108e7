# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: what the run asks of workers, at its start and at its end.

Every worker is asked by itself, so that one which does not answer holds up nobody; its
answer is awaited for a while and then left to come when it comes. Travels as source:
standard library and distributed only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from time import monotonic
from typing import Any

from distributed.protocol.pickle import dumps
from distributed.protocol.serialize import deserialize

from .scheduler_last import LastWords
from .scheduler_silence import TURN_S
from .shipped import Shipped
from .texts import error_words, plain

AT_ONCE = 50  # workers that are spoken to without a pause
LATE_S = 1.0  # that those may take which are left once more
MOST_PROFILES = 32  # workers whose profile is read; the others are like them
MOST_KEPT_BYTES = 32 << 20  # that all workers together send at the end


class Workers:
    """All workers of the scheduler, as the run with this mark sees them."""

    def __init__(
        self,
        payload: dict[str, Any],
        limits: dict[str, float],
        unmeasured: dict[str, str],
        last_words: LastWords,
    ) -> None:
        self.mark = str(payload["mark"])
        self.plugin = payload.get("worker_plugin")
        self.farewell = payload["farewell"]  # as Shipped takes it
        self.limits = limits
        self.scheduler: Any = None
        self.unmeasured = unmeasured
        self.last_words = last_words
        self.late = ""  # who did not answer at the end, in words
        self.unfinished = ""  # of whom not all may have arrived
        self.unprofiled = ""  # whose profile could not be read, in words
        self._asked: set[Any] = set()  # of asyncio, which keeps tasks weakly

    async def ask(
        self, message: dict[str, Any], addresses: Iterable[str], wait_s: float
    ) -> dict[str, Any]:
        """The answer of each: its own, or an exception in its place."""
        asked: dict[Any, str] = {}
        for each in addresses:
            asked[self._send(message, each)] = each
            if len(asked) % AT_ONCE == 0:
                await asyncio.sleep(0)
        if not asked:
            return {}
        done, late = await asyncio.wait(asked, timeout=max(wait_s, 0.0))
        answers: dict[str, Any] = {asked[task]: TimeoutError() for task in late}
        for task in done:
            error = task.exception()
            answers[asked[task]] = error or task.result().get(asked[task])
        return answers

    def _send(self, message: dict[str, Any], address: str) -> Any:
        """Held until its answer comes, though nobody may wait for that any more."""
        call = self.scheduler.broadcast(
            msg=dict(message), workers=[address], on_error="return"
        )
        task = asyncio.ensure_future(call)
        self._asked.add(task)
        task.add_done_callback(self._forget_asked)
        return task

    def _forget_asked(self, task: Any) -> None:
        self._asked.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, or asyncio complains to the user

    async def is_awaited(self) -> bool:
        """Wait for a late answer, or for a while; False: there is nobody to wait for.

        The timeout is for its timer, too, which keeps us alive."""
        if not self._asked:
            return False
        first = asyncio.FIRST_COMPLETED
        await asyncio.wait(self._asked, timeout=TURN_S, return_when=first)
        return True

    async def equip(self) -> None:
        """Send the worker part to all, and to those that come."""
        if not self.plugin:
            return
        self.scheduler.worker_plugins[self.mark] = self.plugin
        message = {"op": "plugin-add", "plugin": self.plugin, "name": self.mark}
        present = list(self.scheduler.workers)
        answers = await self.ask(message, present, self.limits["start_s"])
        for address, answer in answers.items():
            if why := trouble(answer):
                self.unmeasured.setdefault(address, why)

    def forget(self) -> None:
        """Those that come from now on get no worker part."""
        kept = self.scheduler.worker_plugins
        if kept.get(self.mark) is self.plugin:
            kept.pop(self.mark, None)

    async def leave(
        self, profiled: dict[str, Any], wants_kept: bool = False
    ) -> dict[str, Any]:
        """Take the worker part away after a last heartbeat; what ran there. Of what
        and since when, as farewell.py takes it."""
        ends = monotonic() + self.limits["stop_s"]
        present = list(self.scheduler.workers)
        step = 1 + max(len(present) - 1, 0) // MOST_PROFILES
        some = present[::step] if profiled.get("prefixes") else []
        others = list(set(present).difference(some))
        wait_s = self.limits["stop_s"]
        share = MOST_KEPT_BYTES // max(len(present), 1) if wants_kept else 0
        asked, answers = await asyncio.gather(
            self.ask(self._farewell(kept_bytes=share, **profiled), some, wait_s),
            self.ask(self._farewell(kept_bytes=share), others, wait_s),
        )
        answers.update(asked)
        troubles = {who: why for who, each in answers.items() if (why := trouble(each))}
        self.late = summary(list(troubles.values()))
        answers.update(await self._remove(answers, ends - monotonic()))
        answered = [who for who, each in answers.items() if not trouble(each)]
        missing = await self.last_words.wait(answered, ends - monotonic())
        self.unfinished = summary(missing)
        return self._profile(asked, len(present))

    async def _remove(self, answers: dict[str, Any], wait_s: float) -> dict[str, Any]:
        """The bare way, for those that do not let a function be run."""
        refused = [who for who, each in answers.items() if is_refusal(each)]
        present = [who for who in refused if who in self.scheduler.workers]
        message = {"op": "plugin-remove", "name": self.mark}
        return await self.ask(message, present if self.plugin else [], wait_s)

    async def leave_late(self, addresses: Iterable[str]) -> None:
        """Once more for those that were just joining: they may have got it since."""
        present = [each for each in addresses if each in self.scheduler.workers]
        ends = monotonic() + LATE_S
        answers = await self.ask(self._farewell(late=True), present, LATE_S)
        await self._remove(answers, ends - monotonic())

    def _farewell(self, **more: Any) -> dict[str, Any]:
        told = {"mark": self.mark, "prefixes": [], "late": False, "kept_bytes": 0}
        told |= more
        sent = dumps(Shipped(payload=told, **self.farewell))  # type: ignore[no-untyped-call]
        return {"op": "run", "function": sent}

    def _profile(self, answers: dict[str, Any], workers: int) -> dict[str, Any]:
        """What some workers sent, and how much each stands for; the client adds it up.
        Empty: there is none."""
        found = [result_of(answer) for answer in answers.values()]
        self.unprofiled = summary([each["why"] for each in found if "why" in each])
        rows = [each["profile"] for each in found if each.get("profile")]
        return {"rows": rows, "weight": workers / len(rows)} if rows else {}


def summary(some: list[str]) -> str:
    """How many workers, and the first of them in words; empty: none."""
    return f"{len(some)} worker(s), the first: {some[0]}" if some else ""


def trouble(answer: Any) -> str:
    """Why a worker did not do what it was asked; empty: it did."""
    if isinstance(answer, TimeoutError):
        return "it did not answer in time"
    if isinstance(answer, BaseException):
        return error_words(answer)
    if isinstance(answer, dict) and answer.get("status") == "error":
        return plain(answer.get("exception_text") or "it failed there", 200)
    return ""


def is_refusal(answer: Any) -> bool:
    """Whether a worker answered that it does not do it; it may still be doing it."""
    return bool(trouble(answer)) and not isinstance(answer, TimeoutError)


def result_of(answer: Any) -> dict[str, Any]:
    """What a function returned that a worker was sent."""
    result: Any = answer.get("result") if isinstance(answer, dict) else None
    if hasattr(result, "header"):
        result = deserialize(  # type: ignore[no-untyped-call]
            result.header, result.frames
        )
    return result if isinstance(result, dict) else {}
