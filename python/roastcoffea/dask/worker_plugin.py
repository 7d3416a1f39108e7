# SPDX-License-Identifier: BSD-3-Clause
"""The plugin on workers: begins a run there, with the installed package or a copy.

An installed package is used if it has our frame version. Otherwise the files in the
payload are unpacked into a folder of the worker and imported under a private name; the
copy stays loaded for the next run. If that fails, chunks are not measured and the run
has the reason. Pickled by value (install.py): standard library and distributed only.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
import threading
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin

from .._standin import IMPORTER, PUBLIC, may_be_ours
from .profile import profile_of
from .scheduler_pages import error_text, plain

LAST_HEARTBEAT_S = 2.0
JOINING_S = 1.0  # a worker that joins does nothing else meanwhile
PRESENT_S = 4.0  # the scheduler waits a little longer
RUNNING = ("running", "paused", "closing_gracefully")  # Dask's names
SHARED_MEMORY = "/dev/shm"


class Refused(Exception):
    """Why a worker is not measured."""


class Plugin(WorkerPlugin):
    """One run on one worker. `payload` is made by install.py."""

    def __init__(self, payload: dict[str, Any]) -> None:
        self.payload = payload
        self.mark: str = payload["mark"]
        self.kept_bytes = 0  # limit of frames of results to be sent at the end
        self.runs: Any = None  # dask/worker.py of the package that is used
        self.beginning: Any = None  # held here: asyncio holds tasks weakly
        self.is_over = False

    # ---- begin -------------------------------------------------------------------

    async def setup(self, worker: Any) -> None:
        """Begin; if that takes long, it goes on in background."""
        self.beginning = asyncio.ensure_future(self.begin_and_report(worker))
        self.beginning.add_done_callback(_retrieve)
        wait_s = JOINING_S if _is_joining(worker) else PRESENT_S
        await asyncio.wait({self.beginning}, timeout=wait_s)
        if not self.beginning.done() and not self.is_over:
            self.report(worker, "unmeasured: roastcoffea is still being imported there")

    async def begin_and_report(self, worker: Any) -> None:
        try:
            status = await self.begin(worker)
        except Exception as error:
            status = f"unmeasured: {_reason_of(error)}"
        self.payload.pop("files", None)
        if not self.is_over:
            self.report(worker, status)

    async def begin(self, worker: Any) -> str:
        """Begin the run; the status of the worker."""
        runs, free, status = await _in_thread(self.load, worker.local_directory)
        if self.is_over:
            raise Refused("the run has ended")
        self.runs = runs
        run_id, client = self.payload["run_id"], self.payload["client"]
        name_key = self.payload["name_key"]
        why = runs.begin(self.mark, worker, run_id, client, free, name_key)
        return f"unmeasured: {why}" if why else status

    def load(self, local_directory: str) -> tuple[Any, list[str], str]:
        """dask/worker.py of a package that fits, public names for it, the status."""
        runs, status = self.installed(), "measured: installed package"
        if runs is None:
            if self.payload["files"] is None:
                raise Refused(self.payload["why_not"])
            folders = (local_directory, tempfile.gettempdir(), SHARED_MEMORY)
            load_copy(self.payload["name"], self.payload["files"], folders)
            runs = import_module(self.payload["name"] + ".dask.worker")
            status = "measured: copy of the client's package"
        return runs, runs.free_names(), status

    def installed(self) -> Any:
        """That module of the installed package if it fits, or None. Another package of
        our name is not imported."""
        try:
            package = sys.modules.get(PUBLIC)
            if getattr(package, "__name__", PUBLIC) != PUBLIC:
                return None  # the copy of another run
            if not may_be_ours():
                return None
            probe = import_module(PUBLIC + "._probe")
            if vars(probe).get("frame_version") != self.payload["frame_version"]:
                return None
            runs = import_module(PUBLIC + ".dask.worker")
        except Exception:
            return None
        return runs if self.payload["protocol"] == runs.PROTOCOL else None

    # ---- end ---------------------------------------------------------------------

    async def teardown(self, worker: Any) -> None:
        self.is_over = True
        unsent: list[Any] = []
        lost: int | None = 0
        runs, self.runs = self.runs, None
        if runs is not None:
            try:
                unsent, lost = runs.end(self.mark, worker, self.kept_bytes)
            except Exception:
                lost = None
        await asyncio.sleep(0)  # messages of other threads are sent first
        for message in unsent:
            is_sent = self.log(worker, message)
            lost = lost if is_sent or lost is None else lost + 1
        if lost is not None:  # else unknown: no last event
            self.report(worker, "last", str(lost))
        if getattr(worker.status, "name", "") in RUNNING:
            beat = asyncio.ensure_future(worker.heartbeat())  # completes Dask's spans
            beat.add_done_callback(_retrieve)
            await asyncio.wait({beat}, timeout=LAST_HEARTBEAT_S)

    # ---- events ------------------------------------------------------------------

    def report(self, worker: Any, *words: str) -> None:
        """Send the status of the worker."""
        address = str(getattr(worker, "contact_address", None) or worker.address)
        self.log(worker, [address, "", b"", *map(plain, words)])

    def log(self, worker: Any, message: list[Any]) -> bool:
        """Whether it was sent."""
        try:
            worker.log_event(self.mark, message)
        except Exception:  # a worker that is closing
            return False
        return True


async def leave(options: dict[str, Any], dask_worker: Any) -> dict[str, Any]:
    """At the end of a run, once per worker: its profile, and a last heartbeat.

    Removing the plugin sends the heartbeat and the last event."""
    answer: dict[str, Any] = {}
    try:
        if options["prefixes"]:
            start, files = options["start"], options["files"]
            found = profile_of(dask_worker, start, options["prefixes"], files)
            answer["profile"] = found
    except Exception as error:
        answer["why"] = error_text(error)
    plugin = dask_worker.plugins.get(options["mark"])
    if plugin is not None:
        plugin.kept_bytes = options["kept_bytes"]
        answer["left"] = await dask_worker.plugin_remove(name=options["mark"])
    elif not options["late"]:  # the first call has sent one
        await dask_worker.heartbeat()
    return answer


async def heartbeat(options: dict[str, Any], dask_worker: Any) -> None:
    """Send a heartbeat now: a span is complete when all workers have."""
    await dask_worker.heartbeat()


# ---- the copy ------------------------------------------------------------------------


def load_copy(name: str, files: dict[str, bytes], folders: tuple[str, ...]) -> None:
    """Import the package `name` from the first folder that it can be loaded from."""
    errors: list[Exception] = []
    for folder in dict.fromkeys(folders):
        root, is_new = "", False
        try:
            if name not in sys.modules:
                root, is_new = unpack(name, files, folder)
                sys.path.append(root)  # our own folder, with nothing else in it
            import_module(name)  # waits for a thread that does the same
            return
        except (ImportError, OSError) as error:  # a noexec mount, for one
            errors.append(error)
        finally:
            if root:
                sys.path.remove(root)
        if is_new:
            shutil.rmtree(root, ignore_errors=True)
    raise ImportError(f"{errors[0]} ({len(errors)} folders were tried)")


def unpack(name: str, files: dict[str, bytes], folder: str) -> tuple[str, bool]:
    """The folder with the package, and whether it is new. An existing one is never
    changed: other processes may use it."""
    target = os.path.join(folder, f"{name}-{os.getuid()}")
    if _is_unpacked(target, name, files):
        return target, False
    new = tempfile.mkdtemp(prefix=f"{name}-", dir=folder)
    try:
        for path, packed in files.items():
            file = Path(new, name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(zlib.decompress(packed))
        with contextlib.suppress(OSError):  # another process was first
            os.rename(new, target)
            return target, True
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    if _is_unpacked(target, name, files):
        shutil.rmtree(new, ignore_errors=True)
        return target, False
    return new, True


def _is_unpacked(target: str, name: str, files: dict[str, bytes]) -> bool:
    """Whether exactly these files are there, and only this user can write to them."""
    try:
        state = os.lstat(target)
        if state.st_uid != os.getuid() or state.st_mode & 0o77:
            return False
        return all(
            Path(target, name, path).read_bytes() == zlib.decompress(packed)
            for path, packed in files.items()
        )
    except OSError:
        return False


# ---- helpers -------------------------------------------------------------------------


def _retrieve(done: Any) -> None:
    """Read the exception of a future: asyncio logs one that is never read."""
    done.cancelled() or done.exception()


async def _in_thread(function: Any, *args: Any) -> Any:
    """Run an import, which may take long, outside of the event loop. Threads of the
    loop's own pool would be joined when the worker ends."""
    loop = asyncio.get_running_loop()
    future: Any = loop.create_future()

    def finish(result: Any, error: Refused | None) -> None:
        if future.cancelled():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def run() -> None:
        result, refused = None, None
        try:
            result = function(*args)
        except BaseException as error:  # SystemExit would end the event loop
            refused = Refused(_reason_of(error))
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            loop.call_soon_threadsafe(finish, result, refused)

    threading.Thread(target=run, name=IMPORTER, daemon=True).start()
    future.add_done_callback(_retrieve)
    return await future


def _reason_of(error: BaseException) -> str:
    """The first line of an error."""
    words = str(error) if isinstance(error, Refused) else error_text(error)
    return words.partition("\n")[0]


def _is_joining(worker: Any) -> bool:
    """Whether a worker is still starting: heartbeats start after its plugins."""
    try:
        return not worker.periodic_callbacks["heartbeat"].is_running()
    except Exception:  # this Dask differs
        return True
