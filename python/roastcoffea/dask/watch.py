# SPDX-License-Identifier: BSD-3-Clause
"""One run on one Dask client: installs the plugins, pulls what they note, ends them.

All of it is one coroutine on the client's own event loop, from the installing to the
end: whatever becomes of the thread of the block, which only waits for these two and for
no longer than it is told, what was begun is ended. What goes wrong is kept and told at
the end, never raised. The scheduler is pulled: it keeps what it notes until this has
it, and forgets us by itself when nobody pulls.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Coroutine, Iterable, Mapping
from concurrent.futures import Future, InvalidStateError
from typing import Any

from roastcoffea.dask.batches import Batches
from roastcoffea.dask.found import Errors, Found, read
from roastcoffea.dask.installing import START, Installing
from roastcoffea.dask.profiled import our_files

PULL_EVERY_S = 1.0
LONGEST_PAUSE_S = 10.0  # between two pulls of a scheduler that does not answer
FIRST_PULL_S = 1.0  # for which the end of a short block may have to wait
PULL_TIMEOUT_S = 20.0  # of a scheduler that is busy; it forgets us after 60
START_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 4.0
GONE_TIMEOUT_S = 1.0  # for a scheduler that has not answered lately
CLOSED = "the Dask client was closed, or lost its scheduler, before the block ended"


class VanishedError(Exception):
    """The scheduler answers, and knows nothing of the run."""


def send(client: Any, work: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Let a client's event loop do something."""
    loop = getattr(client.loop, "asyncio_loop", None)
    if loop is None or not loop.is_running():
        work.close()
        raise RuntimeError("the event loop of the Dask client does not run")
    return asyncio.run_coroutine_threadsafe(work, loop)


def scheduler_of(client: Any) -> str:
    """Which scheduler a client uses; users may write one address in many ways."""
    told = getattr(client, "_scheduler_identity", None) or {}
    address = getattr(client.scheduler, "address", None)
    return str(told.get("id") or address or id(client))


class Watch:
    """The plugins of one run on the scheduler of one client."""

    def __init__(
        self,
        client: Any,
        core: Any,
        mark: str,
        interval_s: float,
        is_new: bool = False,  # the cluster: its workers have joined just now
    ) -> None:
        self.client = client
        self.scheduler = scheduler_of(client)
        self.batches = Batches(core, self.scheduler)
        self.mark = mark
        self.interval_s = interval_s
        self.is_new = is_new
        self.installed_again = 0
        self.errors: Errors = {}
        self._lock = threading.Lock()
        self._begun: Future[None] = Future()
        self._over: Future[None] = Future()
        self._begin_by_s: float | None = None  # of the monotonic clock; None: not sent
        self._to_end = False
        self._told_to_end = asyncio.Event()  # the same, on the event loop
        self._stop_with: dict[str, Any] = {}  # what the scheduler part takes then
        self._installing = Installing(client, mark, self._note)
        self._is_forgotten = self._is_silent = False
        self._last_answer: Mapping[str, Any] = {}

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return not self._goes_on()

    # ---- in the thread of the block ------------------------------------------------

    def start(self, timeout_s: float = START_TIMEOUT_S) -> bool:
        """Install the plugins and begin to pull; False: that is not done yet. Whoever
        comes second waits for the first."""
        try:
            wait_s = self._send_once(timeout_s) - time.monotonic()
            if wait_s > 0:
                self._begun.result(wait_s)
        except TimeoutError:
            late = TimeoutError(f"no answer within {timeout_s:g} s")
            self._note(START, late)
        except Exception as error:
            self._note(START, error)
        return self._installing.is_there

    def ask_to_stop(
        self,
        span_ids: Iterable[str],
        lacks_output: bool = False,
        packages: Iterable[str] = (),
    ) -> None:
        """Begin to end it; :meth:`found` waits for that. To ask twice is no harm. Where
        an output is lacking, workers send again what went with it; the packages are
        those of the analysis, whose lines are looked for."""
        self._stop_with = {
            "spans": list(span_ids),
            "kept": lacks_output,
            "files": {"own": list(packages), "ours": our_files()},
        }
        self._to_end = True
        _settle(self._begun)
        try:
            loop = self.client.loop.asyncio_loop
            loop.call_soon_threadsafe(self._told_to_end.set)
            is_there = self._begin_by_s is not None and loop.is_running()
        except (AttributeError, RuntimeError):  # the event loop is closed
            is_there = False
        if not is_there:
            _settle(self._over)

    def found(self, timeout_s: float = STOP_TIMEOUT_S) -> Found:
        """What it leaves, as soon as it has ended; if that takes longer it goes on."""
        if self._is_silent:
            timeout_s = min(timeout_s, GONE_TIMEOUT_S)
        try:
            if not self.batches.is_left:
                self._over.result(timeout_s)
        except TimeoutError:
            late = TimeoutError(f"no answer within {timeout_s:.1f} s")
            self._note("end on the scheduler", late)
        finally:
            self.leave()
        return self._read()

    def stop(self, span_ids: Iterable[str], timeout_s: float = STOP_TIMEOUT_S) -> Found:
        """End it; what it leaves."""
        self.ask_to_stop(span_ids)
        return self.found(timeout_s)

    def leave(self) -> None:
        """The run is told nothing any more."""
        self.batches.leave()

    def first_error(self) -> BaseException:
        """Why it did not start."""
        known = (error for error, _ in self.errors.values())
        why = CLOSED if self._is_closed() else "the run was ended while it began"
        return next(known, RuntimeError(why))

    def _send_once(self, timeout_s: float) -> float:
        """Until when somebody who begins it waits."""
        with self._lock:
            if self._begin_by_s is None:
                self._installing.make(self.interval_s, self.is_new)
                self._begin_by_s = time.monotonic() + timeout_s
                send(self.client, self._live())
            return self._begin_by_s

    def _note(self, where: str, error: BaseException, count: int = 1) -> None:
        first, before = self.errors.get(where, (error, 0))
        self.errors[where] = (first, before + count)

    def _read(self) -> Found:
        reasons = []
        if not self._last_answer and self._is_closed():
            reasons.append(CLOSED)
        if self.installed_again:
            times = f"{self.installed_again} time(s)"
            reasons.append(f"the scheduler forgot the run {times}: parts are lost")
        return read(self.scheduler, self._last_answer, reasons, self.errors)

    # ---- on the client's event loop ------------------------------------------------

    async def _live(self) -> None:
        """All of it. Who is told to end while it begins, ends when it has begun."""
        try:
            goes_on = self._goes_on()  # not so with a client that is closed already
            if goes_on and await self._installing.begin():
                _settle(self._begun)
                await self._pull_first()
                await self._follow_until_told()
                await self._end()
        except Exception as error:
            self._note("end on the scheduler", error)
        finally:
            _settle(self._begun)
            _settle(self._over)

    async def _pull_first(self) -> None:
        """To know the scheduler's clock, however short the block is."""
        with contextlib.suppress(Exception):  # the next pull meets it again
            await asyncio.wait_for(self._pull(), FIRST_PULL_S)

    async def _follow_until_told(self) -> None:
        """Nobody follows behind this, though a cancel may come too late to be felt."""
        following = asyncio.create_task(self._follow())
        told = asyncio.create_task(self._told_to_end.wait())
        await asyncio.wait({following, told}, return_when=asyncio.FIRST_COMPLETED)
        following.cancel()
        told.cancel()
        await asyncio.wait({following}, timeout=GONE_TIMEOUT_S)

    async def _follow(self) -> None:
        """Pull as long as there may be a scheduler, be it silent for hours."""
        pause_s = PULL_EVERY_S
        while self._goes_on():
            await asyncio.sleep(pause_s)
            try:
                while self._goes_on() and await self._pull():
                    pass
                self._is_silent = False
                pause_s = PULL_EVERY_S
            except VanishedError:
                await self._begin_again()
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            except (OSError, TimeoutError):  # no connection, or nobody answers
                self._is_silent = True
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            except Exception as error:
                if not self._is_closed():
                    self._note("pull from the scheduler", error)

    def _goes_on(self) -> bool:
        return not (self._to_end or self._is_closed())

    def _is_closed(self) -> bool:
        """The client, that is; one that looks for its scheduler is not."""
        return self.client.status in ("closing", "closed")

    async def _begin_again(self) -> None:
        """This process was stopped for so long that the scheduler forgot the run."""
        if not self._goes_on():
            return
        self.batches.after = 0  # of a plugin that is still to come
        self._is_forgotten = self._installing.is_there
        await self._installing.begin_again(START_TIMEOUT_S)

    async def _pull(self) -> bool:
        """Take some pages; whether there are more."""
        asked = time.time()
        answer = await asyncio.wait_for(self._ask("pull"), PULL_TIMEOUT_S)
        clock = self.batches.clock
        clock.learn(asked, time.time(), answer)
        self._recognise(answer)
        if not clock.is_settled:  # nothing is taken: all comes again with the next pull
            return False
        self._take(answer)
        return bool(answer["more"])

    async def _ask(self, what: str, **told: Any) -> Mapping[str, Any]:
        ask = getattr(self.client.scheduler, f"{self.mark}_{what}")
        answer: Mapping[str, Any] | None = await ask(after=self.batches.after, **told)
        if answer is None:
            raise VanishedError("it knows nothing of the run")
        return answer

    def _recognise(self, answer: Mapping[str, Any]) -> None:
        self.installed_again += self._is_forgotten
        self._is_forgotten = False
        self.batches.recognise(answer["plugin"])

    def _take(self, answer: Mapping[str, Any]) -> None:
        for error in self.batches.take(answer["pages"]):
            self._note("a batch of the scheduler", error)

    async def _end(self) -> None:
        """The stop goes first: what is still to be pulled may take its time."""
        await self._installing.end()  # or it would come to be after the stop
        if self._is_closed():
            return
        answer = await self._ask("stop", **self._stop_with)
        self._last_answer = {k: answer[k] for k in answer.keys() - {"pages"}}
        if answer["errors"]:
            told = RuntimeError(answer["error"])
            self._note("on the scheduler", told, answer["errors"])
        self.batches.clock.is_settled = True  # or as good as it will be
        self._recognise(answer)
        self._take(answer)
        is_more = answer["more"]
        while is_more and not self.batches.is_left:
            is_more = await self._pull()


def _settle(future: Future[None]) -> None:
    """Whoever waits for it goes on."""
    with contextlib.suppress(InvalidStateError):
        future.set_result(None)
