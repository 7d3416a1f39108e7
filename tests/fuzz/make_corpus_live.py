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
    HUGE,
    crc32c,
    sized,
    varint,
    zigzag,
)

MONO, EPOCH = 5_000_000_000_000, 1_760_000_000_000_000_000
KINDS = (
    "start finish host accept record text sample use offer count fact loss mark note "
    "part whole dropped member departure task offset activity hot_line series session "
    "first_error head_end complete"
).split()
NAMED, LINKED, FIRST = 4, 8, 16


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


def text(value: bytes | None) -> bytes:
    """A text with its size + 1; 0 where it is absent."""
    return varint(0) if value is None else varint(len(value) + 1) + value


def reference(number: int, announced: bytes | None = None) -> bytes:
    """The text of a number; written where it is announced."""
    head = varint((number + 1) * 2 + (announced is not None))
    return head if announced is None else head + text(announced)


def note(group: bytes, name: bytes, value: bytes | None) -> bytes:
    """A note; without a text it is removed."""
    return entry("note", more=text(group) + text(name) + text(value))


def fields(*numbers: int) -> int:
    """A set of fields of a record."""
    return sum(1 << (number - 1) for number in numbers)


def first(kind: int, present: int, *values: bytes) -> bytes:
    """The first record of process 0 in a block, all of whose fields are written."""
    changed = (1 << present.bit_count()) - 1
    key = bytes(range(16)) + bytes(8)
    payload = varint(kind | NAMED | FIRST) + varint(0) + key
    payload += varint(present) + varint(changed) + b"".join(values)
    return entry("record", more=payload)


def again(kind: int, other_fields: int, changed: int, *values: bytes) -> bytes:
    """A record that differs from the one before it."""
    payload = varint(kind | NAMED) + varint(0) + varint(other_fields) + varint(changed)
    return entry("record", more=payload + b"".join(values))


START = entry("start", signed(MONO), signed(EPOCH), more=text(b"here"))
BITS = struct.unpack("<Q", struct.pack("<d", 0.1))[0]
RECORDS = [
    first(
        CHUNK,
        fields(1, 3, 4, 5, 6, 8),
        zigzag(1),
        zigzag(EPOCH),
        zigzag(5),
        zigzag(300),
        zigzag(1),
        reference(7, b"f.root"),
    ),
    again(CHUNK, 0, 0b1111, zigzag(1), zigzag(10**9), zigzag(0), zigzag(-5)),
    again(
        END,
        fields(1, 6, 48, 52),
        0b1100,
        zigzag(9),
        varint(1 + 0b10000100) + varint(0b10000100) + zigzag(300) + zigzag(5),
    ),
    again(BEGIN, fields(1, 2), 0b10, sized(bytes(16))),
    entry(
        "record", CHUNK | FIRST, 1, fields(5, 52), 3, 600, 0, more=sized(b"\x63\x01")
    ),
    entry(
        "record",
        more=varint(END | LINKED | FIRST)
        + varint(77)
        + reference(9, b"w")
        + varint(1)
        + varint(fields(6))
        + varint(1)
        + zigzag(2),
    ),
]
SAMPLES = [
    entry(
        "sample",
        more=reference(0, b"tcp://a:1")
        + zigzag(10)
        + varint(0b11)
        + zigzag(5)
        + zigzag(-1),
    ),
    entry(
        "sample",
        more=reference(0) + zigzag(20) + varint(1 << 7 | 1) + zigzag(6) + zigzag(7),
    ),
    entry("use", 55, 66, 2, signed(1000), 54, 7, 0, 1 << 30, 3, 4, 5),
    entry("use", 55, 66, 0, signed(2000), 54, 8, 0, 1 << 30, 3),
    entry(
        "series",
        more=text(b"w")
        + bytes(10)
        + sized(b"\x02\x02")
        + varint(1)
        + sized(b"\x01\x04\x03\x02"),
    ),
]
OTHER_KINDS = [
    entry("host", more=text(b"there")),
    entry("accept", more=bytes(range(16))),
    entry("text", 1, more=b"root://host//f.root"),
    entry("text", 0, more=b"else"),
    entry("offer", signed(-5), 4, 8),
    entry("count", signed(7), 3),
    entry("fact", BITS, more=b"report_events"),
    entry("loss", 300, more=b"spool_unreadable"),
    entry("mark", 1, signed(MONO)),
    note(b"run", b"id", b"0123456789abcdef0123456789abcdef"),
    note(b"label", b"site", b"T2"),
    note(b"label", b"site", None),
    entry("member", signed(5), 1, 2, 3, more=text(b"w") + text(None) + text(b"h")),
    entry("departure", signed(9), 1, more=text(b"w") + text(b"bye")),
    entry("session", 3, 0, 4, 1, 2, 3, more=text(b"v") + 3 * text(None)),
    entry(
        "task",
        more=reference(1, b"process")
        + varint(0)
        + b"".join(map(varint, (5, 3, 2, 2, 2))),
    ),
    entry("offset", signed(-5), more=b"h"),
    entry("activity", BITS, more=text(b"c") + text(None) + text(b"") + text(b"s")),
    entry("hot_line", 5, BITS, BITS, more=text(b"f") + text(b"g") + text(b"x = 1")),
    entry("first_error", more=b"OSError"),
    entry("head_end"),
    entry("complete"),
    entry("dropped", 7),
    entry("finish", signed(MONO + 10**9)),
]
PARTS = [
    entry("part", 0, more=b"\x06th"),
    entry("part", 1, more=b"er"),
    entry("whole", KINDS.index("host") + 1, 2, more=b"e"),
]
WHOLE = live(START, *RECORDS, *SAMPLES, *OTHER_KINDS, *PARTS)

LIVE = {
    "nothing": b"",
    "head": head(),
    "head_cut": head()[:50],
    "head_damaged": b"\x89roastL\n" + bytes(76) + block(1, START, *OTHER_KINDS),
    "version_2": head(version=2) + block(1, START),
    "no_live_file": b"SQLite format 3\x00" + bytes(100),
    "every_kind": WHOLE,
    "records": live(START, *RECORDS),
    "samples": live(START, *SAMPLES),
    "other_kinds": live(START, *OTHER_KINDS),
    "parts": live(START, *PARTS),
    "parts_in_blocks": head() + b"".join(block(i + 1, p) for i, p in enumerate(PARTS)),
    "parts_with_a_gap": head() + block(1, PARTS[0]) + block(3, *PARTS[1:]),
    "cut": WHOLE[:-10],
    "block_lost": head() + block(1, START) + block(3, *OTHER_KINDS),
    "block_damaged": live(START)[:-1] + b"x" + block(2, *SAMPLES),
    "block_twice": live(START) + block(1, *OTHER_KINDS) + block(2, *OTHER_KINDS),
    "block_of_2_64": head() + block(HUGE, *OTHER_KINDS),
    "block_size_lies": head() + b"\xb1rl1" + bytes(4) + b"\xff" * 12 + bytes(99),
    "kind_unknown": live(entry(99, 1, 2, 3), entry(HUGE), *OTHER_KINDS),
    "entry_size_lies": live(varint(2) + varint(HUGE) + b"x"),
    "sample_of_unknown_worker": live(
        entry("sample", 2, 0, 1, 1), entry("use", 4, 0, 0)
    ),
    "sample_of_later": live(
        entry("sample", more=reference(0, b"w") + b"".join(map(varint, (0, HUGE))))
    ),
    "numbers_huge": live(
        *(entry(kind, *[HUGE] * 12) for kind in KINDS if kind not in ("part", "whole"))
    ),
    "note_sizes_lie": live(entry("note", HUGE, HUGE, 1, more=b"run")),
    "record_without_base": head() + block(1, START) + block(2, *RECORDS[1:]),
    "records_in_blocks": head() + block(1, *RECORDS) + block(2, *RECORDS[:2]),
    "varints_without_end": live(b"\xff" * 40),
}
# For fuzz_journal: where the second block begins, in 255ths, then the entries of both.
JOURNAL = {
    "every_kind": b"\xff" + b"".join([*RECORDS, *SAMPLES, *OTHER_KINDS, *PARTS]),
    "records_twice": b"\x7f" + 2 * b"".join(RECORDS),
    "samples": b"\x80" + b"".join(SAMPLES),
    "other_kinds": b"\xff" + b"".join(OTHER_KINDS),
    "parts_with_a_gap": b"\x81" + b"".join(PARTS),
    "kind_unknown": b"\x00" + entry(99, 1, 2, 3) + entry(HUGE) + OTHER_KINDS[0],
    "numbers_huge": b"\xff"
    + b"".join(
        entry(kind, *[HUGE] * 12) for kind in KINDS if kind not in ("part", "whole")
    ),
    "varints_without_end": b"\x01" + b"\xff" * 40,
}


def main() -> None:
    """Write every seed."""
    assert zigzag(-3) == varint(signed(-3))
    for kind, seeds in (("live", LIVE), ("journal", JOURNAL)):
        folder = CORPUS / kind
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (folder / name).write_bytes(data)
        print(f"{len(seeds)} seeds in {folder}")


if __name__ == "__main__":
    main()
