# SPDX-License-Identifier: BSD-3-Clause
"""The Dask side of one block: every scheduler that its runs use, under one mark.

A client may be known from the start, come with a Runner's executor, or be made by
coffea for a single call and closed after it. Each scheduler is watched once, and all of
them end together.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from roastcoffea.dask import profiled, shipping
from roastcoffea.dask.found import Found, add_up, all_spans
from roastcoffea.dask.spans import Marked, new_mark
from roastcoffea.dask.watch import STOP_TIMEOUT_S, Watch, scheduler_of


class Watches:
    """The clients of one block. ``run`` is told what they found."""

    def __init__(self, run: Any, interval_s: float) -> None:
        self.run = run
        self.interval_s = interval_s  # 0: workers are not sampled
        self.mark = new_mark()
        self.marked = Marked(self.mark)
        self._watches: list[Watch] = []  # the last of a scheduler is its present one
        self._is_ended = False
        self._lock = threading.Lock()  # nobody waits for Dask inside
        run.core.accept(shipping.RUN_ID)  # of decorated functions in any task

    def add(self, client: Any, is_new: bool = False) -> None:
        """Watch the scheduler of a client, unless that is done already."""
        watch = self._watch_of(client, is_new)
        if watch is not None:
            watch.start()

    def _watch_of(self, client: Any, is_new: bool) -> Watch | None:
        """The one of its scheduler; a new one where the client of that was closed."""
        scheduler = scheduler_of(client)
        with self._lock:
            if self._is_ended:
                return None
            known = [each for each in self._watches if each.scheduler == scheduler]
            if known and not known[-1].is_over:
                return known[-1]
            mark = self.mark
            if known and not is_new:  # what was there may not be gone yet
                mark = new_mark()
                self.marked.add(mark)
            watch = Watch(client, self.run.core, mark, self.interval_s, is_new)
            self._watches.append(watch)
            return watch

    def drop(self, client: Any) -> None:
        """A client is about to be closed."""
        with self._lock:
            watches = [each for each in self._watches if each.client is client]
        for watch in watches:
            watch.stop(self.marked.span_ids)

    def end(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """End all of them at once, and tell the run."""
        ends_s = time.monotonic() + timeout_s
        watches = self._ask_to_stop()
        found = [each.found(max(0.0, ends_s - time.monotonic())) for each in watches]
        self.run.guarded("what Dask told", self._tell, found)
        self._forget()

    def leave(self) -> None:
        """The run is over, however that came: it is told nothing any more."""
        for watch in self._ask_to_stop():
            watch.leave()
        self._forget()

    def _forget(self) -> None:
        """Runs are kept for long: not with the clients they had."""
        with self._lock:
            self._watches.clear()

    def _ask_to_stop(self) -> list[Watch]:
        self._is_ended = True
        with self._lock:
            watches = list(self._watches)
        lacks_output, packages = self.run.lacks_output(), self.run.packages
        for watch in watches:
            watch.ask_to_stop(self.marked.span_ids, lacks_output, packages)
        return watches

    def _tell(self, found: list[Found]) -> None:
        run = self.run
        for each in found:
            for where, (error, count) in each.errors.items():
                run.note_error(where, error, count)
        for reason in dict.fromkeys(text for each in found for text in each.reasons):
            run.add_remark(reason)
        unmeasured = {k: why for each in found for k, why in each.unmeasured.items()}
        for why in dict.fromkeys(unmeasured.values()):
            count = sum(1 for other in unmeasured.values() if other == why)
            run.add_remark(f"{count} worker(s) unmeasured: {why}")
        spans = all_spans(found)
        run.core.set_activities(spans | add_up(each.differences for each in found))
        run.keep_spans(spans)
        for each in found:
            rows = profiled.hot_lines(each.profile, _profile_interval())
            run.core.add_hot_lines(rows)


def _profile_interval() -> float:
    """Seconds between two looks of Dask's profiler, as far as this machine knows."""
    import dask
    from dask.utils import parse_timedelta

    told = dask.config.get("distributed.worker.profile.interval", "10ms")
    return float(parse_timedelta(told, default="ms"))
