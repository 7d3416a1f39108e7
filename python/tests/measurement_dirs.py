# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of imported measurements share: directories made of metrics, and the
records of a run as dicts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from roastcoffea import Run, save_measurement
from roastcoffea.export.importer import import_measurement
from support import ROOT

FIXTURES = ROOT / "tests" / "fixtures"


def saved_in_json(run: Run, folder: Path, name: str) -> Path:
    """A directory without a run file: metrics.json has all, as 0.1.2's."""
    metrics = dict(run.get_metrics())
    return save_measurement(metrics, run.t_start, run.t_end, folder, name)


def imported(folder: Path, metrics: dict[str, Any]) -> Run:
    """The run of a directory with these metrics."""
    folder.mkdir(exist_ok=True)
    (folder / "metrics.json").write_text(json.dumps(metrics))
    (folder / "start_end_time.txt").write_text("1700000000.0,1700000010.0\n")
    return import_measurement(folder)


def records_of(run: Run) -> list[dict[str, Any]]:
    """Chunk records as dicts by start, without what is numbered anew."""
    numbered = ("chunk_id", "attempt")
    return [
        {key: value for key, value in record.items() if key not in numbered}
        for record in run.chunk_metrics
    ]


def assert_same_records(folder: Path, records: list[dict[str, Any]]) -> None:
    """Saved as a measurement and imported, they are the same."""
    path = save_measurement({"raw_chunk_metrics": records}, 1e9, 2e9, folder)
    found = records_of(import_measurement(path))
    shutil.rmtree(path)
    assert len(found) == len(records)
    for before, after in zip(records, found, strict=True):
        for key in before.keys() | after.keys():
            assert after.get(key, "nothing") == before.get(key, "nothing"), key
