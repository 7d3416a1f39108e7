# SPDX-License-Identifier: BSD-3-Clause
"""What the program writes, read back: JSON, CSV, terminals, pipes."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import signal
import subprocess

import pytest
from coffea.processor import Runner

import cli_runs
from cli_program import ENVIRONMENT, program
from roastcoffea import _core, _probe

COMMANDS = {  # everything that shows names
    "report": ["report", "hostile.roast"],
    "report json": ["report", "hostile.roast", "-f", "json"],
    "ls": ["ls", "."],
    "ls json": ["ls", ".", "-f", "json"],
    "check": ["check", "hostile.roast"],
    "dump": ["dump", "hostile.roast"],
    "dump text": ["dump", "hostile.roast", "chunks"],
    "dump csv": ["dump", "hostile.roast", "chunks", "-f", "csv"],
    "dump json": ["dump", "hostile.roast", "labels", "-f", "json"],
    "sql": ["sql", "hostile.roast", "SELECT * FROM labels"],
    "sql csv": ["sql", "hostile.roast", "SELECT * FROM labels", "-f", "csv"],
    "sql column": ["sql", "hostile.roast", "SELECT 1 AS '\x1b[31m'"],
    "failed": ["failed", "hostile.roast"],
    "an error": ["report", "\x1b[31mno\n such file"],
    "an option": ["report", "--\x1b[31m"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    cli_runs.write_all(folder)
    return folder


def roast(*arguments, cwd, **options):
    return subprocess.run(
        [program(), *arguments],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        timeout=60,
        **options,
    )


def strict(text):
    """JSON, without the constants that only Python takes for it."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


# ---- JSON --------------------------------------------------------------------------


def test_report_has_every_metric_as_python_has_it(folder):
    report = strict(roast("report", "good.roast", "-f", "json", cwd=folder).stdout)
    known = _core.open_run(folder / "good.roast").metrics()
    values = {name: row["value"] for name, row in report["metrics"].items()}
    assert len(values) > 100
    for name, value in values.items():
        assert value == known.get(name), name
        assert ("why" in report["metrics"][name]) == (value is None)
    assert report["notes"]["label"] == {"site": "T2_DE", "user": "me"}
    assert report["run"]["start_ns"] == cli_runs.EPOCH_NS


def test_records_have_everything_that_was_in_them(folder):
    lines = roast("dump", "good.roast", cwd=folder).stdout.splitlines()
    records = [strict(line) for line in lines]
    assert [record["chunk_id"] for record in records] == [0, 1, 2, 3]
    for number, record in enumerate(records):
        given = cli_runs.record(number)
        for key in given.keys() - {"t_start"}:
            assert record[key] == given[key], key
        assert record["start_epoch_ns"] == cli_runs.EPOCH_NS + number * cli_runs.SECOND
        assert record["duration_ns"] == 500_000_000
        assert record["rss_after_bytes"] == 210 * 2**20
    assert records[0]["sections"][0]["section_name"] == "jets"
    assert records[0]["timing"] == {"jets": 0.25}
    assert records[3]["ladder"] == {"open": 0.0625, "form": 0.125, "compute": 0.3125}


def test_records_are_those_of_python(folder):
    lines = roast("dump", "good.roast", cwd=folder).stdout.splitlines()
    chunks = _core.open_run(folder / "good.roast").chunks()
    for line, (frame, *_) in zip(lines, chunks, strict=True):
        (record,) = _probe.read_frames(frame)
        assert dict(record).items() <= strict(line).items()


def test_hostile_names_come_back_from_json(folder):
    lines = roast("dump", "hostile.roast", cwd=folder).stdout.splitlines()
    assert strict(lines[0])["dataset"] == cli_runs.RED


def test_lines_of_ls_are_json(folder):
    lines = roast("ls", ".", "-f", "json", cwd=folder).stdout.splitlines()
    found = {run["path"]: run for run in map(strict, lines)}
    assert found["./good.roast"]["events"] == 400
    assert found["./good.roast"]["state"] == "finished"
    assert found["./bad.roast"]["state"] == "failed"
    assert found["./live.roast-live"]["live"] is True
    assert "unreadable" in found["./empty.roast"]


def test_coffea_takes_the_fileset_that_failed(folder):
    fileset = strict(roast("failed", "--files", "bad.roast", cwd=folder).stdout)
    files = list(Runner._normalize_fileset(fileset, None))
    assert [(file.dataset, file.filename, file.treename) for file in files] == [
        ("ttbar", f"/data/{name}.root", "Events") for name in "abc"
    ]
    assert files[0].metadata["xsec"] == 831.76
    opened = _core.open_run(folder / "bad.roast")
    assert fileset == json.loads(opened.failed_fileset(0, False))
    items = strict(roast("failed", "bad.roast", cwd=folder).stdout)
    assert items == json.loads(opened.failed_items(0))
    assert [item["entrystart"] for item in items["items"]] == [0, 100, 200, 0]


# ---- CSV ---------------------------------------------------------------------------


def test_csv_reads_back_and_holds_no_formula(folder):
    done = roast("dump", "hostile.roast", "chunks", "-f", "csv", cwd=folder)
    text = done.stdout.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert [row["dataset"] for row in rows] == ["?[31mred?\n?", 'a,"b"']
    assert [row["file"] for row in rows] == ["'=cmd|'/c calc'!A1", "'-1+1"]
    assert text.count("\r\n") == 3
    for row in rows:
        assert float(row["duration"]) == 0.5
        assert not any(re.match(r"\s*[=+@-](?![\d.])", cell) for cell in row.values())


# ---- terminals ---------------------------------------------------------------------


def on_terminal(*arguments, cwd, **environment):
    """What a command writes to a terminal, and to standard error beside it."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [program(), *arguments],
        cwd=cwd,
        env=ENVIRONMENT | environment,
        stdout=slave,
        stderr=slave,
        stdin=subprocess.DEVNULL,
    )
    os.close(slave)
    pieces = []
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(master)
    assert process.wait(timeout=60) >= 0
    return b"".join(pieces).decode().replace("\r\n", "\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_no_control_character_reaches_a_terminal(name, folder):
    text = on_terminal(*COMMANDS[name], cwd=folder, TERM="xterm")
    plain = re.sub("\x1b\\[[01]m", "", text)  # our own
    assert plain
    hidden = re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", plain)
    assert [c for c in hidden if c != "\r"] == []


def test_titles_are_bold_where_they_may_be(folder):
    command = ["report", "good.roast"]
    assert "\x1b[1mTiming Breakdown\x1b[0m" in on_terminal(
        *command, cwd=folder, TERM="xterm"
    )
    for quiet in ({"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}, {"TERM": ""}):
        assert "\x1b" not in on_terminal(*command, cwd=folder, **quiet)
    assert b"\x1b" not in roast(*command, cwd=folder).stdout


# ---- pipes -------------------------------------------------------------------------


@pytest.mark.parametrize("ignored", [False, True])
def test_a_reader_that_goes_away_is_no_error(folder, ignored):
    def prepare():
        signal.signal(signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)

    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [program(), "metrics"],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=write_end,
        stderr=subprocess.PIPE,
        preexec_fn=prepare,
        timeout=60,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")
