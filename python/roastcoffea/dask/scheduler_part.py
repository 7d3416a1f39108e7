# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: the plugin of one run. It is pulled, and goes when nobody pulls.

Travels as source (recipe.py): standard library and distributed only, and nothing
happens when it is imported. `make(payload)` gives the plugin; payload is recipe.py's,
and may have `limits` in place of DEFAULT_LIMITS. Everything on the scheduler is under
one name, the mark of the run: plugin, worker plugin, topic of events and the handlers

    <mark>_pull(after=n)  {"plugin", "pages": [[number, bytes], ...], "more", "now",
                          "boot", "interval", "errors", "error"}; pages <= n are given
                          up; "plugin" is another one when numbers begin anew
    <mark>_stop(after=n, spans=[], kept=False, files={})  a pull, and "spans",
                          "differences" [[names, value], ...], "profile", "unmeasured"
                          {worker: why}, "left_out"

After a stop everything is gone, but for pull while the answer says "more". It goes by
itself when its client goes, after 60 s without a pull, and after a week. Nothing of it
ever raises into the scheduler: what fails is counted, and told with the next pull.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from secrets import token_hex
from time import monotonic, time
from typing import Any

from .scheduler_counts import boot_id, cluster_counts, differences, span_counts
from .scheduler_leaving import HANDLERS, Leaving
from .scheduler_silence import TURN_S

BREATH = 200  # workers that are looked at without a pause
SHORTEST_S = 0.01
MOST_SLOWING = 64  # times the interval that was asked for


class Plugin(Leaving):
    """The way of one run into the scheduler, and what it is asked there."""

    def __init__(self, payload: dict[str, Any]) -> None:
        super().__init__(payload)
        asked = float(payload.get("interval") or 0)
        self.interval = max(asked, SHORTEST_S) if asked > 0 else 0.0  # 0: no samples
        self.id = token_hex(4)
        self.started = time()
        self._one_tick = asyncio.Lock()
        self._counts: dict[Any, float] = {}

    # ---- its way in ----------------------------------------------------------------

    async def start(self, scheduler: Any) -> None:
        """Called when it is registered, before the scheduler calls any other hook."""
        self.scheduler = self.workers.scheduler = scheduler
        self.tasks.scheduler = self.samples.scheduler = scheduler
        client = self.payload.get("client")
        if client and client not in scheduler.clients:  # nobody would say that it goes
            raise RuntimeError(f"the client of {self.mark} went before its run began")
        if self.mark in scheduler.plugins:
            raise RuntimeError(f"{self.mark} is there already")
        try:
            scheduler.plugins[self.mark] = self  # to miss nothing meanwhile
            await self._look_around()
            for name in HANDLERS:
                scheduler.handlers[f"{self.mark}_{name}"] = getattr(self, name)
        except BaseException:
            self._leave_scheduler()
            raise
        self._background(self._watch())
        try:
            await self.workers.equip()
        except Exception as error:
            self._fail("worker part", error)
        scheduler.plugins.pop(self.mark, None)  # whoever called this puts it back
        if self.gone:
            raise RuntimeError(f"the client of {self.mark} went while its run began")

    async def _look_around(self) -> None:
        """Note what is there already; what changes meanwhile, the hooks note."""
        self._counts = self._try("differences", cluster_counts, self.scheduler) or {}
        since = self.payload.get("workers_since")  # NaN: from the start of the run
        for done, address in enumerate(list(self.scheduler.workers)):
            if address not in self.members.present:
                self.add_worker(self.scheduler, address, since)
            self._try("tasks", self.tasks.begin, address)
            if done % BREATH == BREATH - 1:
                await asyncio.sleep(0)

    def remove_client(self, scheduler: Any, client: str) -> None:
        if client == self.payload.get("client") and not self.stopping:
            self._background(self._go())

    async def close(self) -> None:
        """The scheduler closes, and everything with it."""
        self.gone = True
        self._cancel()

    # ---- by itself -----------------------------------------------------------------

    async def _watch(self) -> None:
        """Tick, and look whether anybody still listens."""
        ticked = monotonic()
        while await self._is_needed_after(self.pause_s(monotonic() - ticked)):
            if not self.is_due(monotonic() - ticked):
                continue
            ticked = monotonic()
            try:
                await self.tick()
            except Exception as error:
                self.errors.note("a tick", error)

    async def _is_needed_after(self, pause_s: float) -> bool:
        await asyncio.sleep(pause_s)
        self.silence.turn(pause_s)
        is_forgotten = self.silence.is_too_long()
        if is_forgotten:
            self._background(self._go())
        return not (is_forgotten or self.stopping)

    def pause_s(self, since_tick_s: float) -> float:
        """Until the next turn: silence is noticed though ticks may be rare."""
        longest_s: float = min(TURN_S, self.limits["silence_s"])
        if not self.interval:
            return longest_s
        return min(max(self.pace() - since_tick_s, 0.0), longest_s)

    def is_due(self, since_tick_s: float) -> bool:
        return self.interval > 0 and self.pace() <= since_tick_s

    def pace(self) -> float:
        """Seconds between two ticks: longer each time that there was no room."""
        return self.interval * min(1 << min(self.pages.trims, 9), MOST_SLOWING)

    async def tick(self) -> None:
        """One at a time: samples on a page are of the tick before them."""
        async with self._one_tick:
            for _ in self.ticking():
                await asyncio.sleep(0)

    def ticking(self) -> Iterator[None]:
        touched, self.tasks.touched = self.tasks.touched, set()
        return self.samples.tick(len(self.tasks.running), touched)

    # ---- what the client asks ------------------------------------------------------

    async def pull(self, after: int = 0) -> dict[str, Any]:
        self.silence.heard()
        answer = self._answer(after)
        if self.gone and not answer["more"]:
            self._drop_handler("pull")
        return answer

    def _answer(self, after: int) -> dict[str, Any]:
        answer = self.pages.pull(after)
        answer.update(
            plugin=self.id,
            now=time(),
            boot=boot_id(),
            interval=self.pace(),
            errors=self.errors.count,
            error=self.errors.first,
        )
        return answer

    async def stop(
        self, after: int = 0, spans: Any = (), kept: bool = False, files: Any = None
    ) -> dict[str, Any]:
        """The end: what is known goes to the client, and all of ours away."""
        self.silence.heard()
        self._begin_to_leave()
        await self._look_at_prefixes()
        prefixes = sorted(self.tasks.our_prefixes)
        profile = await self._leave_workers(prefixes, kept, files or {})
        await self._look_last()
        told = {
            "spans": self._try("spans", span_counts, self.scheduler, spans) or [],
            "differences": self._differences(),
            "profile": profile or {},
            "unmeasured": self.unmeasured,
            "left_out": self.left_out,
        }
        self._leave_scheduler()
        answer = self._answer(after)
        if answer["more"]:
            self.silence.heard()  # the client has still to get this answer
            self.scheduler.handlers[f"{self.mark}_pull"] = self.pull
            self._background(self._keep_rest())
        return {**told, **answer}

    def _differences(self) -> list[list[Any]]:
        before = self._counts
        return self._try("differences", differences, self.scheduler, before) or []

    async def _look_at_prefixes(self) -> None:
        """The profile is of tasks that have not ended, too."""
        try:
            for _ in self.tasks.look_at_prefixes():
                await asyncio.sleep(0)
        except Exception as error:
            self.errors.note("prefixes", error)

    async def _look_last(self) -> None:
        try:
            if self.interval:
                await self.tick()
            for _ in self.tasks.end():
                await asyncio.sleep(0)
        except Exception as error:
            self.errors.note("the last look", error)


def make(payload: dict[str, Any]) -> Plugin:
    """What the scheduler gets."""
    return Plugin(payload)
