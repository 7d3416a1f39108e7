# SPDX-License-Identifier: BSD-3-Clause
"""Decorated classes and functions that cloudpickle can take by value only."""

from __future__ import annotations

import roastcoffea
from roastcoffea import (
    track_bytes,
    track_memory,
    track_metrics,
    track_section,
    track_time,
)
from support import KEY, Events


def make_local():
    """A class that exists nowhere but here: cloudpickle takes it by value."""

    class Local:
        @track_metrics
        def process(self, events):
            counted = track_bytes(self, events, "bytes")
            with track_time(self, "time"), track_memory(self, "memory"), counted:
                return self.count(events)

        def count(self, events):
            with track_section(self, "section"):
                return {"n": len(events)}

    return Local


def make_local_by_module():
    """The same with names of the module `roastcoffea`."""

    class Local:
        @roastcoffea.track_metrics
        def process(self, events):
            inner = roastcoffea.track_section(self, "section")
            with roastcoffea.track_time(self, "time"), inner:
                return {"n": len(events)}

    return Local


def make_local_function():
    @track_metrics
    def analyse(events):
        with track_time(None, "time"):
            return {"n": len(events)}

    return analyse


def on(analysis):
    analysis._roastcoffea_collect_metrics = True
    return analysis


def check(analysis, sections=("time", "section")):
    """It still works, measured and not."""
    output = on(analysis).process(Events())
    (record,) = output.pop(KEY)
    assert output == {"n": 10}
    assert list(record["timing"]) == list(sections)
    analysis._roastcoffea_collect_metrics = False
    assert analysis.process(Events()) == {"n": 10}
