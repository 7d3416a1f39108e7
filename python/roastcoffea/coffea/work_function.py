# SPDX-License-Identifier: BSD-3-Clause
"""The function that coffea's executors call for each chunk, with an attempt around it.

It replaces ``Runner._work_function`` on one Runner during one call and is pickled to
the workers; where the package is not installed it unpickles as the plain function. The
measuring is done in C. On Dask, frames are sent as events, except the chunk frame of a
successful attempt, which is sent with the result. The end frame is sent once: when the
result is packed, or at once if the executor does not pack.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _probe
from .._by_value import ByValue
from ..dask.task import Place, place_of
from ..dask.task import runs as dask_runs
from . import hooks, switch
from .guard import guarded
from .packing import packing
from .work_item import file_of, item_at, item_of

# In the dict that coffea wraps around every output, never in the output itself.
WRAPPED_KEY = "__roastcoffea_frames__"

# Names of steps, for errors.
ITEM, BEGIN, END = "item of a chunk", "begin of a chunk", "end of a chunk"
HOOKS, SWITCH, PACKED = "hooks", "switch of a processor", "packed result"
LINES = "hot lines"
VERSIONS = "versions"
PACKAGES = ("coffea", "uproot", "awkward")

Call = tuple[tuple[Any, ...], dict[str, Any]]

# Receivers of frames in this process: {run id: function of bytes}.
receivers: dict[bytes, Callable[[bytes], None]] = {}
hooks.clearers += [receivers, dask_runs]

# Called when this process has read the number of entries of a file, by run id.
file_read_receivers: dict[bytes, Callable[[int, int], None]] = {}

# File in a spool: a line with start and stop for each file whose entries were read.
FILE_READS = "file_reads"

# Frames of failed attempts that no spool took: (run id, frames), the latest ones.
_waiting: deque[tuple[bytes, bytes]] = deque(maxlen=1000)


class Token(NamedTuple):
    """Run, client and destinations; plain values, so that it unpickles anywhere."""

    run_id: bytes
    client: int
    spools: tuple[str, ...]
    unpack: bool  # the switch is not pickled with the processor: set it on arrival
    counts_entries: bool = False  # reads the entries of a file: only failures are sent
    packs: bool = False  # the executor packs the result afterwards
    with_hooks: bool = True  # False: the user has switched measuring off
    marks: tuple[str, ...] = ()  # of the runs on Dask, one for each collector
    samples_lines: bool = False  # hot lines
    packages: tuple[str, ...] = ()  # that the analysis is in
    name_key: bytes = b""  # marks redacted names; never stored


class Attempt:
    """A running call; the user of the hooks."""

    def __init__(self, place: Place | None) -> None:
        self.place = place
        self.with_hooks = False
        self.is_sampled = False
        self.held: Any = None  # the switch of a processor
        self.is_ended = False
        self.frames: Any = None  # not sent yet
        self.begun_ns = time.monotonic_ns()

    def release(self) -> None:
        if self.is_sampled:
            guarded(LINES, _probe.hot_lines_end)
            self.is_sampled = False
        if self.with_hooks:
            guarded(HOOKS, hooks.disarm, self)
        held, self.held = self.held, None
        if held is not None:
            guarded(SWITCH, switch.release, held, self)


def rebuild(parts: tuple[Any, Any, Any]) -> Any:
    """Unpickle a work function, with ``_probe.user_functions`` or its stand-in."""
    function, token, user_functions = parts
    return user_functions.work_function(function, token)


REBUILD = ByValue(rebuild, otherwise=0)  # the plain function on another Python


@_probe.frameless_call
class WorkFunction:
    """``function`` as an attempt of the run that ``token`` names."""

    def __init__(self, function: Callable[..., Any], token: Any) -> None:
        self.function = function
        self.token = Token(*token)

    def __reduce__(self) -> Any:
        return REBUILD, ((self.function, tuple(self.token), _probe.user_functions),)

    __call__: Callable[..., Any]  # before_call(), the function, after_call(); from C

    def before_call(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], undo: list[Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], Attempt | None]:
        """The function, its arguments, and the attempt for ``after_call``; ``undo``
        gets what C calls if anything is raised."""
        place, goes_on = place_of(self.token.marks)
        if not goes_on:  # the run has ended there
            return self.function, args, kwargs, None
        attempt = Attempt(place)
        undo.append(functools.partial(self.abandon, attempt))
        if self.token.counts_entries:
            guarded(BEGIN, self.begin_file_read, attempt, args)
        else:
            item = item_at(place, guarded(ITEM, item_of, args))
            guarded(PACKED, packing.flush_thread)
            guarded(BEGIN, self.begin, place, item)
            args, kwargs = self.prepare(attempt, args, kwargs)
            if self.token.samples_lines:
                guarded(LINES, self.sample_lines, attempt, sys._getframe())
        return self.function, args, kwargs, attempt

    def after_call(
        self, attempt: Attempt | None, result: Any, error: BaseException | None
    ) -> Any:
        """The result for the caller; the caller raises an error itself."""
        if attempt is None:
            return result
        if error is not None:
            self.abandon(attempt, error)
            return None
        attempt.release()
        if self.token.counts_entries:
            guarded(END, self.end, attempt, ())
            guarded(END, self.report_file_read, attempt.begun_ns)
            return result
        carrying = guarded(END, self.ended, attempt, result)
        return result if carrying is None else carrying

    def abandon(self, attempt: Attempt, error: BaseException) -> None:
        """What is raised ends the attempt; nothing is done again."""
        try:
            attempt.release()
        finally:
            if not attempt.is_ended or attempt.frames:
                guarded(END, self.failed, attempt, error)

    def end(
        self, attempt: Attempt, spools: tuple[str, ...], error: Any = None, *apart: bool
    ) -> Any:
        """End it once; its frames."""
        client, end = self.token.client, _probe.attempt_end
        if not attempt.is_ended:
            attempt.frames, attempt.is_ended = end(client, spools, error, *apart), True
        return attempt.frames

    def note_error(self, error: Exception) -> None:
        """Count an error in ``before_call`` or ``after_call``."""
        with contextlib.suppress(MemoryError):
            _probe.note_error(END, error)

    def begin(self, place: Place | None, item: tuple[Any, ...]) -> None:
        token = self.token
        begun = _probe.attempt_begin(
            token.run_id,
            token.client,
            token.spools,
            item,
            self.packs(),
            token.name_key,
        )
        _deliver(token, place, begun)

    def failed(self, attempt: Attempt, error: BaseException) -> None:
        """An attempt raised: send its frames at once, or with the next result. Frames
        that cannot be sent on Dask are counted there."""
        token, place = self.token, attempt.place
        frames = self.end(attempt, token.spools, error)
        if isinstance(frames, tuple):  # it had ended well
            frames = b"".join(filter(None, frames))
        is_taken = guarded(END, _deliver, token, place, frames)
        if frames and not is_taken and place is None:
            _waiting.append((token.run_id, frames))
        if place is not None:
            place.report_disarmed()
        attempt.frames = None

    def ended(self, attempt: Attempt, result: Any) -> Any:
        """The result of an attempt, with its frames if they cannot be sent."""
        token, place = self.token, attempt.place
        if place is None and not self.packs():
            frames, end = self.end(attempt, token.spools), None
        else:
            frames, end = self.end(attempt, token.spools, None, True)
        if place is not None:
            result = self.ended_on_dask(place, result, frames, end)
        elif frames is not None and not guarded(END, _deliver, token, None, frames):
            sent = [*_waited(token.run_id), frames + (end or b"")]
            result = _with_frames(result, sent)
        elif end is not None:
            self.finish_later(None, end)
        attempt.frames = None
        return result

    def ended_on_dask(
        self, place: Place, result: Any, frames: bytes | None, end: bytes | None
    ) -> Any:
        """The chunk frame is sent with the result, the end frame as an event."""
        guarded(END, place.report_disarmed)
        if end is None:
            return result
        held = [*_waited(self.token.run_id), *([frames] if frames else [])]
        if held and not _carries(result):  # a DataFrame, for example
            place.send(b"".join([*held, end]))
            return result
        if frames:
            guarded(END, place.keep, frames)
        self.finish_later(place, end)
        return _with_frames(result, held) if held else result

    def packs(self) -> bool:
        """Whether the packing of the result can be measured."""
        token = self.token
        return token.packs and token.with_hooks and packing.is_possible()

    def finish_later(self, place: Place | None, end: bytes) -> None:
        """Send the end frame when the result is packed, else at once."""
        finish = functools.partial(guarded, PACKED, self.finish, place, end)
        expect = functools.partial(packing.expect, self.token.run_id)
        if not (self.packs() and guarded(PACKED, expect, finish)):
            finish(None)

    def finish(self, place: Place | None, end: bytes, size: int | None) -> None:
        """Send the end frame, with time and size of the packed result."""
        token = self.token
        last = (None if size is None else _probe.attempt_packed(size)) or end
        left = _probe.send_frames(token.client, token.spools, last)
        if left and not _deliver(token, place, left) and place is None:
            _waiting.append((token.run_id, left))

    def prepare(
        self, attempt: Attempt, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Call:
        """Put the hooks in place, and set the switch of the processor."""
        guarded(VERSIONS, _describe_process)
        if self.token.with_hooks:
            attempt.with_hooks = True
            guarded(HOOKS, hooks.arm, attempt, args, self.token.packs)
        if self.token.unpack:
            switched = guarded(SWITCH, _switched_on, args, kwargs, attempt)
            (args, kwargs), attempt.held = switched or ((args, kwargs), None)
        return args, kwargs

    def sample_lines(self, attempt: Attempt, frame: Any) -> None:
        """Sample this thread until the attempt is released; ``frame`` was called by the
        one that called the attempt."""
        from .hot_lines import begin

        attempt.is_sampled = True
        begin(self.token[:3], self.token.packages, frame.f_back)

    def begin_file_read(self, attempt: Attempt, args: tuple[Any, ...]) -> None:
        """Preprocessing of a file; frames are sent only if it fails."""
        item = item_at(attempt.place, guarded(ITEM, file_of, args))
        token = self.token
        _probe.attempt_begin(
            token.run_id, token.client, (), item, False, token.name_key
        )

    def report_file_read(self, begun_ns: int) -> None:
        """Report to the client when the entries of a file were read."""
        token, ended_ns = self.token, time.monotonic_ns()
        if token.client != _probe.process_id():
            for spool in token.spools:
                note_line(spool, FILE_READS, f"{begun_ns} {ended_ns}\n")
        elif token.run_id in file_read_receivers:
            file_read_receivers[token.run_id](begun_ns, ended_ns)


@functools.cache
def _describe_process() -> None:
    """Versions and site go with the first chunk of this process: packages that chunks
    need are imported by now."""
    _probe.describe("python", sys.version.split()[0])
    for name in PACKAGES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            _probe.describe(name, version)
    for name, is_site in _probe.environment():
        if is_site and os.environ.get(name):
            text = os.environ[name].encode(errors="replace").decode()
            _probe.describe("site", text)
            break


def note_line(spool: str, name: str, line: str) -> None:
    """Append to a file of a spool; one write: lines of several processes do not mix."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(OSError):  # another machine has no such folder
        file = os.open(os.path.join(spool, name), flags, 0o600)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)


def _deliver(token: Token, place: Place | None, frames: bytes | None) -> bool:
    """Send frames to the collector, by Dask or in this process; False: impossible."""
    if place is not None:
        return place.send(frames)
    receive = receivers.get(token.run_id)
    if frames is None or receive is None or token.client != _probe.process_id():
        return False
    receive(frames)
    return True


def _switched_on(
    args: tuple[Any, ...], kwargs: dict[str, Any], attempt: Attempt
) -> tuple[Call, Any]:
    """The arguments with the processor unpacked, as coffea would, and switched on."""
    packed = kwargs.get("processor_instance")
    beside = isinstance(packed, str) and packed == "heavy" and bool(args)
    if beside and isinstance(args[-1], tuple) and len(args[-1]) == 2:
        packed = args[-1][1]  # on Dask it is sent once, and joined to each item
    processor = _unpacked(packed)
    if processor is None or isinstance(processor, str):
        return (args, kwargs), None
    if not switch.hold(processor, attempt):
        return (args, kwargs), None
    if beside:
        return ((*args[:-1], (args[-1][0], processor)), kwargs), processor
    return (args, kwargs | {"processor_instance": processor}), processor


def _unpacked(processor: Any) -> Any:
    if not isinstance(processor, bytes):
        return processor
    try:
        import cloudpickle
        import lz4.frame

        return cloudpickle.loads(lz4.frame.decompress(processor))
    except Exception:  # coffea tries the same next, and raises
        return None


def _waited(run_id: bytes) -> list[bytes]:
    """Frames of failed attempts of a run; those of other runs are dropped."""
    found = []
    with contextlib.suppress(IndexError):  # until it is empty
        while True:
            found.append(_waiting.popleft())
    return [frames for run, frames in found if run == run_id]


def _carries(result: Any) -> bool:
    return type(result) is dict and "processed" in result


def _with_frames(result: Any, frames: list[bytes]) -> Any:
    """Add frames to coffea's dict around the output."""
    return {**result, WRAPPED_KEY: frames} if _carries(result) else result
