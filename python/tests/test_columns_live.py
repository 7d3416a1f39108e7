# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a run that goes on, and of one that was saved."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from coffea import processor

import roastcoffea
from collector_helpers import fileset_of, make_runner
from roastcoffea import _core, track_metrics
from tables import TABLES, empty_run, large_run, mixed_run


class Looking(processor.ProcessorABC):
    """Looks at the tables of the run that it is in."""

    run: Any = None
    seen: ClassVar[dict[str, int]] = {}

    @track_metrics
    def process(self, events: Any) -> Any:
        for name in TABLES:
            self.seen[name] = len(self.run.table(name))
        return {"n": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return None


def test_all_tables_while_the_run_goes_on(tiny_file, monkeypatch):
    with roastcoffea.monitor() as run:
        monkeypatch.setattr(Looking, "run", run)
        make_runner()(fileset_of(tiny_file), processor_instance=Looking())
    assert Looking.seen["tasks"] == 3
    assert Looking.seen["chunks"] == 2
    assert len(run.table("chunks")) == 3


@pytest.mark.parametrize("make", [empty_run, mixed_run, lambda: large_run(1000)])
def test_a_run_that_was_saved_has_the_same_tables(make, tmp_path):
    run = make()
    run.finish(3 * 10**9)
    run.save(str(tmp_path / "a.roast"))
    opened = _core.open_run(str(tmp_path / "a.roast"))
    for name in TABLES:
        assert opened.table(name).to_dict() == run.table(name).to_dict(), name
    assert opened.samples("memory").to_dict() == run.samples("memory").to_dict()
