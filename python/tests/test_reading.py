# SPDX-License-Identifier: BSD-3-Clause
"""Bytes that are no frames: refused with a code that says why, never a crash."""

from __future__ import annotations

import random

import pytest

from handmade_frames import crc32c
from roastcoffea import FormatError, _probe, track_memory, track_time
from support import fail, measure

CODES = {"BAD_DATA", "TRUNCATED", "BAD_CHECKSUM", "NEWER_FORMAT", "LIMIT"}


@pytest.fixture
def frame():
    """Of a chunk that has a bit of everything."""

    def work(self, events):
        with track_time(self, "a"), track_memory(self, "b"):
            self._roastcoffea_current_chunk["mine"] = {"list": [1, 2.5, None, b"x"]}
            raise ValueError("mine")

    return fail(work)[1].frame


def refused(data):
    """The code of the refusal, or None when the bytes were read."""
    try:
        for record in _probe.read_frames(data):
            assert isinstance(dict(record), dict)
    except FormatError as error:
        return error.code if error.code in CODES and str(error) else "no code"
    return None


def test_no_bytes_are_no_records():
    assert _probe.read_frames(b"") == []


def test_frames_follow_one_another(frame):
    other = measure(lambda *_: None)
    first, second, third = _probe.read_frames(frame + other.frame + frame)
    assert first == third
    assert second == other
    assert first["status"] == "failed"


@pytest.mark.parametrize("wrong", [None, 7, "text", [], bytearray(b"x")])
def test_only_bytes_are_read(wrong):
    with pytest.raises(TypeError):
        _probe.read_frames(wrong)


def test_every_truncation_is_refused(frame):
    codes = {refused(frame[:size]) for size in range(1, len(frame))}
    assert codes <= {"TRUNCATED", "BAD_DATA"}
    assert "TRUNCATED" in codes


def test_every_flipped_bit_is_refused(frame):
    for bit in range(8 * len(frame)):
        damaged = bytearray(frame)
        damaged[bit // 8] ^= 1 << bit % 8
        assert refused(bytes(damaged)) is not None


def test_checksum_is_distinguished_from_other_damage(frame):
    damaged = frame[:-1] + bytes([frame[-1] ^ 1])
    assert refused(damaged) == "BAD_CHECKSUM"


def test_newer_format_is_distinguished_from_damage(frame):
    newer = bytearray(frame)
    newer[1] = (newer[1] & 0x0F) | 0x20
    body = bytes(newer[:-4])
    assert refused(body + crc32c(body)) == "NEWER_FORMAT"


def test_signed_damage_never_crashes(frame):
    """Each byte replaced and the checksum made right again: read or refused."""
    body = frame[:-4]
    assert crc32c(body) == frame[-4:]
    for position in range(len(body)):
        for value in (0x00, 0x7F, 0x80, 0xFF):
            damaged = body[:position] + bytes([value]) + body[position + 1 :]
            assert refused(damaged + crc32c(damaged)) != "no code"


def test_garbage_never_crashes(frame):
    generator = random.Random(1)
    for size in [*range(64), 1000, 10**5]:
        garbage = generator.randbytes(size)
        for data in (garbage, frame[:2] + garbage, frame + b"\xcf" + garbage):
            assert refused(data) != "no code"


def test_signed_garbage_never_crashes():
    """Fields of random bytes in a frame that is well formed outside."""
    generator = random.Random(2)
    for _ in range(2000):
        fields = generator.randbytes(generator.randrange(1, 100))
        body = bytes([0xCF, 0x12, len(fields)]) + fields
        assert refused(body + crc32c(body)) != "no code"


def test_whole_frames_before_damage_are_refused_with_it(frame):
    assert refused(frame + frame[:-1]) == "TRUNCATED"
