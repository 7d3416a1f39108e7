# SPDX-License-Identifier: BSD-3-Clause
"""The function that coffea's executors call for each chunk, with an attempt around it.

It stands in for ``Runner._work_function`` on one Runner during one run, travels to
wherever chunks run, and gives up to the plain function where we are not installed. All
that is measured happens in C; here a result only passes through. On Dask, frames go out
as events, but for the chunk of an attempt that ended well: it goes with the result. An
end frame is sent once: when the result is packed, or at once where it is not.
"""

from __future__ import annotations

import contextlib
import functools
import os
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

# Steps of ours that may fail, as the run names them.
ITEM, BEGIN, END = "item of a chunk", "begin of a chunk", "end of a chunk"
HOOKS, SWITCH, PACKED = "hooks", "switch of a processor", "packed result"

Call = tuple[tuple[Any, ...], dict[str, Any]]

# What takes frames in this process: {run id: function of bytes}.
receivers: dict[bytes, Callable[[bytes], None]] = {}
hooks.clearers += [receivers, dask_runs]

# Called when the client has read the entries of a file: {run id: ClientWork.asked}.
askers: dict[bytes, Callable[[int, int], None]] = {}

# In a spool: when processes of a pool have asked files, a line each.
ASKED = "asked"

# Frames of failed attempts that no spool took: (run id, frames), the latest ones.
_waiting: deque[tuple[bytes, bytes]] = deque(maxlen=1000)


class Token(NamedTuple):
    """Which run, whose process, where to; plain values, so that it pickles anywhere."""

    run_id: bytes
    client: int
    spools: tuple[str, ...]
    unpack: bool  # the switch does not travel with the processor: set it on arrival
    counts_entries: bool = False  # reads the entries of a file: only failures are sent
    packs: bool = False  # the executor packs the result afterwards
    looks: bool = True  # into chunks, unless the user has switched measuring off
    marks: tuple[str, ...] = ()  # of the runs on Dask, one for each collector


class Attempt:
    """What is known of a call while it lasts; the user of the hooks."""

    def __init__(self, place: Place | None) -> None:
        self.place = place
        self.looks = False
        self.held: Any = None  # the switch of a processor
        self.begun_ns = time.monotonic_ns()

    def release(self) -> None:
        if self.looks:
            guarded(HOOKS, hooks.disarm, self)
        held, self.held = self.held, None
        if held is not None:
            guarded(SWITCH, switch.release, held)


def rebuild(parts: tuple[Any, Any, Any]) -> Any:
    """A work function where it is unpickled: of the front there, or its stand-in."""
    function, token, front = parts
    return front.work_function(function, token)


REBUILD = ByValue(rebuild, otherwise=0)  # the plain function on another Python


@_probe.frameless_call
class WorkFunction:
    """``function`` as an attempt of the run that ``token`` names."""

    def __init__(self, function: Callable[..., Any], token: Any) -> None:
        self.function = function
        self.token = Token(*token)

    def __reduce__(self) -> Any:
        return REBUILD, ((self.function, tuple(self.token), _probe.front),)

    __call__: Callable[..., Any]  # before_call(), the function, after_call(); from C

    def before_call(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], Attempt | None]:
        """What to call and how, and what ``after_call`` needs."""
        place, goes_on = place_of(self.token.marks)
        if not goes_on:  # the run has ended there
            return self.function, args, kwargs, None
        attempt = Attempt(place)
        try:  # whatever happens, what has begun is ended
            if self.token.counts_entries:
                guarded(BEGIN, self.begin_asking, attempt, args)
            else:
                item = item_at(place, guarded(ITEM, item_of, args))
                guarded(PACKED, packing.flush_thread)
                guarded(BEGIN, self.begin, place, item)
                args, kwargs = self.look_into(attempt, args, kwargs)
        except BaseException as error:  # Ctrl-C
            self.after_call(attempt, None, error)
            raise
        return self.function, args, kwargs, attempt

    def after_call(
        self, attempt: Attempt | None, result: Any, error: BaseException | None
    ) -> Any:
        """What the caller gets; an error goes on to it by itself."""
        if attempt is None:
            return result
        try:
            attempt.release()
        except BaseException as interrupt:  # Ctrl-C: it is ended all the same
            try:
                attempt.release()
            finally:
                guarded(END, self.failed, attempt.place, error or interrupt)
            raise
        if error is not None:
            guarded(END, self.failed, attempt.place, error)
            return None
        if self.token.counts_entries:
            guarded(END, _probe.attempt_end, self.token.client, (), None)
            guarded(END, self.asked, attempt.begun_ns)
            return result
        carrying = guarded(END, self.ended, attempt.place, result)
        return result if carrying is None else carrying

    def note_error(self, error: Exception) -> None:
        """A step of ours failed where none should: the call goes on without it."""
        with contextlib.suppress(MemoryError):
            _probe.note_error(END, error)

    def begin(self, place: Place | None, item: tuple[Any, ...]) -> None:
        token = self.token
        begun = _probe.attempt_begin(token.run_id, token.client, token.spools, item)
        _hand_over(token, place, begun)

    def failed(self, place: Place | None, error: BaseException) -> None:
        """An attempt raised: its frames go out at once, or with the next result. What
        Dask does not take is counted as lost, or its run has ended."""
        token = self.token
        frames = _probe.attempt_end(token.client, token.spools, error)
        is_taken = guarded(END, _hand_over, token, place, frames)
        if frames and not is_taken and place is None:
            _waiting.append((token.run_id, frames))
        if place is not None:
            place.send_trouble()

    def ended(self, place: Place | None, result: Any) -> Any:
        """The result of an attempt, with its frames where they have no other way."""
        token = self.token
        packs = token.packs and token.looks and packing.is_possible()
        if place is None and not packs:
            frames, end = _probe.attempt_end(token.client, token.spools, None), None
        else:
            frames, end = _probe.attempt_end(token.client, token.spools, None, True)
        if place is not None:
            return self.ended_on_dask(place, result, frames, end)
        if frames is not None and not guarded(END, _hand_over, token, None, frames):
            return _with_frames(result, [*_waited(token.run_id), frames + (end or b"")])
        if end is not None:
            self.finish_later(None, end)
        return result

    def ended_on_dask(
        self, place: Place, result: Any, frames: bytes | None, end: bytes | None
    ) -> Any:
        """The chunk goes with the result, the end as soon as it is known."""
        guarded(END, place.send_trouble)
        if end is None:
            return result
        held = [*_waited(self.token.run_id), *([frames] if frames else [])]
        if held and not _carries(result):  # a DataFrame, say: there is no other way
            place.send(b"".join([*held, end]))
            return result
        if frames:
            guarded(END, place.keep, frames)
        self.finish_later(place, end)
        return _with_frames(result, held) if held else result

    def finish_later(self, place: Place | None, end: bytes) -> None:
        """Send the end of the attempt: when its result is packed, else at once."""
        token = self.token
        packs = token.packs and token.looks
        finish = functools.partial(guarded, PACKED, self.finish, place, end)
        if not (packs and guarded(PACKED, packing.expect, token.run_id, finish)):
            finish(False)

    def finish(self, place: Place | None, end: bytes, is_packed: bool) -> None:
        """Send the end of the attempt: with its packing, or as it returned."""
        token = self.token
        last = (_probe.attempt_packed() if is_packed else None) or end
        left = _probe.send_frames(token.client, token.spools, last)
        if left and not _hand_over(token, place, left) and place is None:
            _waiting.append((token.run_id, left))

    def look_into(
        self, attempt: Attempt, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Call:
        """Hooks are put in place, and the switch of the processor is set."""
        if self.token.looks:
            attempt.looks = True
            guarded(HOOKS, hooks.arm, attempt, args, self.token.packs)
        if self.token.unpack:
            switched = guarded(SWITCH, _switched_on, args, kwargs)
            (args, kwargs), attempt.held = switched or ((args, kwargs), None)
        return args, kwargs

    def begin_asking(self, attempt: Attempt, args: tuple[Any, ...]) -> None:
        """Preprocessing of a file. When it works, only the client gets its duration."""
        item = item_at(attempt.place, guarded(ITEM, file_of, args))
        _probe.attempt_begin(self.token.run_id, self.token.client, (), item)

    def asked(self, begun_ns: int) -> None:
        """A file was asked: by the client, or by a process that has a spool of it."""
        token, ended_ns = self.token, time.monotonic_ns()
        if token.client != _probe.process_id():
            for spool in token.spools:
                _note_asked(spool, f"{begun_ns} {ended_ns}\n")
        elif token.run_id in askers:
            askers[token.run_id](begun_ns, ended_ns)


def _note_asked(spool: str, line: str) -> None:
    """One write: lines of several processes do not mix."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(OSError):  # on another machine: then it is unknown
        file = os.open(os.path.join(spool, ASKED), flags, 0o600)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)


def _hand_over(token: Token, place: Place | None, frames: bytes | None) -> bool:
    """Give frames to the collector: by Dask, or if it is in this process."""
    if place is not None:
        return place.send(frames)
    receive = receivers.get(token.run_id)
    if frames is None or receive is None or token.client != _probe.process_id():
        return False
    receive(frames)
    return True


def _switched_on(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Call, Any]:
    """The arguments with the processor unpacked, as coffea would, and switched on."""
    packed = kwargs.get("processor_instance")
    beside = isinstance(packed, str) and packed == "heavy" and bool(args)
    if beside and isinstance(args[-1], tuple) and len(args[-1]) == 2:
        packed = args[-1][1]  # on Dask it is sent once, and joined to each item
    processor = _unpacked(packed)
    if processor is None or isinstance(processor, str) or not switch.hold(processor):
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
    except Exception:  # coffea is about to try the same, and raises
        return None


def _waited(run_id: bytes) -> list[bytes]:
    """What failed attempts of a run left; those of other runs are dropped."""
    found = []
    with contextlib.suppress(IndexError):  # until it is empty
        while True:
            found.append(_waiting.popleft())
    return [frames for run, frames in found if run == run_id]


def _carries(result: Any) -> bool:
    return type(result) is dict and "processed" in result


def _with_frames(result: Any, frames: list[bytes]) -> Any:
    """Where no other way is left, frames travel beside the output."""
    return {**result, WRAPPED_KEY: frames} if _carries(result) else result
