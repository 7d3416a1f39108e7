# SPDX-License-Identifier: BSD-3-Clause
"""The plugin on workers: makes a run known there, with our package or a copy of it.

What is installed is used if it understands us. Where it is not there, or is another
one, the copy that travelled along is imported from memory under a name of its own;
where that cannot be either, chunks run unmeasured and the run is told why. In the end a
worker is as it was. Travels as source: standard library and distributed only.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from importlib import import_module
from typing import Any

from distributed import WorkerPlugin

from .._address import address_of
from .._standin import IMPORTER, may_be_ours
from .memory_package import Files, bring, claim, give_back
from .texts import error_words, plain

PUBLIC_NAME = "roastcoffea"
LAST_WORDS_S = 2.0
JOINING_S = 1.0  # a worker that joins does nothing else meanwhile
PRESENT_S = 4.0  # the scheduler waits a little longer, and the block with it
RUNNING = ("running", "paused", "closing_gracefully")  # in Dask's words


class Refused(Exception):
    """Why a worker stays unmeasured."""


class Plugin(WorkerPlugin):
    """One run on one worker."""

    def __init__(self, payload: dict[str, Any]) -> None:
        self.payload = payload
        self.mark: str = payload["mark"]
        self.kept_bytes = 0  # of what went with results, to be sent at the end
        self.tasks: Any = None  # the module that knows runs and tasks
        self.copy: Files | None = None  # who finds the copy that is used
        self.beginning: Any = None  # held here: asyncio keeps tasks weakly
        self.importing: Any = None  # what a thread does for it
        self.is_over = False

    # ---- its way in ----------------------------------------------------------------

    async def setup(self, worker: Any) -> None:
        """What takes too long goes on by itself; chunks run unmeasured until then."""
        self.beginning = asyncio.ensure_future(self.begin_and_say(worker))
        self.beginning.add_done_callback(seen)
        wait_s = JOINING_S if is_joining(worker) else PRESENT_S
        await asyncio.wait({self.beginning}, timeout=wait_s)
        if not self.beginning.done() and not self.is_over:
            self.say(worker, "unmeasured: what is needed is still being imported there")

    async def begin_and_say(self, worker: Any) -> None:
        try:
            status = await self.begin(worker)
        except Refused as reason:
            status = f"unmeasured: {reason}"
        except Exception as error:
            status = f"unmeasured: {refusal(error)}"
        self.payload.pop("files", None)
        if not self.is_over:
            self.say(worker, status)

    async def begin(self, worker: Any) -> str:
        """Make the run known; how that went."""
        tasks = await self.in_thread(self.installed)
        status = "measured: what is installed"
        if tasks is None:
            tasks = await self.in_thread(self.shipped, *self.claimed(worker))
            status = "measured: a copy of the client's"
        self.tasks = tasks
        run_id, client = self.payload["run_id"], self.payload["client"]
        why = tasks.begin(self.mark, worker, run_id, client)
        return f"unmeasured: {why}" if why else status

    async def in_thread(self, function: Any, *args: Any) -> Any:
        """Imports may take long, and a worker has other things to do meanwhile. The
        thread goes on when nobody waits any more; then it is done for nothing."""
        self.importing = from_thread(function, *args)
        self.importing.add_done_callback(seen)
        await asyncio.wait({self.importing})
        if self.is_over:
            raise Refused("the run has ended")
        return self.importing.result()

    def installed(self) -> Any:
        """The module of an installed package that speaks our language, or None. A
        package that is not ours is neither imported nor asked."""
        try:
            if is_copy(PUBLIC_NAME) or not may_be_ours(sys.modules):
                return None
            probe = import_module(PUBLIC_NAME + "._probe")
            if vars(probe).get("frame_version") != self.payload["frame_version"]:
                return None
            tasks = import_module(PUBLIC_NAME + ".adapters.dask_worker")
        except Exception:
            return None
        return tasks if self.payload["language"] == tasks.LANGUAGE else None

    def claimed(self, worker: Any) -> tuple[Any, ...]:
        """What bring() needs for the copy that travelled along, which stays from now on
        until the end of the run; :class:`Refused` without one."""
        files = self.payload.get("files")
        if files is None:
            raise Refused(self.payload["why_not"])
        _check_python()
        package = self.payload["name"], files, [worker.local_directory, ""]
        self.copy = claim(*package)
        self.copy.users.add(self)
        return package

    def shipped(self, name: str, files: dict[str, bytes], folders: list[str]) -> Any:
        """The same module of the copy."""
        bring(name, files, folders)
        return import_module(name + ".adapters.dask_worker")

    # ---- its way out ---------------------------------------------------------------

    async def teardown(self, worker: Any) -> None:
        self.is_over = True
        unsent, lost = self.end(worker)
        await asyncio.sleep(0)  # what threads have given to this loop goes first
        self.say_last(worker, unsent, lost)
        if getattr(worker.status, "name", "") in RUNNING:
            beat = asyncio.ensure_future(worker.heartbeat())  # so that spans are whole
            beat.add_done_callback(seen)
            await asyncio.wait({beat}, timeout=LAST_WORDS_S)

    def end(self, worker: Any) -> tuple[list[Any], int | None]:
        """Forget the run and put everything back: what has not been sent yet, and how
        much cannot be; None when nobody knows."""
        unsent: list[Any] = []
        lost: int | None = 0
        tasks, self.tasks = self.tasks, None
        if tasks is not None:
            try:
                unsent, lost = tasks.end(self.mark, worker, self.kept_bytes)
            except Exception:
                lost = None
        if self.importing is None or self.importing.done():
            self.put_back()
        else:
            self.importing.add_done_callback(lambda done: self.put_back())
        return unsent, lost

    def put_back(self) -> None:
        copy, self.copy = self.copy, None
        if copy is not None:
            give_back(copy, self)

    def say_last(self, worker: Any, unsent: list[Any], lost: int | None) -> None:
        """All on the way that everything else took, so that nothing is behind it. A
        worker that does not know what it has lost says nothing, which tells it."""
        for message in unsent:
            sent = self.log(worker, message)
            lost = lost if sent or lost is None else lost + 1
        if lost is not None:
            self.say(worker, "last", str(lost))

    def say(self, worker: Any, *words: str) -> None:
        """Words of the worker about itself."""
        self.log(worker, [address_of(worker), "", b"", *map(plain, words)])

    def log(self, worker: Any, message: list[Any]) -> bool:
        """Whether it was sent."""
        try:
            worker.log_event(self.mark, message)
        except Exception:  # a worker that is closing
            return False
        return True


def seen(done: Any) -> None:
    """Nobody has to wait for it: its exception is nothing to complain about."""
    done.cancelled() or done.exception()


def from_thread(function: Any, *args: Any) -> Any:
    """What a function will give, as a future of this event loop. The thread is our own:
    those of the loop are waited for when a worker ends, however long they take."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def settle(result: Any, reason: Refused | None) -> None:
        if future.cancelled():
            return
        if reason is None:
            future.set_result(result)
        else:
            future.set_exception(reason)

    def call() -> None:
        result, reason = None, None
        try:
            result = function(*args)
        except BaseException as error:  # SystemExit would end the event loop
            reason = refusal(error)
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            loop.call_soon_threadsafe(settle, result, reason)

    threading.Thread(target=call, name=IMPORTER, daemon=True).start()
    return future


def refusal(error: BaseException) -> Refused:
    """An error as a reason: its first line."""
    return Refused(error_words(error).partition("\n")[0])


def is_joining(worker: Any) -> bool:
    """Whether a worker waits for its plugins before it begins to work: heartbeats come
    after them."""
    try:
        return not worker.periodic_callbacks["heartbeat"].is_running()
    except Exception:  # another Dask than we know
        return True


def is_copy(name: str) -> bool:
    """Whether a module is the copy of another run, which goes when that run ends."""
    module = sys.modules.get(name)
    return module is not None and vars(module).get("__name__") != name


def _check_python() -> None:
    """Whether this interpreter can load the extension; some would crash."""
    if sys.implementation.name != "cpython" or sys.version_info < (3, 11):
        version = ".".join(map(str, sys.version_info[:2]))
        kind = f"{sys.implementation.name} {version}"
        raise Refused(f"{kind} is there; a copy needs CPython 3.11 or later")
    if "t" in getattr(sys, "abiflags", ""):
        raise Refused("a Python without GIL is there; a copy cannot be loaded by it")


def make(payload: dict[str, Any]) -> Plugin:
    return Plugin(payload)
