# SPDX-License-Identifier: BSD-3-Clause
"""Write the seeds of the corpus of live files: python3 tests/fuzz/make_corpus_live.py

Like those of make_corpus.py they are made from docs/format.md and not by libroast.
"""

from __future__ import annotations

import struct

from make_corpus import (
    BEGIN,
    CHUNK,
    CORPUS,
    END,
    FULL,
    HUGE,
    IDENTITY,
    PLACE,
    crc32c,
    frame,
    number,
    sized,
    time,
    varint,
    zigzag,
)

MONO, EPOCH = 5_000_000_000_000, 1_760_000_000_000_000_000
KINDS = (
    "start finish host accept frame name sample use offer count fact loss mark note "
    "part whole dropped"
).split()


def head(writer: bytes = b"roastcoffea 1.0.0", version: int = 1) -> bytes:
    """The head of a file."""
    body = b"\x89roastL\n" + struct.pack("<II48sqq", version, 84, writer, MONO, EPOCH)
    return body + struct.pack("<I", crc32c(body))


def block(block_number: int, *entries: bytes) -> bytes:
    """One block."""
    payload = b"".join(entries)
    covered = struct.pack("<IQ", len(payload), block_number) + payload
    return b"\xb1rl1" + struct.pack("<I", crc32c(covered)) + covered


def entry(kind: str | int, *numbers: int, more: bytes = b"") -> bytes:
    """One entry: varints, then bytes."""
    code = kind if isinstance(kind, int) else KINDS.index(kind) + 1
    return varint(code) + sized(b"".join(map(varint, numbers)) + more)


def signed(value: int) -> int:
    """A signed number as the unsigned one that is written."""
    return 2 * value if value >= 0 else -2 * value - 1


def live(*entries: bytes) -> bytes:
    """A whole file of one block."""
    return head() + block(1, *entries)


def note(group: bytes, name: bytes, text: bytes) -> bytes:
    """A note that has a text."""
    return entry("note", len(group), len(name), 1, more=group + name + text)


START = entry("start", signed(MONO), signed(EPOCH), 1, more=b"here")
BITS = struct.unpack("<Q", struct.pack("<d", 0.1))[0]
FRAMES = [
    entry("frame", 0, more=frame(BEGIN, IDENTITY, PLACE, time(3, EPOCH))),
    entry("frame", 0, more=FULL),
    entry("frame", 1, more=frame(CHUNK, number(5, 300), number(6, 1))),
    entry("frame", 0, more=frame(END, IDENTITY, number(6, 1), number(48, 9))),
]
SAMPLES = [
    entry("sample", 1, signed(10), 0b11, signed(5), signed(-1), more=b"tcp://a:1"),
    entry("sample", 0, signed(20), 1 << 7 | 1, signed(6), signed(7)),
    entry("use", 3, 55, 66, 2, signed(1000), 54, 7, 0, 1 << 30, 3, 4, 5),
    entry("use", 2, 0, signed(2000), 54, 8, 0, 1 << 30, 3),
]
REST = [
    entry("host", more=b"there"),
    entry("accept", more=bytes(range(16))),
    entry("name", more=b"root://host//f.root"),
    entry("offer", signed(-5), 4, 8),
    entry("count", signed(7), 3),
    entry("fact", BITS, more=b"report_events"),
    entry("loss", 300, more=b"spool_unreadable"),
    entry("mark", 1, signed(MONO)),
    note(b"run", b"id", b"0123456789abcdef0123456789abcdef"),
    note(b"label", b"site", b"T2"),
    entry("note", 5, 4, 0, more=b"labelsite"),
    entry("dropped", 7),
    entry("finish", signed(MONO + 10**9)),
]
PARTS = [
    entry("part", 0, more=b"th"),
    entry("part", 1, more=b"er"),
    entry("whole", KINDS.index("host") + 1, 2, more=b"e"),
]
WHOLE = live(START, *FRAMES, *SAMPLES, *REST, *PARTS)

LIVE = {
    "nothing": b"",
    "head": head(),
    "head_cut": head()[:50],
    "head_damaged": b"\x89roastL\n" + bytes(76) + block(1, START, *REST),
    "version_2": head(version=2) + block(1, START),
    "no_live_file": b"SQLite format 3\x00" + bytes(100),
    "every_kind": WHOLE,
    "frames": live(START, *FRAMES),
    "samples": live(START, *SAMPLES),
    "the_rest": live(START, *REST),
    "parts": live(START, *PARTS),
    "parts_in_blocks": head() + b"".join(block(i + 1, p) for i, p in enumerate(PARTS)),
    "parts_with_a_gap": head() + block(1, PARTS[0]) + block(3, *PARTS[1:]),
    "cut": WHOLE[:-10],
    "block_lost": head() + block(1, START) + block(3, *REST),
    "block_damaged": live(START)[:-1] + b"x" + block(2, *SAMPLES),
    "block_twice": live(START) + block(1, *REST) + block(2, *REST),
    "block_of_2_64": head() + block(HUGE, *REST),
    "block_size_lies": head() + b"\xb1rl1" + bytes(4) + b"\xff" * 12 + bytes(99),
    "kind_unknown": live(entry(99, 1, 2, 3), entry(HUGE), *REST),
    "entry_size_lies": live(varint(2) + varint(HUGE) + b"x"),
    "sample_of_nobody": live(entry("sample", 2, 0, 1, 1), entry("use", 4, 0, 0)),
    "sample_of_later": live(entry("sample", 1, 0, HUGE, *range(64), more=b"w")),
    "numbers_huge": live(
        *(entry(kind, *[HUGE] * 12) for kind in KINDS if kind not in ("part", "whole"))
    ),
    "note_sizes_lie": live(entry("note", HUGE, HUGE, 1, more=b"run")),
    "frame_damaged": live(entry("frame", 0, more=FULL[:-1])),
    "varints_without_end": live(b"\xff" * 40),
}


def main() -> None:
    """Write every seed."""
    assert zigzag(-3) == varint(signed(-3))
    folder = CORPUS / "live"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in LIVE.items():
        (folder / name).write_bytes(data)
    print(f"{len(LIVE)} seeds in {folder}")


if __name__ == "__main__":
    main()
