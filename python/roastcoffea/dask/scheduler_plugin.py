# SPDX-License-Identifier: BSD-3-Clause
"""The plugin on the scheduler: records one run until the client has pulled it.

Pickled by value (install.py) with scheduler_pages.py: both use the standard library and
distributed only, so the scheduler does not need this package. Everything on the
scheduler has one name, the mark of the run: the plugin, the worker plugin, the topic of
events and two handlers

    <mark>_pull(after=n, live="")  {"plugin", "pages": [[number, bytes], ...], "more",
                          "now", "boot", "interval", "errors", "error", "shows"};
                          pages <= n are freed; "plugin" changes when page numbers
                          start again; live= if "shows": metrics so far (prometheus.py)
    <mark>_stop(after=n, spans=[], kept=False, files={})  a pull, plus "spans" and
                          "differences" [[names, value], ...], "profile", "unmeasured"
                          {worker: why}, "left_out" {what: why}

Both need token=, because tasks and other clients know the mark. A stop removes
everything, except pull while "more" is true. The plugin removes itself when its client
disconnects, after 60 s without a pull, and after a week. Errors are counted and sent
with the next pull, never raised into the scheduler.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from secrets import token_hex
from time import monotonic, time
from typing import Any

from distributed import SchedulerPlugin
from distributed.protocol.pickle import dumps
from distributed.protocol.serialize import deserialize

from .scheduler_pages import (
    FRAMES,
    Errors,
    Members,
    Pages,
    Samples,
    Tasks,
    boot_id,
    error_text,
    key_hash,
    plain,
)

HANDLERS = ("pull", "stop")
DEFAULT_LIMITS = {
    "page_bytes": 64 << 10,
    "answer_bytes": 1 << 20,
    "cap_bytes": 64 << 20,
    "silence_s": 60.0,  # without a pull; then the plugin removes itself
    "lifetime_s": 7 * 86400.0,
    "stop_s": 2.0,  # to wait for workers at the end
    "start_s": 5.0,  # and at the start
    "again_s": 3.0,  # from the end of a run until late remains are removed
}
TURN_S = 1.0  # at most, between two checks whether the client still pulls
LATE_TURN_S = 1.0  # by which a turn may be late and still count in full as silence
LAST_EVENTS_S = 0.2  # by which events of a worker may follow its answer
JOINING_S = 30.0  # that a worker may take to join
LATE_S = 1.0  # to wait for workers that were joining at the end
AT_ONCE = 50  # workers that are sent a message without a pause
PIECE_OF_WORKERS = 200  # recorded without a pause
SHORTEST_S = 0.01  # between two ticks
MOST_SLOWING = 64  # times the requested interval
MOST_PROFILES = 32  # workers whose profile is read; the others are assumed alike
MOST_KEPT_BYTES = 32 << 20  # that all workers together send at the end
MOST_FRAME_BYTES = 16 << 20
MOST_UNSENT = 1 << 32  # frames that one worker may count as lost
SHOWN_BY = "roastcoffea-prometheus"  # the extension of prometheus.py
OF_SPANS = ("execute", "p2p")  # contexts that Dask counts per span


# ---- counts of Dask itself -------------------------------------------------------


def as_rows(counts: dict[Any, float]) -> list[list[Any]]:
    """[[names, value], ...]: tuples cannot be sent as keys."""
    return [
        [[plain(part) for part in names], float(value)]
        for names, value in counts.items()
        if isinstance(names, tuple)
    ]


def span_counts(scheduler: Any, ids: Iterable[str]) -> list[list[Any]]:
    """The summed counts of Dask's spans with these ids, as rows."""
    known = scheduler.extensions["spans"].spans
    total: dict[Any, float] = {}
    for span in (known[each] for each in ids if each in known):
        for names, value in span.cumulative_worker_metrics.items():
            total[names] = total.get(names, 0) + value
    return as_rows(total)


def spans_on(options: dict[str, Any], dask_scheduler: Any) -> list[list[Any]]:
    """For Client.run_on_scheduler()."""
    return span_counts(dask_scheduler, options["ids"])


def cluster_counts(scheduler: Any) -> dict[Any, float]:
    """Dask's counts outside of spans, since the scheduler started."""
    return {
        names: value
        for names, value in scheduler.cumulative_worker_metrics.items()
        if isinstance(names, tuple) and names and names[0] not in OF_SPANS
    }


# ---- workers ---------------------------------------------------------------------


def failure_of(answer: Any) -> str:
    """The error in a worker's answer; empty: none."""
    if isinstance(answer, TimeoutError):
        return "it did not answer in time"
    if isinstance(answer, BaseException):
        return error_text(answer)
    if isinstance(answer, dict) and answer.get("status") == "error":
        return plain(answer.get("exception_text") or "it failed there", 200)
    return ""


def summary(some: list[str]) -> str:
    """How many workers, and the text of the first; empty: none."""
    return f"{len(some)} worker(s), the first: {some[0]}" if some else ""


class Workers:
    """Messages to all workers, at the start and at the end of the run.

    Each worker gets its own message, so that one without an answer delays no other. An
    answer is awaited for a while, and may arrive later.
    """

    def __init__(self, payload: dict[str, Any], limits: dict[str, float]) -> None:
        self.mark = str(payload["mark"])
        self.plugin = payload.get("worker_plugin")
        self.leave_function = payload["leave_function"]  # pickled: worker_plugin.leave
        self.python = str(payload.get("python", ""))
        self.limits = limits
        self.scheduler: Any = None
        self.unmeasured: dict[str, str] = {}  # {worker: why}
        self.left_out: dict[str, str] = {}  # {what: which workers}
        self._measuring: set[str] = set()  # their last event has not arrived
        self._awaited: set[str] = set()  # of those, the ones that stop() waits for
        self._all_ended: asyncio.Future[None] | None = None
        self._requests: set[Any] = set()  # asyncio itself holds tasks weakly

    async def request(
        self, message: dict[str, Any], addresses: Iterable[str], wait_s: float
    ) -> dict[str, Any]:
        """{worker: its answer, or an exception}."""
        sent: dict[Any, str] = {}
        for each in addresses:
            call = self.scheduler.broadcast(
                msg=dict(message), workers=[each], on_error="return"
            )
            task = asyncio.ensure_future(call)
            self._requests.add(task)
            task.add_done_callback(self._drop_request)
            sent[task] = each
            if len(sent) % AT_ONCE == 0:
                await asyncio.sleep(0)
        if not sent:
            return {}
        done, late = await asyncio.wait(sent, timeout=max(wait_s, 0.0))
        answers: dict[str, Any] = {sent[task]: TimeoutError() for task in late}
        for task in done:
            error = task.exception()
            answers[sent[task]] = error or task.result().get(sent[task])
        return answers

    def _drop_request(self, task: Any) -> None:
        self._requests.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, or asyncio logs it

    async def has_late_answers(self) -> bool:
        """Wait a while for the next late answer; False: none is missing.

        The timer of the timeout also keeps the plugin alive."""
        if not self._requests:
            return False
        first = asyncio.FIRST_COMPLETED
        await asyncio.wait(self._requests, timeout=TURN_S, return_when=first)
        return True

    async def install(self) -> None:
        """Send the worker plugin to all workers, and to those that will join."""
        if not self.plugin:
            return
        self.scheduler.worker_plugins[self.mark] = self.plugin
        message = {"op": "plugin-add", "plugin": self.plugin, "name": self.mark}
        present = list(self.scheduler.workers)
        answers = await self.request(message, present, self.limits["start_s"])
        for address, answer in answers.items():
            if why := failure_of(answer):
                self.unmeasured.setdefault(address, why)

    def check_python(self, state: Any) -> None:
        """A worker with another Python ignores the plugin: its bytecode differs."""
        versions = getattr(state, "versions", None) or {}
        version = str((versions.get("host") or {}).get("python", ""))
        python = ".".join(version.split(".")[:2])
        if self.plugin and self.python and python not in ("", self.python):
            why = f"Python {python} is there, the client has {self.python}"
            self.unmeasured[plain(state.address)] = why

    def forget(self) -> None:
        """Workers that join from now on do not get the worker plugin."""
        kept = self.scheduler.worker_plugins
        if kept.get(self.mark) is self.plugin:
            kept.pop(self.mark, None)

    def take_status(self, address: str, word: str, *more: str) -> int:
        """A worker reports that it measures, or why not, or that its events have
        ended; returns the number of frames that it lost."""
        if word == "last":
            self.end(address)
            return min(max(int(more[0]), 0), MOST_UNSENT)
        if word.startswith("unmeasured"):
            self.unmeasured[plain(address)] = plain(word.partition(": ")[2] or word)
        else:
            self.unmeasured.pop(address, None)
            self._measuring.add(address)
        return 0

    def end(self, address: str) -> None:
        """The last event of this worker has arrived."""
        self._measuring.discard(address)
        self._awaited.discard(address)
        ended = self._all_ended
        if ended is not None and not self._awaited and not ended.done():
            ended.set_result(None)

    async def leave(
        self, profiled: dict[str, Any], wants_kept: bool = False
    ) -> dict[str, Any]:
        """Remove the worker plugin after a last heartbeat; profiles of some workers.

        Events and answers of a worker use different connections, so the last event is
        awaited, too."""
        ends = monotonic() + self.limits["stop_s"]
        wait_s = self.limits["stop_s"]
        present = list(self.scheduler.workers)
        step = 1 + max(len(present) - 1, 0) // MOST_PROFILES
        some = present[::step] if profiled.get("prefixes") else []
        others = list(set(present).difference(some))
        share = MOST_KEPT_BYTES // max(len(present), 1) if wants_kept else 0
        with_profile, answers = await asyncio.gather(
            self.request(self._leave(kept_bytes=share, **profiled), some, wait_s),
            self.request(self._leave(kept_bytes=share), others, wait_s),
        )
        answers.update(with_profile)
        failures = [why for each in answers.values() if (why := failure_of(each))]
        answers.update(await self._remove(answers, ends - monotonic()))
        self._awaited = self._measuring.intersection(
            who for who, each in answers.items() if not failure_of(each)
        )
        if self._awaited:
            self._all_ended = asyncio.get_running_loop().create_future()
            left_s = max(ends - monotonic(), 0.0)
            await asyncio.wait({self._all_ended}, timeout=left_s)
        results = [_result_of(answer) for answer in with_profile.values()]
        left_out = {
            "last heartbeat": summary(failures),
            "last frames": summary(sorted(self._awaited)),
            "hot lines": summary([each["why"] for each in results if "why" in each]),
        }
        self.left_out.update({what: who for what, who in left_out.items() if who})
        rows = [each["profile"] for each in results if each.get("profile")]
        return {"rows": rows, "weight": len(present) / len(rows)} if rows else {}

    async def leave_late(self, addresses: Iterable[str]) -> None:
        """The same for workers that were joining, and may have the plugin now."""
        present = [each for each in addresses if each in self.scheduler.workers]
        ends = monotonic() + LATE_S
        answers = await self.request(self._leave(late=True), present, LATE_S)
        await self._remove(answers, ends - monotonic())

    def _leave(self, **more: Any) -> dict[str, Any]:
        options = {"mark": self.mark, "prefixes": [], "late": False, "kept_bytes": 0}
        args = dumps(({**options, **more},))  # type: ignore[no-untyped-call]
        return {"op": "run", "function": self.leave_function, "args": args}

    async def _remove(self, answers: dict[str, Any], wait_s: float) -> dict[str, Any]:
        """Only remove the plugin, if no function can be run there."""
        refused = [
            who
            for who, each in answers.items()
            if failure_of(each) and not isinstance(each, TimeoutError)
        ]
        present = [who for who in refused if who in self.scheduler.workers]
        message = {"op": "plugin-remove", "name": self.mark}
        return await self.request(message, present if self.plugin else [], wait_s)


def _result_of(answer: Any) -> dict[str, Any]:
    """What a function returned on a worker."""
    result: Any = answer.get("result") if isinstance(answer, dict) else None
    if hasattr(result, "header"):
        result = deserialize(  # type: ignore[no-untyped-call]
            result.header, result.frames
        )
    return result if isinstance(result, dict) else {}


# ---- the plugin ------------------------------------------------------------------


class Plugin(SchedulerPlugin):
    """One run on the scheduler. `payload` is made by install.py; it may have `limits`
    in place of DEFAULT_LIMITS."""

    def __init__(self, payload: dict[str, Any]) -> None:
        self.mark = self.name = str(payload["mark"])
        self.payload = payload
        self.token = str(payload.get("token", ""))
        self.limits = {**DEFAULT_LIMITS, **(payload.get("limits") or {})}
        self.errors = Errors()
        rules = payload["rules"]
        self.pages = Pages(payload["items"], rules, self.limits)
        self.members = Members(self.pages, rules)
        self.tasks = Tasks(self.mark, self.pages, self.members, self.errors, rules)
        series = list(payload["series"])
        self.samples = Samples(self.pages, self.members, self.errors, series)
        self.workers = Workers(payload, self.limits)
        vars(self)["transition"] = self.tasks.transition  # saves a call per task
        interval = float(payload.get("interval") or 0)
        self.interval = max(interval, SHORTEST_S) if interval > 0 else 0.0  # no samples
        self.live_metrics = ""  # OpenMetrics; prometheus.py reads it
        self.id = token_hex(4)
        self.started = time()
        self.scheduler: Any = None
        self.left_out: dict[str, str] = {}  # {what: why}
        self.stopping = self.gone = self.is_tidy = False
        self.silent_s = 0.0  # since the last pull, as far as the event loop turned
        self._began = self._last_request_s = self._turned = monotonic()
        self._leaving_since = 0.0
        self._jobs: set[Any] = set()  # asyncio itself holds tasks weakly
        self._one_tick = asyncio.Lock()
        self._counts: dict[Any, float] = {}

    # ---- start -------------------------------------------------------------------

    async def start(self, scheduler: Any) -> None:
        """Called when the plugin is registered, before any other hook."""
        self.scheduler = self.workers.scheduler = scheduler
        self.tasks.scheduler = self.samples.scheduler = scheduler
        client = self.payload.get("client")
        if client and client not in scheduler.clients:  # no remove_client() will follow
            raise RuntimeError(f"the client of {self.mark} left before its run began")
        if self.mark in scheduler.plugins:
            raise RuntimeError(f"{self.mark} is registered already")
        try:
            scheduler.plugins[self.mark] = self  # so that hooks are called meanwhile
            await self._record_present()
            for name in HANDLERS:
                scheduler.handlers[f"{self.mark}_{name}"] = getattr(self, name)
        except BaseException:
            self._leave_scheduler()
            raise
        self._background(self._watch())
        try:
            await self.workers.install()
        except Exception as error:
            self._fail("worker part", error)
        scheduler.plugins.pop(self.mark, None)  # Dask puts it back after this
        if self.gone:
            raise RuntimeError(f"the client of {self.mark} left while its run began")

    async def _record_present(self) -> None:
        """Record present workers and tasks; hooks record changes."""
        self._counts = self._try("differences", cluster_counts, self.scheduler) or {}
        since = self.payload.get("workers_since")  # NaN: from the start of the run
        for done, address in enumerate(list(self.scheduler.workers), 1):
            if address not in self.members.present:
                self.add_worker(self.scheduler, address, since)
            self._try("tasks", self.tasks.begin, address)
            if done % PIECE_OF_WORKERS == 0:
                await asyncio.sleep(0)

    # ---- hooks -------------------------------------------------------------------

    def add_worker(
        self, scheduler: Any, worker: str, since: float | None = None
    ) -> None:
        try:
            state = scheduler.workers.get(worker)
            if state is not None:
                self.members.join(state, since)
                self.samples.join(state)
                self.workers.check_python(state)
        except Exception as error:
            self.errors.add("a worker that joins", error)

    def remove_worker(
        self, scheduler: Any, worker: str, *, stimulus_id: str = "", **more: Any
    ) -> None:
        try:
            if self.interval:
                self.samples.sample_last(worker, len(self.tasks.running))
            self.samples.leave(worker)
            self.workers.end(worker)
            self.members.leave(worker, stimulus_id)
        except Exception as error:
            self.errors.add("a worker that leaves", error)

    def log_event(self, topic: str, msg: Any) -> None:
        try:
            if topic == self.mark:
                try:
                    self._take_frames(*msg)
                finally:
                    if "topic" not in self.left_out:  # else it would fail again
                        self._try("topic", self._forget_events)
            elif topic == "stealing":
                self.tasks.take_steal(msg)
            elif type(msg) is dict:
                self.members.take_event(topic, msg)
        except Exception as error:
            if topic == self.mark:
                self.pages.dropped[FRAMES] += 1
            self.errors.add("an event", error)

    def _take_frames(self, address: str, key: Any, frames: bytes, *words: str) -> None:
        """Frames of an attempt on a worker, or the worker's status."""
        if words:
            self.pages.dropped[FRAMES] += self.workers.take_status(address, *words)
        size = len(frames)
        if size > MOST_FRAME_BYTES:
            raise ValueError(f"frames of {size} bytes")
        if size:
            number = self.members.number(address)
            self.pages.put(FRAMES, "frames", number, key_hash(key), size, tail=frames)

    def _forget_events(self) -> None:
        """Dask keeps the last thousand events of a topic; ours may be megabytes."""
        broker = getattr(self.scheduler, "_broker", None)
        if broker is not None:
            broker.truncate(self.mark)

    def restart(self, scheduler: Any) -> None:
        """The scheduler drops all tasks without a transition, and all workers leave."""
        self.tasks.forget()
        self.members.restart()

    def remove_client(self, scheduler: Any, client: str) -> None:
        if client == self.payload.get("client") and not self.stopping:
            self._background(self._remove_itself())

    async def close(self) -> None:
        """The scheduler closes."""
        self.gone = True
        self._cancel()

    # ---- periodically ------------------------------------------------------------

    async def _watch(self) -> None:
        """Tick, and check whether the client still pulls."""
        ticked = monotonic()
        while not self.stopping:
            pause_s = self.pause_s(monotonic() - ticked)
            await asyncio.sleep(pause_s)
            self.count_silence(pause_s)
            if self.is_abandoned():
                self._background(self._remove_itself())
                return
            if not self.interval or monotonic() - ticked < self.pace():
                continue
            ticked = monotonic()
            try:
                await self.tick()
            except Exception as error:
                self.errors.add("a tick", error)

    def pause_s(self, since_tick_s: float) -> float:
        """Until the next turn, which also checks for silence: ticks may be rare."""
        longest_s: float = min(TURN_S, self.limits["silence_s"])
        if not self.interval:
            return longest_s
        return min(max(self.pace() - since_tick_s, 0.0), longest_s)

    def count_silence(self, pause_s: float) -> None:
        """Add this turn of the event loop, a late one only in part: a scheduler that
        receives a huge graph cannot answer for a minute."""
        now = monotonic()
        self.silent_s += min(now - self._turned, pause_s + LATE_TURN_S)
        self._turned = now

    def is_abandoned(self) -> bool:
        is_old: bool = monotonic() - self._began > self.limits["lifetime_s"]
        return is_old or self.silent_s > float(self.limits["silence_s"])

    def pace(self) -> float:
        """Seconds between two ticks; doubled each time that pages were dropped."""
        return self.interval * min(1 << min(self.pages.trims, 9), MOST_SLOWING)

    async def tick(self) -> None:
        """One at a time: samples on a page belong to the tick before them."""
        async with self._one_tick:
            for _ in self.ticking():
                await asyncio.sleep(0)

    def ticking(self) -> Iterator[None]:
        touched, self.tasks.touched = self.tasks.touched, set()
        return self.samples.tick(len(self.tasks.running), touched)

    # ---- handlers ----------------------------------------------------------------

    async def pull(
        self, after: int = 0, token: str = "", live: str | None = None
    ) -> dict[str, Any]:
        self.note_request(token)
        if live is not None:  # "": they could not be made
            self.live_metrics = live
        answer = self._answer(after)
        if self.gone and not answer["more"]:
            self._drop_handler("pull")
        return answer

    def note_request(self, token: str) -> None:
        if token != self.token:
            raise PermissionError(f"{self.mark} is the run of another client")
        self.silent_s = 0.0
        self._last_request_s = self._turned = monotonic()

    def _answer(self, after: int) -> dict[str, Any]:
        return {
            **self.pages.pull(after),
            "plugin": self.id,
            "now": time(),
            "boot": boot_id(),
            "interval": self.pace(),
            "errors": self.errors.count,
            "error": self.errors.first,
            "shows": SHOWN_BY in getattr(self.scheduler, "extensions", ()),
        }

    async def stop(
        self, after: int = 0, spans: Any = (), kept: bool = False, **more: Any
    ) -> dict[str, Any]:
        """The end of the run: removes everything."""
        self.note_request(token := str(more.get("token", "")))
        self._begin_to_leave()
        try:
            for _ in self.tasks.find_prefixes():  # running tasks are profiled, too
                await asyncio.sleep(0)
        except Exception as error:
            self.errors.add("prefixes", error)
        prefixes = sorted(self.tasks.our_prefixes)
        profile = await self._leave_workers(prefixes, kept, more.get("files") or {})
        try:
            if self.interval:
                await self.tick()
            for _ in self.tasks.end():
                await asyncio.sleep(0)
        except Exception as error:
            self.errors.add("the last tick", error)
        found = {
            "spans": self._try("spans", span_counts, self.scheduler, spans) or [],
            "differences": self._try("differences", self._differences) or [],
            "profile": profile,
            "unmeasured": self.workers.unmeasured,
            "left_out": self.left_out,
        }
        self._leave_scheduler()
        answer = self._answer(after)
        if answer["more"]:
            self.note_request(token)  # the client has not got this answer yet
            self.scheduler.handlers[f"{self.mark}_pull"] = self.pull
            self._background(self._keep_pages())
        return {**found, **answer}

    def _differences(self) -> list[list[Any]]:
        """What Dask counted outside of spans since the start."""
        now, before = cluster_counts(self.scheduler), self._counts
        changed = {
            k: v - before.get(k, 0) for k, v in now.items() if v != before.get(k)
        }
        return as_rows(changed)

    # ---- the end -----------------------------------------------------------------

    def _begin_to_leave(self) -> None:
        if not self.stopping:
            self.stopping = True
            self._leaving_since = monotonic()

    async def _leave_workers(
        self, prefixes: list[str], wants_kept: bool, files: dict[str, list[str]]
    ) -> dict[str, Any]:
        """Remove the worker plugin; the profile, where it is known."""
        self._try("worker part", self.workers.forget)
        profiled = {"start": self.started, "prefixes": prefixes, "files": files}
        profile = {}
        try:
            profile = await self.workers.leave(profiled, wants_kept)
        except Exception as error:
            self._fail("last heartbeat", error)
        self.left_out.update(self.workers.left_out)
        return profile

    def _leave_scheduler(self) -> None:
        """Remove everything now, and remains later: late events create the topic again,
        and joining workers may have got the worker plugin meanwhile."""
        self._begin_to_leave()
        if self.gone:
            return
        self.gone = True
        if self.scheduler.plugins.get(self.mark) is self:
            self.scheduler.plugins.pop(self.mark)
        for name in HANDLERS:
            self._drop_handler(name)
        self._try("worker part", self.workers.forget)
        self._try("topic", self._drop_topic)
        self._cancel()
        wait_s = self._leaving_since + self.limits["again_s"] - monotonic()
        loop = asyncio.get_running_loop()
        loop.call_later(max(wait_s, 0.0), lambda: self._background(self._tidy()))

    async def _tidy(self) -> None:
        try:
            self._drop_topic()
            since = self._leaving_since - JOINING_S
            late = [who for who, when in self.members.present.items() if when > since]
            if not self._has_successor():
                await self.workers.leave_late(late)
            await asyncio.sleep(LAST_EVENTS_S)
            self._drop_topic()
            while await self.workers.has_late_answers():
                await asyncio.sleep(LAST_EVENTS_S)
                self._drop_topic()
        except Exception as error:
            self.errors.add("late remains", error)
        self.is_tidy = True

    async def _remove_itself(self) -> None:
        """Leave without a stop: the client has gone."""
        if self.stopping:
            return
        self._begin_to_leave()
        if not self._has_successor():
            await self._leave_workers([], False, {})
        self._leave_scheduler()
        self.pages.whole.clear()

    async def _keep_pages(self) -> None:
        """Keep the pages that did not fit into the answer of a stop for a while."""
        again_s = self.limits["again_s"]
        while (wait_s := self._last_request_s + again_s - monotonic()) > 0:
            await asyncio.sleep(wait_s)
        self._drop_handler("pull")
        self.pages.whole.clear()

    def _has_successor(self) -> bool:
        """Whether the client has sent another plugin, which owns the workers now."""
        return self.scheduler.plugins.get(self.mark, self) is not self

    def _drop_handler(self, name: str) -> None:
        """Remove a handler, unless it is that of a successor."""
        handlers, key = self.scheduler.handlers, f"{self.mark}_{name}"
        if getattr(handlers.get(key), "__self__", None) is self:
            handlers.pop(key)

    def _drop_topic(self) -> None:
        broker = getattr(self.scheduler, "_broker", None)
        topics = getattr(broker, "_topics", None)
        if topics is None:
            self.left_out["topic"] = "this distributed keeps topics elsewhere"
        elif not self._has_successor():
            topics.pop(self.mark, None)

    # ---- helpers -----------------------------------------------------------------

    def _background(self, job: Any) -> None:
        task = asyncio.ensure_future(job)
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)

    def _cancel(self) -> None:
        for job in list(self._jobs):
            if job is not asyncio.current_task():
                job.cancel()

    def _try(self, what: str, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return function(*args)
        except Exception as error:
            return self._fail(what, error)

    def _fail(self, what: str, error: BaseException) -> None:
        """Note a part that failed, or that this distributed lacks."""
        self.errors.add(what, error)
        self.left_out.setdefault(what, error_text(error))
