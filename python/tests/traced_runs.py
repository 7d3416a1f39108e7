# SPDX-License-Identifier: BSD-3-Clause
"""Runs for the tests of traces: every clock reading is given, in ns."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from handmade_frames import BEGIN, CHUNK, NUMBERS, crc32c, pairs, sized, varint
from roastcoffea import Run, _core, open_run

EPOCH_NS = 1_763_215_323_000_000_000
MS = 1_000_000
SECOND = 1_000_000_000
RUN_ID = bytes(range(16))
TIMES = {"start_epoch_ns", "end_epoch_ns", "start_mono_ns", "task_start_mono_ns"}
OK, FAILED = 1, 2
END = 0x13  # version 1, kind 3
# What must not break any format; text that is no UTF-8 is bytes.
NAMES = [
    'a "quoted" name',
    "two\nlines",
    "\x00\x1b[31m\x07\u202e",
    "=cmd|' /C calc'!A0",
    "é\U0001f525",
    b"caf\xe9 \xff",
    "x" * 100_000,
]


def shown(name: str | bytes) -> str:
    """As a reader of text gets it."""
    if isinstance(name, str):
        return name
    return "".join(chr(c) if c < 0x80 else "\ufffd" for c in name)


def frame(kind: int = CHUNK, /, **fields: Any) -> bytes:
    body = b""
    for name, value in fields.items():
        tag = NUMBERS[name] << 2
        if name in TIMES:
            body += varint(tag | 1) + struct.pack("<q", value)
        elif isinstance(value, int):
            body += varint(tag) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            body += varint(tag | 2) + sized(data)
    whole = bytes([0xCF, kind]) + sized(body)
    return whole + crc32c(whole)


def identity(process: int, sequence: int) -> bytes:
    return RUN_ID + process.to_bytes(8, "little") + sequence.to_bytes(4, "little")


def attempt(process: int, sequence: int, after_ns: int, **more: Any) -> bytes:
    """An attempt of 100 ms, of which process() took 60: it began so long after the run.
    Its monotonic clock is that of the run."""
    both = {"identity": identity(process, sequence), "status": OK}
    fields = {
        "start_epoch_ns": EPOCH_NS + after_ns + 30 * MS,
        "start_mono_ns": after_ns + 30 * MS,
        "duration_ns": 60 * MS,
        "dataset": "ttbar",
        "file": "/data/a.root",
        "entry_start": 100 * sequence,
        "entry_stop": 100 * sequence + 100,
        "num_events": 100,
        "host": f"node{process}",
        "pid": 4000 + process,
        "thread": 4000 + process,
    }
    end = {
        "end_epoch_ns": EPOCH_NS + after_ns + 100 * MS,
        "task_start_mono_ns": after_ns,
        "task_ns": 100 * MS,
        "ladder": pairs(2, 10 * MS, 3, 20 * MS + 1, 8, 70 * MS - 1, 12, 5 * MS),
    }
    both |= {name: more.pop(name) for name in both.keys() & more.keys()}
    end |= {name: more.pop(name) for name in end.keys() & more.keys()}
    return frame(CHUNK, **both, **fields | more) + frame(END, **both, **end)


def begun(process: int, sequence: int, after_ns: int) -> bytes:
    """An attempt that began, and whose end is not known."""
    return frame(
        BEGIN,
        identity=identity(process, sequence),
        start_epoch_ns=EPOCH_NS + after_ns,
        start_mono_ns=after_ns,
    )


def sections(*named: tuple[int, str | bytes, int, int]) -> bytes:
    """(parent + 1, name, count, ns) each."""
    rows = b""
    for parent, name, count, total in named:
        text = name.encode() if isinstance(name, str) else name
        rows += varint(parent) + varint(1) + sized(text) + varint(count) + varint(total)
    return varint(len(named)) + rows


def intervals(*passes: tuple[int, int, int]) -> bytes:
    """(section, start, ns) each."""
    return pairs(len(passes), *(number for each in passes for number in each))


def run_of(*frames: bytes, ended_ns: int | None = 10 * SECOND) -> _core.Run:
    run = _core.Run(0, EPOCH_NS, "node1")
    run.accept(RUN_ID)
    run.set_note("run", "id", RUN_ID.hex())
    run.set_note("run", "processor", "Analysis")
    for each in frames:
        run.add_frames(each)
    if ended_ns is not None:
        run.finish(ended_ns)
    return run


def opened(run: _core.Run, folder: Path) -> Run:
    """The same from a file."""
    path = folder / "run.roast"
    run.save(path)
    return open_run(path)


def hostile() -> _core.Run:
    """A chunk for each of the names, which are all that it has names for."""
    frames = [
        attempt(
            n + 1,
            1,
            n * SECOND,
            dataset=name,
            file=name,
            host=name,
            worker=name,
            sections=sections((0, name, 1, MS)),
            intervals=intervals((0, MS, MS)),
            status=FAILED,
            error_type=name,
            error_message=name,
        )
        for n, name in enumerate(NAMES)
    ]
    return run_of(*frames)
