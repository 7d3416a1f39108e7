# SPDX-License-Identifier: BSD-3-Clause
"""Hardware, site and versions of where chunks ran, in the table ``hosts``."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys

import pytest

import roastcoffea
from support import run_python

# The second run of a process: each of them gets the facts about it.
SCRIPT = """
    import json
    import sys

    from coffea.processor import FuturesExecutor

    import roastcoffea
    from collector_helpers import Measured, fileset_of, make_runner

    if __name__ == "__main__":
        executor, path, saved = sys.argv[1:]
        pool = FuturesExecutor(workers=2, status=False)
        runner = make_runner(pool if executor == "processes" else None)
        for _ in range(2):
            with roastcoffea.monitor() as run:
                runner(fileset_of(path), Measured())
        columns = run.hosts.columns
        print(json.dumps({column.name: list(column) for column in columns}))
        run._core.set_note("provenance", "version.roastcoffea", "0.1")
        run.save(saved)
"""


@pytest.fixture(scope="module", params=["iterative", "processes"])
def hosts(request, tiny_file, tmp_path_factory):
    """The columns of the table, and a run whose client had another roastcoffea."""
    saved = tmp_path_factory.mktemp("hosts") / "run.roast"
    site = {"GLIDEIN_CMSSite": "T2_XX token=hunter2hunter2"}
    out = run_python(SCRIPT, request.param, tiny_file, saved, **site)
    table = json.loads(out.splitlines()[-1])  # coffea prints its progress, too
    return table, roastcoffea.open_run(saved), request.param


def test_versions_and_site_are_those_of_the_process(hosts):
    table, _, executor = hosts
    assert table["host"] == [os.uname().nodename]
    (count,) = table["processes"]
    assert count == 1 or (count == 2 and executor == "processes")
    for name in ("coffea", "uproot", "awkward"):
        assert table[name] == [importlib.metadata.version(name)]
    assert table["roastcoffea"] == [roastcoffea.__version__]
    assert table["python"] == [".".join(map(str, sys.version_info[:3]))]
    assert table["site"] == ["T2_XX token=***"]
    assert table["differs"] == [None]


def test_hardware_is_that_of_the_machine(hosts):
    table, *_ = hosts
    assert table["cpus"] == [os.cpu_count()]
    assert table["cpus_allowed"] == [len(os.sched_getaffinity(0))]
    assert table["kernel"] == [platform.release()]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert table["memory_bytes"] == [pytest.approx(memory, rel=0.01)]


def test_another_version_is_a_line_of_the_checks(hosts, capsys):
    table, run, _ = hosts
    ours = f"roastcoffea {roastcoffea.__version__}"
    assert list(run.hosts["differs"]) == [ours]
    count = table["processes"][0]
    run.print_summary()
    page = " ".join(capsys.readouterr().out.split())
    words = f"versions differ in {count} of {count} processes: {ours}"
    assert words in page
