# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: how the plugin of one run goes, asked or not, and leaves nothing.

What it must leave twice: events that come late make its topic again, and workers that
were joining may have got the worker part since. It harms no plugin that came after it
under the same name. Travels as source: standard library and distributed only.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

from .scheduler_notes import Notes
from .scheduler_silence import Silence
from .scheduler_workers import Workers

HANDLERS = ("pull", "stop")
LAST_EVENTS_S = 0.2  # that events of a worker may come after its answer
JOINING_S = 30.0  # that a worker may take to join


class Leaving(Notes):
    """What is noted of one run, until it goes."""

    started = 0.0  # since when workers are profiled

    def __init__(self, payload: dict[str, Any]) -> None:
        super().__init__(payload)
        said = self.last_words
        self.workers = Workers(payload, self.limits, self.unmeasured, said)
        self.silence = Silence(self.limits)
        self.stopping = self.gone = self.is_tidy = False
        self._leaving_since = 0.0
        self._jobs: set[Any] = set()  # of asyncio, which keeps them weakly

    def _begin_to_leave(self) -> None:
        if not self.stopping:
            self.stopping = True
            self._leaving_since = monotonic()

    async def _leave_workers(
        self, prefixes: list[str], wants_kept: bool, files: dict[str, list[str]]
    ) -> dict[str, Any] | None:
        """Take the worker part away; the profile, if it is known."""
        self._try("worker part", self.workers.forget)
        of = {"start": self.started, "prefixes": prefixes, "files": files}
        profile = None
        try:
            profile = await self.workers.leave(of, wants_kept)
        except Exception as error:
            self._fail("last heartbeat", error)
        if self.workers.late:
            self.left_out["last heartbeat"] = self.workers.late
        if self.workers.unfinished:
            self.left_out["last frames"] = self.workers.unfinished
        if self.workers.unprofiled:
            self.left_out["hot lines"] = self.workers.unprofiled
        return profile

    def _leave_scheduler(self) -> None:
        """Nothing of ours stays. Late events make a topic again: once more then."""
        self._begin_to_leave()
        if self.gone:
            return
        self.gone = True
        if self.scheduler.plugins.get(self.mark) is self:
            self.scheduler.plugins.pop(self.mark)
        for name in HANDLERS:
            self._drop_handler(name)
        self._try("worker part", self.workers.forget)
        self._try("topic", self._sweep)
        self._cancel()
        wait_s = self._leaving_since + self.limits["again_s"] - monotonic()
        loop = asyncio.get_running_loop()
        loop.call_later(max(wait_s, 0.0), lambda: self._background(self._tidy()))

    def _drop_handler(self, name: str) -> None:
        """Unless it is that of another plugin, which came after this one."""
        handlers, key = self.scheduler.handlers, f"{self.mark}_{name}"
        if getattr(handlers.get(key), "__self__", None) is self:
            handlers.pop(key)

    async def _go(self) -> None:
        """Leave without being asked: nobody is there to be told anything."""
        if self.stopping:
            return
        self._begin_to_leave()
        if not self._has_successor():
            await self._leave_workers([], False, {})
        self._leave_scheduler()
        self.pages.whole.clear()

    async def _keep_rest(self) -> None:
        """Let the client pull what did not fit into an answer, while it does so."""
        again_s = self.limits["again_s"]
        while (wait_s := self.silence.asked + again_s - monotonic()) > 0:
            await asyncio.sleep(wait_s)
        self._drop_handler("pull")
        self.pages.whole.clear()

    async def _tidy(self) -> None:
        """Once more, for what came late: events, and workers that were joining."""
        try:
            self._sweep()
            since = self._leaving_since - JOINING_S
            if not self._has_successor():
                await self.workers.leave_late(self.members.joined_after(since))
            await self._sweep_behind()
            while await self.workers.is_awaited():
                await self._sweep_behind()
        except Exception as error:
            self.errors.note("what came late", error)
        self.is_tidy = True

    def _has_successor(self) -> bool:
        """Whether the client has sent another plugin, whose workers are these now."""
        return self.scheduler.plugins.get(self.mark, self) is not self

    async def _sweep_behind(self) -> None:
        """Behind an answer, whose events come by another way."""
        await asyncio.sleep(LAST_EVENTS_S)
        self._sweep()

    def _sweep(self) -> None:
        broker = getattr(self.scheduler, "_broker", None)
        topics = getattr(broker, "_topics", None)
        if topics is None:
            self.left_out["topic"] = "this distributed keeps topics elsewhere"
        elif not self._has_successor():
            topics.pop(self.mark, None)

    def _background(self, job: Any) -> None:
        task = asyncio.ensure_future(job)
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)

    def _cancel(self) -> None:
        for job in list(self._jobs):
            if job is not asyncio.current_task():
                job.cancel()
