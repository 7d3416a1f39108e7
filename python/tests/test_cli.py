# SPDX-License-Identifier: BSD-3-Clause
"""The program ``roast``, case by case: tests/cli/*.txt.

A case is a command and what it writes::

    # What it shows.
    $ roast report nowhere.roast
    [stderr]
    roast: nowhere.roast: ...
    [code 3]

Commands run in a folder with the runs of cli_runs.py. ``ROAST_UPDATE_CLI=1`` writes
what the program says into the cases: read the difference before it is kept.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

import cli_runs
import roastcoffea
from cli_program import ENVIRONMENT, program

CASES = Path(__file__).resolve().parents[2] / "tests" / "cli"
DOCS = CASES.parents[1] / "docs" / "cli.md"
CASE = re.compile(
    r"(?P<words>(?:#[^\n]*\n)*)\$ (?P<command>[^\n]*)\n(?P<stdout>.*?)"
    r"(?:\[stderr\]\n(?P<stderr>.*?))?(?:\[code (?P<code>\d+)\]\n)?\Z",
    re.DOTALL,
)


class Written(NamedTuple):
    """What a command wrote, and how it ended."""

    stdout: str
    stderr: str
    code: int

    def text(self) -> str:
        parts = [self.stdout]
        if self.stderr:
            parts.append(f"[stderr]\n{self.stderr}")
        if self.code:
            parts.append(f"[code {self.code}]\n")
        return "".join(parts)


@pytest.fixture(scope="module")
def runs_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "here"
    folder.mkdir()
    cli_runs.write_all(folder)
    cli_runs.write_taken(folder.parent / "taken")
    cli_runs.write_compared(folder.parent / "compared")
    cli_runs.write_facility(folder.parent / "facility")
    return folder


def plain(text: str) -> str:
    """Without what differs from one SQLite or version of ours to the next."""
    text = text.replace(roastcoffea.__version__, "<version>")
    return re.sub(r"\b\d+ (of \d+ )?bytes", "<so many> bytes", text)


def run(command: str, folder: Path) -> Written:
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=ENVIRONMENT | {"PATH": f"{Path(program()).parent}:{os.environ['PATH']}"},
        capture_output=True,
        timeout=60,
    )
    stdout = done.stdout.decode().replace("\r\n", "<CR>\n")  # of CSV
    return Written(stdout, done.stderr.decode(), done.returncode)


@pytest.mark.parametrize("path", sorted(CASES.glob("*.txt")), ids=lambda p: p.stem)
def test_case(path, runs_folder):
    case = CASE.match(path.read_text())
    assert case, f"{path} is no case"
    written = run(case["command"], runs_folder)
    written = Written(plain(written.stdout), plain(written.stderr), written.code)
    if "ROAST_UPDATE_CLI" in os.environ:
        path.write_text(f"{case['words']}$ {case['command']}\n{written.text()}")
    wanted = Written(case["stdout"], case["stderr"] or "", int(case["code"] or 0))
    assert written == wanted


BLOCK = re.compile(r"^```console\n\$ (roast [^\n]*)\n(.*?)^```$", re.DOTALL | re.M)


def test_docs_show_what_the_program_writes(runs_folder):
    page = DOCS.read_text()

    def anew(block):
        stdout = run(block[1], runs_folder).stdout.replace("<CR>", "")
        return f"```console\n$ {block[1]}\n{stdout}```"

    real = BLOCK.sub(anew, page)
    if "ROAST_UPDATE_CLI" in os.environ:
        DOCS.write_text(real)
    assert len(BLOCK.findall(page)) >= 8
    assert plain(page) == plain(real)


def test_there_are_cases_of_every_command(runs_folder):
    commands = re.findall(r"^  (\w+) ", run("roast --help", runs_folder).stdout, re.M)
    cases = " ".join(path.read_text() for path in CASES.glob("*.txt"))
    assert len(commands) >= 11
    assert [name for name in commands if f"roast {name}" not in cases] == []


def test_help_fits_a_terminal(runs_folder):
    commands = re.findall(r"^  (\w+) ", run("roast --help", runs_folder).stdout, re.M)
    pages = [run(f"roast help {name}", runs_folder).stdout for name in commands]
    assert all(pages)
    lines = [line for page in pages for line in page.splitlines()]
    assert [line for line in lines if len(line) > 80] == []
