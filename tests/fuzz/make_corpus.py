# SPDX-License-Identifier: BSD-3-Clause
"""Write the seeds of the fuzz corpus: python3 tests/fuzz/make_corpus.py

The frames are made here from docs/format.md and not by libroast, so the corpus is also
a second opinion on the format. What a fuzzer found is kept beside the seeds, under a
name that says what it broke; this script never touches those files.
"""

from __future__ import annotations

import struct
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
HUGE = 2**64 - 1
BEGIN, CHUNK, END = 1, 2, 3
VARINT, FIXED64, BYTES = 0, 1, 2


def crc32c(data: bytes) -> int:
    """CRC-32C, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(value: int) -> bytes:
    """7 bits per byte, low bits first."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def zigzag(value: int) -> bytes:
    """A signed number."""
    return varint(2 * value if value >= 0 else -2 * value - 1)


def sized(data: bytes) -> bytes:
    """Length, bytes."""
    return varint(len(data)) + data


def number(field: int, value: int) -> bytes:
    """A field of type U64."""
    return varint(field << 2 | VARINT) + varint(value)


def time(field: int, value: int) -> bytes:
    """A field of type TIME."""
    return varint(field << 2 | FIXED64) + struct.pack("<q", value)


def blob(field: int, value: bytes) -> bytes:
    """A field of type TEXT or BLOB."""
    return varint(field << 2 | BYTES) + sized(value)


def frame(kind: int, *fields: bytes, version: int = 1) -> bytes:
    """A whole frame."""
    body = b"".join(fields)
    head = bytes([0xCF, version << 4 | kind]) + sized(body)
    return head + struct.pack("<I", crc32c(head))


def section(parent: int, name: bytes, kinds: int = 1, more: bytes = b"") -> bytes:
    """One section of three passes; parent is its index + 1."""
    return varint(parent) + varint(kinds) + sized(name) + varint(3) + varint(300) + more


def row(name: bytes, mask: int, *numbers: int) -> bytes:
    """A branch or endpoint, or with no name the numbers alone."""
    body = varint(mask) + b"".join(varint(n) for n in numbers)
    return sized(name) + body


def entry(key: str, value: bytes) -> bytes:
    """A key and a value."""
    return sized(key.encode()) + value


def lists(depth: int) -> bytes:
    """A null inside so many lists."""
    return b"\x07\x01" * depth + b"\x00"


IDENTITY = blob(1, bytes(range(16)) + struct.pack("<QI", 0x0123456789ABCDEF, 7))
PLACE = blob(2, struct.pack("<IIII", 1, 2, 1000, 2500))
MEMORY = varint(1 << 30) + varint(1 << 31) + zigzag(-(2**63))
TREE = b"".join(
    [
        varint(4),
        section(0, b"read", 4, varint(HUGE)),
        section(0, b"jets"),
        section(2, b"clean", 3, MEMORY),
        section(3, "j\N{LATIN SMALL LETTER E WITH ACUTE}t".encode(), 8),
    ]
)
INTERVALS = varint(2) + varint(0) * 3 + varint(3) + varint(HUGE) + varint(300)
TYPES = b"".join(
    [
        entry("null", b"\x00"),
        entry("no", b"\x01"),
        entry("yes", b"\x02"),
        entry("least", b"\x03" + zigzag(-(2**63))),
        entry("half", b"\x04" + struct.pack("<d", 0.5)),
        entry("text", b"\x05" + sized(b"j\xc3\xa9ts")),
        entry("bytes", b"\x06" + sized(b"\x00\xff")),
        entry("list", b"\x07\x02" + b"\x02" + b"\x07\x00"),
        entry("dict", b"\x08\x01" + entry("k", b"\x08\x00")),
    ]
)
LADDER = b"".join(varint(n) + varint(n << n) for n in range(1, 24))
BRANCHES = b"".join(
    [
        varint(3),
        row(b"Jet_pt", 0x7F, 3, 1, 300, 1200, HUGE, 5000, 20000),
        row(b"nJet", 1, 2),
        row(b"", 0),
    ]
)
ENDPOINTS = b"".join(
    [
        varint(3),
        row(b"root://host:1094", 0x1F, 1, 2, 300, HUGE, 1),
        row(b"https://me@host/", 0),
        row(b"/data/cms/f.root", 1, 1),
    ]
)
FACTS = row(b"", 0x3F, 1, 5, 1600, 10**6, 300, 1200)[1:]
TEXTS = [7, 8, 9, 10, 19, 32, 33, 34, 44, 45]
TIMES = [3, 4, 46]
BLOBS = {
    23: TREE,
    24: TYPES,
    25: entry("n", b"\x03T"),
    26: varint(5) + varint(300),
    27: varint(42) + varint(6),
    35: INTERVALS,
    37: entry("roast_version", b"\x05" + sized(b"1.0.0")),
    52: LADDER,
    53: BRANCHES,
    54: ENDPOINTS,
    55: FACTS,
    56: BRANCHES,
}
NUMBERS = [5, 6, *range(11, 19), 20, 21, 22, *range(28, 32), 36, *range(38, 44)]
FULL = frame(
    CHUNK,
    IDENTITY,
    PLACE,
    *(time(n, 1760000000123456789) for n in TIMES),
    *(number(n, n << n) for n in NUMBERS),
    *(blob(n, b"text %d" % n) for n in TEXTS),
    *(blob(n, value) for n, value in BLOBS.items()),
)
SMALL = frame(CHUNK, number(5, 300), number(6, 1))

FRAMES = {
    "nothing": b"",
    "begin": frame(BEGIN, IDENTITY, PLACE, time(3, -1)),
    "chunk_small": SMALL,
    "chunk_full": FULL,
    "chunk_extreme": frame(CHUNK, *(number(n, HUGE) for n in NUMBERS)),
    "end_empty": frame(END),
    "end_failed": frame(END, IDENTITY, number(6, 2), blob(32, b"OSError"), time(46, 1)),
    "two_frames": SMALL + frame(END),
    "frame_and_dirt": SMALL + b"\xcf\x12\x05",
    "cut_in_the_middle": FULL[: len(FULL) // 2],
    "cut_in_the_crc": SMALL[:-1],
    "bit_flipped": SMALL[:5] + bytes([SMALL[5] ^ 0x10]) + SMALL[6:],
    "no_frame": b'{"not": "a frame"}',
    "version_2": frame(CHUNK, number(6, 1), version=2),
    "kind_15": frame(15, number(6, 1)),
    "field_unknown": frame(CHUNK, number(1000, 1), blob(2**60, b"x"), number(6, 1)),
    "field_repeated": frame(CHUNK, number(6, 1), number(6, 2)),
    "field_of_other_wire": frame(CHUNK, blob(6, b"ok"), number(7, 1), time(5, 1)),
    "field_of_wire_3": frame(CHUNK, varint(6 << 2 | 3) + b"\x01"),
    "field_past_the_end": frame(CHUNK, varint(7 << 2 | BYTES) + varint(HUGE) + b"x"),
    "size_of_2_64": b"\xcf\x12" + varint(HUGE) + SMALL,
    "size_without_end": b"\xcf\x12" + b"\xff" * 12,
    "varint_padded": frame(CHUNK, b"\x18\x81\x80\x00"),
    "identity_short": frame(CHUNK, blob(1, bytes(27))),
    "sections_parent_later": frame(CHUNK, blob(23, varint(1) + section(1, b"a"))),
    "sections_parent_wraps": frame(CHUNK, blob(23, varint(1) + section(2**31, b"a"))),
    "sections_many": frame(CHUNK, blob(23, varint(99) + section(0, b"") * 99)),
    "sections_count_lies": frame(CHUNK, blob(23, varint(HUGE) + section(0, b"a"))),
    "sections_name_lies": frame(CHUNK, blob(23, b"\x01\x00\x01" + varint(HUGE))),
    "intervals_count_lies": frame(CHUNK, blob(35, varint(HUGE) + b"\x00\x00\x00")),
    "pairs_half": frame(CHUNK, blob(26, b"\x01\x02\x03"), blob(27, b"\xff")),
    "ladder_of_a_later_time": frame(CHUNK, blob(52, varint(HUGE) * 2 + LADDER)),
    "ladder_half": frame(CHUNK, blob(52, LADDER[:-1])),
    "branches_of_a_later_time": frame(
        CHUNK, blob(53, varint(1) + row(b"a", HUGE, *range(64)))
    ),
    "branches_mask_lies": frame(CHUNK, blob(53, varint(1) + row(b"a", HUGE, 1))),
    "branches_many": frame(CHUNK, blob(53, varint(99) + row(b"", 1, 1) * 99)),
    "branches_count_lies": frame(CHUNK, blob(56, varint(HUGE) + row(b"a", 0))),
    "branches_name_lies": frame(CHUNK, blob(53, varint(1) + varint(HUGE) + b"a")),
    "endpoints_count_lies": frame(CHUNK, blob(54, varint(HUGE) + row(b"a", 0))),
    "facts_of_a_later_time": frame(CHUNK, blob(55, varint(67) + b"\x09\x09\x09")),
    "facts_empty": frame(CHUNK, blob(55, b"")),
    "values_deep": frame(CHUNK, blob(24, entry("d", lists(9)))),
    "values_count_lies": frame(CHUNK, blob(25, entry("l", b"\x07" + varint(HUGE)))),
}

VALUES = {
    "nothing": b"",
    "every_type": TYPES,
    "one_number": entry("n", b"\x03T"),
    "eight_deep": entry("d", lists(8)),
    "nine_deep": entry("d", lists(9)),
    "eight_dicts_deep": entry("d", (b"\x08\x01" + sized(b"k")) * 8 + b"\x00"),
    "many_entries": entry("k", b"\x02") * 200,
    "many_items": entry("l", b"\x07" + varint(300) + b"\x00" * 300),
    "key_alone": b"\x01n",
    "key_too_long": varint(HUGE) + b"n\x00",
    "type_unknown": entry("n", b"\x09"),
    "text_too_long": entry("n", b"\x05" + varint(HUGE) + b"x"),
    "integer_without_end": entry("n", b"\x03" + b"\xff" * 11),
    "integer_padded": entry("n", b"\x03\x82\x80\x00"),
    "double_cut": entry("n", b"\x04\x00\x00"),
    "list_count_lies": entry("l", b"\x07" + varint(HUGE) + b"\x00\x00"),
    "dict_without_value": entry("d", b"\x08\x01" + sized(b"k")),
}


def main() -> None:
    """Write every seed."""
    for target, seeds in {"frame": FRAMES, "values": VALUES}.items():
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (folder / name).write_bytes(data)
        print(f"{len(seeds)} seeds in {folder}")


if __name__ == "__main__":
    main()
