# SPDX-License-Identifier: BSD-3-Clause
"""The function that coffea's executors call for each chunk, with an attempt around it.

It stands in for ``Runner._work_function`` on one Runner during one run, travels to
wherever chunks run, and gives up to the plain function where we are not installed. All
that is measured happens in C; here a result only passes through.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from roastcoffea import _probe
from roastcoffea.adapters import hooks, switch
from roastcoffea.adapters.packing import packing

# In the dict that coffea wraps around every output, never in the output itself.
WRAPPED_KEY = "__roastcoffea_frames__"

# Who takes frames in this process: {run id: function of bytes}.
receivers: dict[bytes, Callable[[bytes], None]] = {}

# Frames of failed attempts that no spool took: (run id, frames), the latest ones.
_waiting: deque[tuple[bytes, bytes]] = deque(maxlen=1000)


class Token(NamedTuple):
    """Which run, whose process, where to; plain values, so that it pickles anywhere."""

    run_id: bytes
    client: int
    spools: tuple[str, ...]
    unpack: bool  # the switch does not travel with the processor: set it on arrival
    counts_entries: bool = False  # a file is asked for its entries: only failures tell
    packs: bool = False  # the executor packs the result afterwards
    looks: bool = True  # into chunks, unless the user has switched measuring off


class WorkFunction:
    """``function`` as an attempt of the run that ``token`` names."""

    def __init__(self, function: Callable[..., Any], token: Any) -> None:
        self.function = function
        self.token = Token(*token)

    def __reduce__(self) -> Any:
        return _probe.front.work_function, (self.function, tuple(self.token))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.token.counts_entries:
            return self.count_entries(*args, **kwargs)
        token, item = self.token, _item(args)
        packing.forget()
        try:  # whatever happens, what has begun is ended
            begun = _probe.attempt_begin(token.run_id, token.client, token.spools, item)
            _hand_over(token, begun)
            result = self.looked_into(args, kwargs)
        except BaseException as error:
            frames = _probe.attempt_end(token.client, token.spools, error)
            if frames is not None and not _hand_over(token, frames):
                _waiting.append((token.run_id, frames))
            raise
        frames = _probe.attempt_end(token.client, token.spools, None)
        if frames is None or _hand_over(token, frames):
            if token.packs and token.looks:
                packing.expect(self.packed)
            return result
        return _with_frames(result, [*_waited(token.run_id), frames])

    def looked_into(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call of coffea's function, with hooks in place."""
        user, held = object(), None
        try:
            if self.token.looks:
                hooks.arm(user, args, self.token.packs)
            if self.token.unpack:
                kwargs, held = _switched_on(kwargs)
            return self.function(*args, **kwargs)
        finally:
            if self.token.looks:
                hooks.disarm(user)
            if held is not None:
                switch.release(held)

    def packed(self) -> None:
        """The executor has packed what the last call gave."""
        token = self.token
        _hand_over(token, _probe.attempt_packed(token.client, token.spools))

    def count_entries(self, *args: Any, **kwargs: Any) -> Any:
        """Preprocessing of a file. When it works nobody hears of it."""
        token, item = self.token, _file(args)
        try:
            _probe.attempt_begin(token.run_id, token.client, (), item)
            result = self.function(*args, **kwargs)
        except BaseException as error:
            frames = _probe.attempt_end(token.client, token.spools, error)
            if frames is not None and not _hand_over(token, frames):
                _waiting.append((token.run_id, frames))
            raise
        _probe.attempt_end(token.client, (), None)
        return result


def _file(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a FileMeta says of itself: a chunk of no entries yet."""
    for arg in reversed(args):
        if hasattr(arg, "filename") and hasattr(arg, "dataset"):
            treename = getattr(arg, "treename", None)
            return (arg.dataset, arg.filename, treename, None, 0, 0)
    return (None, None, None, None, None, None)


def _item(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a WorkItem says of itself, wherever it is among the arguments."""
    for arg in reversed(args):
        item = arg[0] if isinstance(arg, tuple) and arg else arg
        try:
            return (
                getattr(item, "dataset", None),
                item.filename,
                getattr(item, "treename", None),
                getattr(item, "fileuuid", None),
                int(item.entrystart),
                int(getattr(item, "entrystop", -1)),
            )
        except (AttributeError, TypeError, ValueError):  # no item, or an odd one
            continue
    return (None, None, None, None, None, None)


def _hand_over(token: Token, frames: bytes | None) -> bool:
    """Give frames to the collector, if it is in this process."""
    receive = receivers.get(token.run_id)
    if frames is None or receive is None or token.client != _probe.process_id():
        return False
    receive(frames)
    return True


def _switched_on(kwargs: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """The arguments with the processor unpacked, as coffea would, and switched on."""
    processor = kwargs.get("processor_instance")
    if isinstance(processor, bytes):
        import cloudpickle
        import lz4.frame

        processor = cloudpickle.loads(lz4.frame.decompress(processor))
    if processor is None or isinstance(processor, str) or not switch.hold(processor):
        return kwargs, None
    return kwargs | {"processor_instance": processor}, processor


def _waited(run_id: bytes) -> list[bytes]:
    """What failed attempts of a run left; that of other runs nobody waits for."""
    found = []
    while _waiting:
        try:
            found.append(_waiting.popleft())
        except IndexError:  # another thread took it
            break
    return [frames for run, frames in found if run == run_id]


def _with_frames(result: Any, frames: list[bytes]) -> Any:
    """Where no other way is left, frames travel beside the output."""
    if type(result) is not dict or "processed" not in result:
        return result
    return {**result, WRAPPED_KEY: frames}
