# SPDX-License-Identifier: BSD-3-Clause
"""Frames made by hand from docs/format.md: a second opinion on the format."""

from __future__ import annotations

from roastcoffea import _probe

NUMBERS = {name: number for number, name, _, _ in _probe.fields()}
BEGIN = 0x11  # version 1, kind 1
CHUNK = 0x12  # version 1, kind 2


def crc_of_byte(crc: int) -> int:
    for _ in range(8):
        crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc


TABLE = [crc_of_byte(byte) for byte in range(256)]


def crc32c(data: bytes) -> bytes:
    """Castagnoli's checksum, so that damage can be signed as if it were meant."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 0xFF]
    return (crc ^ 0xFFFFFFFF).to_bytes(4, "little")


def varint(value: int) -> bytes:
    """7 bits per byte, low bits first."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def sized(data: bytes) -> bytes:
    """Length, bytes."""
    return varint(len(data)) + data


def frame(kind: int = CHUNK, /, **fields: int | str | bytes) -> bytes:
    """A frame of numbers, texts and blobs; a chunk frame if not said otherwise."""
    body = b""
    for name, value in fields.items():
        if isinstance(value, int):
            body += varint(NUMBERS[name] << 2) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            body += varint(NUMBERS[name] << 2 | 2) + sized(data)
    whole = bytes([0xCF, kind]) + sized(body)
    return whole + crc32c(whole)


def pairs(*numbers: int) -> bytes:
    """A ladder: item, value, item, value ..."""
    return b"".join(varint(number) for number in numbers)


def row(numbers: dict[int, int]) -> bytes:
    """{bit: number} as a mask and its numbers."""
    mask = sum(1 << bit for bit in numbers)
    return varint(mask) + b"".join(varint(numbers[bit]) for bit in sorted(numbers))


def table(rows: dict[str, dict[int, int]]) -> bytes:
    """Branches or endpoints: {name: {bit: number}}."""
    named = (sized(name.encode()) + row(numbers) for name, numbers in rows.items())
    return varint(len(rows)) + b"".join(named)


def a_frame_with_a_ladder() -> bytes:
    """A bit of everything that is inside an attempt."""
    return frame(
        file="/data/f.root",
        task_ns=20,
        task_cpu_ns=10,
        ladder=pairs(3, 12, 4, 3, 12, 5, 14, 1),
        branches=table({"b": {0: 1, 2: 300, 5: 1, 6: 2}, "n": {0: 2}, "a": {0: 1}}),
        endpoints=table({"/data": {0: 1, 2: 300}}),
        file_facts=row({0: 1, 1: 5, 2: 3, 4: 10, 5: 20}),
        file_branches=table({"b": {5: 1, 6: 2}}),
    )
