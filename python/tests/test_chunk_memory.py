# SPDX-License-Identifier: BSD-3-Clause
"""Memory of a chunk and its sections: changes, peaks and units, against memory that the
test itself maps and touches.

Each case runs in an interpreter of its own, which holds little else: a kernel may take
pages back that a large process has not used for a while, and would spoil the sums."""

from __future__ import annotations

import os

import pytest

from roastcoffea import _probe, track_memory
from roastcoffea.utils import get_process_memory
from support import MIB, measure, run_python, touched

SIZE = 256 * MIB
needs_reset = pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK),
    reason="the kernel's mark cannot be reset here",
)


def touched_memory_is_the_change():
    memory = []
    record = measure(lambda *_: memory.append(touched(SIZE)))
    assert record["mem_delta_mb"] == pytest.approx(256, rel=0.05)
    assert record["memory_delta_gb"] == pytest.approx(SIZE / 1e9, rel=0.05)
    before, after = record["mem_before_mb"], record["mem_after_mb"]
    assert record["mem_delta_mb"] == pytest.approx(after - before)
    assert record["memory_start_gb"] == pytest.approx(before * MIB / 1e9)
    assert record["memory_end_gb"] == pytest.approx(after * MIB / 1e9)
    assert after == pytest.approx(get_process_memory(), rel=0.05)


def track_memory_shows_what_its_section_kept():
    memory = []

    def work(self, events) -> None:
        with track_memory(self, "big"):
            memory.append(touched(SIZE))
        memory.append(touched(64 * MIB))

    record = measure(work)
    (section,) = record["memory_sections"]
    assert record["memory"]["big"] == pytest.approx(256, rel=0.05)
    assert section["section_name"] == "big"
    assert section["memory_delta_gb"] == pytest.approx(SIZE / 1e9, rel=0.05)
    grown = section["memory_end_gb"] - section["memory_start_gb"]
    assert grown == pytest.approx(section["memory_delta_gb"])
    assert section["memory_start_gb"] == pytest.approx(
        record["memory_start_gb"], rel=0.1
    )


def section_has_its_own_peak():
    touched(2 * SIZE).close()  # of what is before it

    def work(self, events) -> None:
        with track_memory(self, "before"):
            memory = touched(2 * SIZE)
        memory.close()
        with track_memory(self, "outer"):
            with track_memory(self, "inner"):  # its end is a sample
                memory = touched(SIZE)
            memory.close()
        with track_memory(self, "after"):
            pass

    record = measure(work)
    sections = {s["section_name"]: s for s in record["memory_sections"]}
    grown = {
        name: (s["memory_peak_gb"] - s["memory_start_gb"]) * 1e9 / MIB
        for name, s in sections.items()
    }
    assert grown["before"] == pytest.approx(512, rel=0.05)
    assert grown["inner"] == grown["outer"] == pytest.approx(256, rel=0.05)
    assert grown["after"] < 64
    assert abs(sections["outer"]["memory_delta_gb"]) * 1e9 < 64 * MIB
    assert record["mem_peak_mb"] - record["mem_before_mb"] == pytest.approx(
        512, rel=0.05
    )


def peak_is_exact_where_the_kernel_mark_may_be_reset():
    _probe.configure(exact_peak=True)
    record = measure(lambda *_: touched(SIZE).close())
    assert record["mem_peak_kind"] == "exact"
    assert record["mem_peak_mb"] - record["mem_before_mb"] == pytest.approx(
        256, rel=0.05
    )
    assert record["mem_delta_mb"] < 64


def peak_below_an_older_one_is_sampled():
    touched(2 * SIZE).close()  # the kernel's mark is above whatever follows

    def work(self, events) -> None:
        with track_memory(self, "big"):  # its end is a sample
            memory = touched(SIZE)
        memory.close()

    record = measure(work)
    assert record["mem_peak_kind"] == "sampled"
    assert record["mem_peak_mb"] - record["mem_before_mb"] == pytest.approx(
        256, rel=0.05
    )


@pytest.mark.parametrize(
    "case",
    [
        touched_memory_is_the_change,
        track_memory_shows_what_its_section_kept,
        section_has_its_own_peak,
        pytest.param(
            peak_is_exact_where_the_kernel_mark_may_be_reset,
            marks=needs_reset,
        ),
        peak_below_an_older_one_is_sampled,
    ],
    ids=lambda case: case.__name__,
)
def test_memory(case):
    run_python(f"import test_chunk_memory as cases; cases.{case.__name__}()")


@needs_reset
def test_peak_is_exact_in_the_child_of_a_larger_process():
    """`ru_maxrss` begins there with the parent's mark, and is not reset with VmHWM."""
    larger = touched(3 * SIZE)
    test_memory(peak_is_exact_where_the_kernel_mark_may_be_reset)
    larger.close()
