# SPDX-License-Identifier: BSD-3-Clause
"""The client's side of runs on Dask: installs the plugins, pulls pages, ends the run.

A ``Watch`` is one run on the scheduler of one client: one coroutine on the client's
event loop, from the installation to the end. The thread of the block waits for these
two for a limited time only, so that the plugins are removed whatever happens to that
thread. Errors are kept and reported at the end, never raised. ``Watches`` are those of
one block, one for each scheduler.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
import time
from collections.abc import Coroutine, Iterable, Mapping
from concurrent.futures import Future, InvalidStateError, wait
from typing import Any, NamedTuple

from roastcoffea import _probe
from roastcoffea.dask import profile
from roastcoffea.dask.batches import Batches
from roastcoffea.dask.install import RUN_ID, START, Installation
from roastcoffea.dask.spans import Marked, new_mark

PULL_EVERY_S = 1.0
LONGEST_PAUSE_S = 10.0  # between two pulls of a scheduler that does not answer
FIRST_PULL_S = 1.0  # the end of a short block may wait for it
PULL_TIMEOUT_S = 20.0  # of a busy scheduler; it removes the plugin after 60 s
START_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 4.0
LIVE_EVERY_S = 5.0  # metrics are sent, not more often
LIVE_SHARE = 0.01  # of the time, at most, is used to make them
LOOK_EVERY_S = 0.05  # whether a Ctrl-C came
GONE_TIMEOUT_S = 1.0  # for a scheduler that has not answered lately
END = "end on the scheduler"
LOST = (
    "the scheduler was lost before the block ended: what it had not reported yet is"
    " missing"
)
UNAWAITED = (
    "Ctrl-C ended the wait for the start on the scheduler: what workers did until then"
    " is missing"
)
CLOSED = "the Dask client was closed, or lost its scheduler, before the block ended"

Activities = dict[tuple[str, ...], float]
Errors = dict[str, tuple[BaseException, int]]  # {where: (the first, how many)}


class VanishedError(Exception):
    """The scheduler answers, but does not have the plugin."""


class Found(NamedTuple):
    """Results of the run on one scheduler beside its pages; any part may be empty."""

    scheduler: str
    spans: Activities  # {(context, prefix, activity, unit): value}
    differences: Activities  # of what Dask counts outside of spans
    profile: dict[str, Any]  # as profile.hot_lines() takes it
    unmeasured: dict[str, str]  # {address of a worker: why}
    reasons: list[str]  # what is missing, and why
    errors: Errors  # of the monitor itself
    is_lost: bool = False  # the scheduler
    gaps: int = 0  # how often its recording was interrupted


def send(client: Any, work: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Run a coroutine on a client's event loop."""
    loop = getattr(client.loop, "asyncio_loop", None)
    if loop is None or not loop.is_running():
        work.close()
        raise RuntimeError("the event loop of the Dask client does not run")
    return asyncio.run_coroutine_threadsafe(work, loop)


def scheduler_of(client: Any) -> str:
    """Identifies the scheduler of a client; one address can be written in many ways."""
    identity = getattr(client, "_scheduler_identity", None) or {}
    address = getattr(client.scheduler, "address", None)
    return str(identity.get("id") or address or id(client))


def add_up(parts: Iterable[Activities]) -> Activities:
    """The summed counts of several schedulers."""
    total: Activities = {}
    for part in parts:
        for names, value in part.items():
            total[names] = total.get(names, 0.0) + value
    return total


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
        self.core = core
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
        self._end_event = asyncio.Event()  # the same, on the event loop
        self._stop_with: dict[str, Any] = {}  # arguments of the plugin's stop()
        self._installation = Installation(client, mark, self._note)
        self._was_removed = self._is_silent = self._is_unawaited = False
        self._shows = False  # the scheduler, live metrics (prometheus.py)
        self._next_live_s = 0.0  # of the monotonic clock: not before
        self._last_answer: Mapping[str, Any] = {}

    @property
    def is_over(self) -> bool:
        """Whether it was stopped, or the client is closed."""
        return not self._goes_on()

    # ---- in the thread of the block ------------------------------------------------

    def start(self, timeout_s: float = START_TIMEOUT_S) -> bool:
        """Install the plugins and start pulling; False: not installed yet. A second
        thread waits for the first."""
        try:
            with self._lock:
                if self._begin_by_s is None:
                    self._installation.make(self.interval_s, self.is_new)
                    self._begin_by_s = time.monotonic() + timeout_s
                    send(self.client, self._live())
            # After a Ctrl-C the block ends at once, which stops the installation; or it
            # was only noted by the user's handler.
            is_late = time.monotonic() > self._begin_by_s  # noted by an earlier call
            while not (is_late or self._begun.done() or _probe.ctrl_c_waits()):
                if time.monotonic() > self._begin_by_s:
                    raise TimeoutError(f"no answer within {timeout_s:g} s")
                wait({self._begun}, LOOK_EVERY_S)
            self._is_unawaited |= not (is_late or self._begun.done())
        except Exception as error:
            self._note(START, error)
        return self._installation.is_there

    def begin_stop(
        self,
        span_ids: Iterable[str],
        lacks_output: bool = False,
        packages: Iterable[str] = (),
    ) -> None:
        """Begin to end it; :meth:`found` waits for that. May be called twice. If an
        output is missing, workers send the frames of its results again; ``packages``
        are those of the analysis, whose lines the profile shows."""
        self._stop_with = {
            "spans": list(span_ids),
            "kept": lacks_output,
            "files": {"own": list(packages), "ours": profile.our_files()},
        }
        self._to_end = True
        _resolve(self._begun)
        try:
            loop = self.client.loop.asyncio_loop
            loop.call_soon_threadsafe(self._end_event.set)
            is_there = self._begin_by_s is not None and loop.is_running()
        except (AttributeError, RuntimeError):  # the event loop is closed
            is_there = False
        if not is_there:
            _resolve(self._over)

    def found(self, timeout_s: float = STOP_TIMEOUT_S) -> Found:
        """The results when it has ended; after the timeout it ends in background."""
        if self._is_silent or self._has_lost_scheduler():
            timeout_s = min(timeout_s, GONE_TIMEOUT_S)
        try:
            if not self.batches.is_left:
                self._over.result(timeout_s)
        except TimeoutError:
            if not self._has_lost_scheduler():
                self._note(END, TimeoutError(f"no answer within {timeout_s:.1f} s"))
        finally:
            self.leave()
        answer, reasons = self._last_answer, []
        is_lost = not answer and self._has_lost_scheduler()
        if is_lost:
            reasons.append(LOST)
        elif not answer and self._is_closed():
            reasons.append(CLOSED)
        if self._is_unawaited:
            reasons.append(UNAWAITED)
        if self.installed_again:
            count = self.installed_again
            times = "once" if count == 1 else f"{count} times"
            reasons.append(
                f"the scheduler's recording was interrupted {times}: events are missing"
            )
        left_out = answer.get("left_out") or {}
        return Found(
            self.scheduler,
            _activities(answer.get("spans")),
            _activities(answer.get("differences")),
            dict(answer.get("profile") or {}),
            dict(answer.get("unmeasured") or {}),
            [*reasons, *(f"{what}: {why}" for what, why in left_out.items())],
            {} if is_lost else dict(self.errors),
            is_lost,
            self.installed_again,
        )

    def stop(self, span_ids: Iterable[str], timeout_s: float = STOP_TIMEOUT_S) -> Found:
        """End it; its results."""
        self.begin_stop(span_ids)
        return self.found(timeout_s)

    def leave(self) -> None:
        """Add nothing to the run any more."""
        self.batches.leave()

    def first_error(self) -> BaseException:
        """Why it did not start."""
        known = (error for error, _ in self.errors.values())
        why = CLOSED if self._is_closed() else "the run was ended while it began"
        return next(known, RuntimeError(why))

    def _note(self, where: str, error: BaseException, count: int = 1) -> None:
        first, before = self.errors.get(where, (error, 0))
        self.errors[where] = (first, before + count)

    # ---- on the client's event loop ------------------------------------------------

    async def _live(self) -> None:
        """From start to end. A stop during the start takes effect afterwards."""
        try:
            goes_on = self._goes_on()  # not so with a client that is closed already
            if goes_on and await self._installation.begin():
                _resolve(self._begun)
                with contextlib.suppress(Exception):  # the next pull has the same error
                    # so that even a short block has the scheduler's clock
                    await asyncio.wait_for(self._pull(), FIRST_PULL_S)
                await self._follow_until_end()
                await self._end()
        except Exception as error:
            self._note(END, error)
        finally:
            _resolve(self._begun)
            _resolve(self._over)

    async def _follow_until_end(self) -> None:
        """Pull until the end; no pull follows, even if cancelling one takes time."""
        following = asyncio.create_task(self._follow())
        ending = asyncio.create_task(self._end_event.wait())
        await asyncio.wait({following, ending}, return_when=asyncio.FIRST_COMPLETED)
        following.cancel()
        ending.cancel()
        await asyncio.wait({following}, timeout=GONE_TIMEOUT_S)

    async def _follow(self) -> None:
        """Pull until the end, even if the scheduler does not answer for hours."""
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
            except (OSError, TimeoutError):  # no connection, or no answer
                self._is_silent = True
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            except Exception as error:
                if not self._is_closed():
                    self._note("pull from the scheduler", error)

    def _goes_on(self) -> bool:
        return not (self._to_end or self._is_closed())

    def _is_closed(self) -> bool:
        """Whether the client is closed; one that reconnects is not."""
        return self.client.status in ("closing", "closed")

    def _has_lost_scheduler(self) -> bool:
        """Whether the client has no connection, and was not closed."""
        return bool(self.client.status == "connecting")

    async def _begin_again(self) -> None:
        """Install the plugin again, which the scheduler has removed or lost."""
        if not self._goes_on():
            return
        self.batches.after = 0  # the new plugin numbers its pages from the start
        self._was_removed = self._installation.is_there
        await self._installation.begin_again(START_TIMEOUT_S)

    async def _pull(self) -> bool:
        """Read some pages; whether there are more."""
        metrics = self._metrics()  # before the clock is read
        sent_s = time.time()
        call = self._call_plugin("pull", **metrics)
        answer = await asyncio.wait_for(call, PULL_TIMEOUT_S)
        clock = self.batches.clock
        clock.learn(sent_s, time.time(), answer)
        self._recognise(answer)
        self._shows = bool(answer.get("shows"))
        if not clock.is_settled:  # the next pull gets the same pages again
            return False
        self._take(answer)
        return bool(answer["more"])

    def _metrics(self) -> dict[str, str]:
        """The metrics so far, if they are due, and if the scheduler shows them."""
        began_s, text = time.monotonic(), ""
        if not self._shows or began_s < self._next_live_s:
            return {}
        try:
            text = self.core.live_metrics()
        except Exception as error:
            self._note("live metrics", error)
        took_s = time.monotonic() - began_s
        self._next_live_s = began_s + max(LIVE_EVERY_S, took_s / LIVE_SHARE)
        return {"live": text}

    async def _call_plugin(self, what: str, **options: Any) -> Mapping[str, Any]:
        handler = getattr(self.client.scheduler, f"{self.mark}_{what}")
        answer: Mapping[str, Any] | None
        token = self._installation.token
        answer = await handler(after=self.batches.after, token=token, **options)
        if answer is None:
            raise VanishedError("the scheduler does not have the run's plugin")
        return answer

    def _recognise(self, answer: Mapping[str, Any]) -> None:
        self.installed_again += self._was_removed
        self._was_removed = False
        self.batches.recognise(answer["plugin"])

    def _take(self, answer: Mapping[str, Any]) -> None:
        for error in self.batches.take(answer["pages"]):
            self._note("a batch of the scheduler", error)

    async def _end(self) -> None:
        """Stop first: pulling the remaining pages may take long."""
        await self._installation.end()  # or it would be installed after the stop
        if self._is_closed():
            return
        answer = await self._call_plugin("stop", **self._stop_with)
        self._last_answer = {k: answer[k] for k in answer.keys() - {"pages"}}
        if answer["errors"]:
            error = RuntimeError(answer["error"])
            self._note("on the scheduler", error, answer["errors"])
        self.batches.clock.is_settled = True  # it will not get better
        self._recognise(answer)
        self._take(answer)
        is_more = answer["more"]
        while is_more and not self.batches.is_left:
            is_more = await self._pull()


class Watches:
    """The schedulers of one block, under one mark.

    A client may be given to the collector, belong to a Runner's executor, or be created
    by coffea for a single call and closed after it. Each scheduler is watched once, and
    all of them end together. ``run`` gets the results.
    """

    def __init__(self, run: Any, interval_s: float) -> None:
        self.run = run
        self.interval_s = interval_s  # 0: workers are not sampled
        self.mark = new_mark()
        self.marked = Marked(self.mark)
        self._watches: list[Watch] = []  # the last of a scheduler is its present one
        self._is_ended = False
        self._lock = threading.Lock()  # never held while waiting for Dask
        run.core.accept(RUN_ID)  # of decorated functions in any task

    def add(self, client: Any, is_new: bool = False) -> None:
        """Watch the scheduler of a client, unless it is watched already; again if the
        client of that watch was closed."""
        scheduler = scheduler_of(client)
        with self._lock:
            if self._is_ended:
                return
            known = [each for each in self._watches if each.scheduler == scheduler]
            if known and not known[-1].is_over:
                watch = known[-1]
            else:
                mark = self.mark
                if known and not is_new:  # the earlier plugin may still be there
                    mark = new_mark()
                    self.marked.add(mark)
                watch = Watch(client, self.run.core, mark, self.interval_s, is_new)
                self._watches.append(watch)
        with self.run.own_wait():
            watch.start()

    def drop(self, client: Any) -> None:
        """A client is about to be closed."""
        with self._lock:
            watches = [each for each in self._watches if each.client is client]
        with self.run.own_wait():
            for watch in watches:
                watch.stop(self.marked.span_ids)

    def end(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """End all of them together, and add their results to the run."""
        ends_s = time.monotonic() + timeout_s
        watches = self._begin_stop()
        found = [each.found(max(0.0, ends_s - time.monotonic())) for each in watches]
        self.run.guarded("results of Dask", self._add_results, found)
        self._forget()

    def leave(self) -> None:
        """Add nothing to the run any more."""
        for watch in self._begin_stop():
            watch.leave()
        self._forget()

    def _forget(self) -> None:
        """Drop the references to clients: a run may be kept for long."""
        with self._lock:
            self._watches.clear()

    def _begin_stop(self) -> list[Watch]:
        self._is_ended = True
        with self._lock:
            watches = list(self._watches)
        lacks_output, packages = self.run.lacks_output(), self.run.packages
        for watch in watches:
            watch.begin_stop(self.marked.span_ids, lacks_output, packages)
        return watches

    def _add_results(self, found: list[Found]) -> None:
        run = self.run
        for each in found:
            for where, (error, count) in each.errors.items():
                run.note_error(where, error, count)
        if any(each.is_lost for each in found):
            run.core.add_fact("lost_schedulers", sum(each.is_lost for each in found))
        if gaps := sum(each.gaps for each in found):
            run.core.add_fact("scheduler_gaps", gaps)
            run.notes.set_text("partial", "a recording was interrupted")
        for reason in dict.fromkeys(text for each in found for text in each.reasons):
            run.notes.add_remark(reason)
        unmeasured = {k: why for each in found for k, why in each.unmeasured.items()}
        for count, why in grouped(unmeasured.values()):
            run.notes.add_remark(f"{count} worker(s) unmeasured: {why}")
        # Spans of a scheduler that was watched twice include those of the first time.
        last = {each.scheduler: each.spans for each in found if each.spans}
        spans = add_up(last.values())
        run.core.set_activities(spans | add_up(each.differences for each in found))
        run.keep_spans(spans)
        for each in found:
            if run.with_hot_lines:
                rows = profile.hot_lines(each.profile, _profile_interval())
                run.core.add_hot_lines(rows)


def grouped(texts: Iterable[str]) -> Iterable[tuple[int, str]]:
    """How many there are of each text, the first one of those that differ in numbers
    only: reasons name addresses and folders."""
    alike: dict[str, list[str]] = {}
    for text in texts:
        alike.setdefault(re.sub(r"\w*\d\w*", "0", text), []).append(text)
    return [(len(each), each[0]) for each in alike.values()]


def _activities(rows: Any) -> Activities:
    """{names: value} of [[names, value], ...]."""
    return {tuple(map(str, names)): float(value) for names, value in rows or ()}


def _profile_interval() -> float:
    """Seconds between two samples of Dask's profiler, as configured on this machine."""
    import dask
    from dask.utils import parse_timedelta

    interval = dask.config.get("distributed.worker.profile.interval", "10ms")
    return float(parse_timedelta(interval, default="ms"))


def _resolve(future: Future[None]) -> None:
    with contextlib.suppress(InvalidStateError):
        future.set_result(None)
