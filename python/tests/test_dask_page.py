# SPDX-License-Identifier: BSD-3-Clause
"""Every block of docs/dask.md, from top to bottom, as a reader would run them."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import cloudpickle
import dask
import pytest
from distributed import Client

from clusters import Dying, collect, open_client, start_cluster
from collector_helpers import EVENTS, fileset_of
from seed_blocks import FENCED, Block, run_block

PAGE = Path(__file__).parents[2] / "docs" / "dask.md"
ANALYSIS = """
from coffea.processor import ProcessorABC
from roastcoffea import track_metrics

class MyProcessor(ProcessorABC):
    @track_metrics
    def process(self, events):
        return {"n": len(events), "hits": sum(map(len, events.Hit.value))}

    def postprocess(self, accumulator):
        return accumulator
"""


def blocks():
    text = PAGE.read_text(encoding="utf-8")
    for found in FENCED.finditer(text):
        line = text.count("\n", 0, found.start(2)) + 1
        place = f"{PAGE.name}:{line}"
        yield Block(place, place, textwrap.dedent(found[2]))


@pytest.fixture
def names(tiny_file, tmp_path, monkeypatch):
    """What a reader has: clusters, files, and an analysis only the client has."""
    (tmp_path / "my_analysis.py").write_text(ANALYSIS)
    with (
        start_cluster() as cluster,
        start_cluster(workers=1) as another,
        dask.config.set({"scheduler-address": cluster.scheduler_address}),
        Client(another, set_as_default=False) as another_client,
    ):
        monkeypatch.syspath_prepend(tmp_path)  # after workers have theirs
        monkeypatch.chdir(tmp_path)
        mine = run_block(Block("analysis", "analysis", ANALYSIS))
        yield {
            "MyProcessor": mine["MyProcessor"],
            "another_client": another_client,
            "cluster": cluster,
            "fileset": fileset_of(tiny_file),
        }


def test_every_block_runs(names, capsys):
    try:
        for block in blocks():
            names = run_block(block, **names)
            metrics = names["collector"].get_metrics()
            first = (block.place, metrics["monitor_first_error"])
            assert metrics["monitor_errors"] == 0, first
            assert names.get("output", {"n": EVENTS})["n"] == EVENTS
    finally:
        by_value = sys.modules.pop("my_analysis", None)
        if by_value is not None:
            cloudpickle.unregister_pickle_by_value(by_value)
        if "client" in names:
            names["client"].close()
    printed = capsys.readouterr().out
    assert "Dask, 2 workers x 1 thread" in printed
    assert "TASKS ON DASK" in printed
    assert "[[40], [50, 60, 70]]" in printed
    assert "execute select thread-cpu" in printed
    assert names["run"].get_metrics()["peak_workers"] == 3


def test_blocks_about_what_went_wrong(tiny_file, tmp_path, capsys):
    """Of a run in which something did."""
    for client in open_client():
        collector, _ = collect(client, tiny_file, Dying(tmp_path, {1000}))
    names = {"collector": collector}
    wanted = ('metrics["failures"]', 'metrics["hot_lines"]')
    for block in blocks():
        if any(text in block.code for text in wanted):
            names = run_block(block, **names)
    printed = capsys.readouterr().out
    (lost,) = collector.get_metrics()["lost_workers"]
    assert f"lost {lost['worker']}" in printed
    assert f"{lost['worker']} {lost['ended']}" in printed


def test_commands_and_settings_are_real():
    """What stands in the text, outside of blocks."""
    from roastcoffea.dask.install import SETTING
    from roastcoffea.dask.scheduler_plugin import DEFAULT_LIMITS

    text = PAGE.read_text(encoding="utf-8")
    assert f"`{SETTING}`" in text
    variable = "DASK_" + SETTING.upper().replace(".", "__")
    assert f"`{variable}=false`" in text
    assert dask.config.collect_env({variable: "false"}) == {
        "roastcoffea": {"ship": False}
    }
    assert f"{DEFAULT_LIMITS['cap_bytes'] >> 20} MiB" in text
    assert f"{DEFAULT_LIMITS['silence_s']:.0f} s without a pull" in text
