# SPDX-License-Identifier: BSD-3-Clause
"""``%load_ext roastcoffea`` and ``%%roast``, in a real IPython shell."""

from __future__ import annotations

import pytest

import roastcoffea

pytest.importorskip("IPython", reason="IPython is not installed")

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

RUN = """
from coffea import processor
from coffea.nanoevents import BaseSchema

class Analysis(processor.ProcessorABC):
    def process(self, events):
        return {"events": len(events.event)}

    def postprocess(self, accumulator):
        return accumulator

runner = processor.Runner(
    processor.IterativeExecutor(status=False), schema=BaseSchema, chunksize=1000
)
out = runner({"ttbar": {"files": {path: "Events"}}}, processor_instance=Analysis())
"""


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell.instance()  # what is displayed is looked for on this one
    shell.run_line_magic("load_ext", "roastcoffea")
    yield shell
    InteractiveShell.clear_instance()


def run_cell(shell, cell):
    """(result, what was displayed, what was printed) of one cell."""
    with capture_output() as seen:
        result = shell.run_cell(cell)
    return result, [output.data for output in seen.outputs], seen.stdout + seen.stderr


def test_cell_is_measured_kept_and_shown(shell, tiny_file):
    shell.user_ns["path"] = str(tiny_file)
    result, _, printed = run_cell(shell, f"%%roast mine\n{RUN}")
    result.raise_error()
    assert shell.user_ns["out"]["events"] == 3000
    collector = shell.user_ns["mine"]
    assert isinstance(collector, roastcoffea.Run)
    assert collector.get_metrics()["num_attempts"] == 3
    assert shell.user_ns["_"] is collector
    assert str(collector) in printed


def test_cell_runs_in_the_users_namespace_and_shows_its_own_value(shell):
    shell.user_ns["x"] = 1
    result, _, printed = run_cell(shell, "%%roast\nx += 1\n'own value'")
    result.raise_error()
    assert shell.user_ns["x"] == 2
    own, card = printed.index("'own value'"), printed.index("FINISHED")
    assert own < card


@pytest.mark.parametrize(
    ("code", "error"),
    [("x = 1 / 0", "ZeroDivisionError"), ("x = = 1", "SyntaxError")],
)
def test_failing_cell_fails_and_shows_its_error_once(shell, code, error):
    result, shown, printed = run_cell(shell, f"%%roast broken\n{code}")
    assert not result.success
    assert error in str(result.error_in_exec)
    shown_errors = [line for line in printed.splitlines() if f"{error}\x1b[" in line]
    assert 1 <= len(shown_errors) <= 2  # IPython names it above and below
    assert "CellFailed" not in printed
    assert "FAILED" in shown[-1]["text/plain"]
    metrics = shell.user_ns["broken"].get_metrics()
    assert metrics["partial"] is True


@pytest.mark.parametrize("name", ["two words", "1st", "class", "a.b"])
def test_name_that_python_would_refuse_is_refused(shell, name):
    result, _, _ = run_cell(shell, f"%%roast {name}\nnot_run = 1")
    assert type(result.error_in_exec).__name__ == "UsageError"
    assert "not_run" not in shell.user_ns
    assert name not in shell.user_ns


def test_nothing_stays_behind(shell):
    from coffea.processor import Runner

    before = Runner.run
    run_cell(shell, "%%roast\nfrom coffea.processor import Runner\nseen = Runner.run")
    assert shell.user_ns["seen"] is not before
    assert Runner.run is before


def test_run_and_collector_have_a_card_and_a_text(shell):
    collector = roastcoffea.monitor()
    with collector:
        pass
    for shown in (collector, collector.run):
        forms, _ = shell.display_formatter.format(shown)
        assert forms["text/plain"] == str(collector)
        assert forms["text/html"] == collector._repr_html_()
