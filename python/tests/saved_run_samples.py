# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of saved runs share: a run with a bit of everything in it, and a look
at whether two runs say the same."""

from __future__ import annotations

import contextlib
import datetime as dt
import math
from typing import Any

import pytest

import roastcoffea
from collector_helpers import Plain, fileset_of, make_runner
from roastcoffea import track_memory, track_metrics, track_time
from roastcoffea.instrumentation import BaseInstrumentationContext

START = dt.datetime(2025, 11, 15, 12, tzinfo=dt.UTC)


class Counted(BaseInstrumentationContext):
    """A context of a user's, which records a value."""

    def __exit__(self, *error: Any) -> None:
        self.record_metric("muons per jet", {"mean": 0.5, "all": [1, 2.5, None]})


class Everything(Plain):
    """Sections, memory, keys of the user's; fails once if it is to."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    @track_metrics
    def process(self, events: Any) -> Any:
        with track_time(self, "selection"):
            with track_time(self, "jets é"), track_memory(self, "columns"):
                result = Plain.process(self, events)
            with Counted(self, "custom"):
                pass
        chunk = self._roastcoffea_current_chunk
        chunk["bytes_seen"] = b"\x00\xff"
        chunk["weights"] = {"up": 1.5, "down": -0.0, "none": None, "nan": math.nan}
        if self.fails and events.metadata["entrystart"] == 1000:
            raise OSError("no such tape")
        return result


class Watching:
    """A backend of a user's, which samples workers and knows spans."""

    def start_tracking(self, interval: float) -> None:
        pass

    def stop_tracking(self) -> dict[str, Any]:
        later = START + dt.timedelta(seconds=1.25)
        return {
            "worker_counts": {START: 1, later: 2},
            "worker_memory": {"tcp://10.0.0.1:4": [(START, 1e9), (later, 2**31)]},
            "of its own": {("a", 1): {2, 3}},
        }

    def create_span(self, name: str) -> Any:
        return {"name": name}

    def get_span_metrics(self, span: Any) -> dict[tuple[str, ...], Any]:
        return {("execute", "process", "thread-cpu", "seconds"): 1.5}

    def supports_fine_metrics(self) -> bool:
        return True


HAND_MADE = [
    {"dataset": "by hand", "num_events": 5, "t_start": 1.7e9, "t_end": 1.7e9 + 2},
    {"num_events": 6, "mine": (1, {"x": math.inf}), "when": START, "timing": {"a": 1}},
]


def hand_over(run: Any) -> None:
    """All that a user could add to a run."""
    run.set_coffea_report(
        {"entries": 3000, "bytesread": 12345, "processtime": 1.5, "chunks": 3},
        custom_metrics={"answer": 42, ("pair", 1): [1.5, math.nan], "when": START},
    )
    run.set_chunk_metrics(HAND_MADE)
    run.record_section_metrics({"section_name": "by hand", "time_delta": 1.5})


def measured(
    path: Any, executor: Any = None, *, fails: bool = False, **options: Any
) -> Any:
    """A run with everything in it."""
    options = {"labels": {"site": "T2_XX", "who": "mé"}} | options
    collector = roastcoffea.monitor(worker_tracking_interval=0.02, **options)
    files = fileset_of(path)
    files["ttbar"]["metadata"] = {"xsec": 831.76, "tuple": (1, 2)}
    runner = make_runner(executor, savemetrics=True)
    raises = pytest.raises(Exception, match="no such tape")
    with raises if fails else contextlib.nullcontext(), collector as run:
        hand_over(run)
        runner(files, processor_instance=Everything(fails))
    return run


def same(left: Any, right: Any) -> bool:
    """Equal in value and type, where NaN is equal to itself and 0.0 is not -0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return math.isnan(left) == math.isnan(right) and (
            math.isnan(left) or left.hex() == right.hex()
        )
    if isinstance(left, dict):
        return list(left) == list(right) and all(
            same(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def answer(question: Any) -> Any:
    """What a question gives, or why it has no answer."""
    try:
        return question()
    except ValueError as error:
        return str(error)


def facts(run: Any) -> dict[str, Any]:
    """Everything that a run says."""
    return {
        **{f"metrics/{key}": value for key, value in run.get_metrics().items()},
        **{
            f"chunk {n}/{key}": value
            for n, chunk in enumerate(run.chunk_metrics)
            for key, value in chunk.items()
        },
        **{name: run._page(name) for name in ("text", "full", "headline", "card")},
        "tracking_data": run.tracking_data,
        "span_metrics": run.span_metrics,
        "section_metrics": run.section_metrics,
        "custom_metrics": run.custom_metrics,
        "fileset": run.fileset,
        "failed_items": answer(run.failed_items),
        "failed_fileset": answer(run.failed_fileset),
        "labels": run.labels,
        "provenance": run.provenance,
        "failure": run.failure,
        "times": (run.t_start, run.t_end, run.partial),
        "id": run.id,
        "repr": repr(run),
    }


def differing(left: dict[str, Any], right: dict[str, Any]) -> list[Any]:
    """What is not the same in two such dicts."""
    keys = [key for key in left if key not in right or not same(left[key], right[key])]
    return [(key, left[key], right.get(key)) for key in keys] + [
        (key, None, right[key]) for key in right.keys() - left.keys()
    ]
