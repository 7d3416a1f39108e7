# SPDX-License-Identifier: BSD-3-Clause
"""The program and Python: ``python -m roastcoffea``, ``roast run``, ``roast doctor``,
the man page, and strange arguments."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import roastcoffea
from cli_program import ENVIRONMENT, program
from roastcoffea import __main__ as main_module

ROOT = Path(__file__).resolve().parents[2]
WORDS = (
    *("report", "ls", "check", "dump", "sql", "failed", "metrics", "import", "help"),
    *(
        "--help",
        "-f",
        "--format",
        "json",
        "--format=csv",
        "--",
        "-",
        "",
        "-x",
        "--=",
        "=",
    ),
    *("nowhere", ".", "/dev/null", "/proc/self/mem", "a" * 300, "\x1b[31m", "\udcff"),
    *("chunks", "SELECT 1", "--sort=wall", "-r", "-l", "a=b", "-o", "%s%n", "-fjson"),
)


def run(*command, cwd=None, **environment):
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=ENVIRONMENT | {"PATH": os.environ["PATH"]} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


# ---- one program, two names --------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [[], ["--version"], ["metrics", "wall_time"], ["report", "nowhere"], ["walk", "x"]],
    ids=" ".join,
)
def test_python_runs_the_same_program(arguments, monkeypatch):
    # The program that is installed, which may be another one than that under test.
    installed = main_module.find_program()
    if installed is None:
        pytest.skip("the program is not installed")
    by_python = run(sys.executable, "-m", "roastcoffea", *arguments)
    assert by_python == run(installed, *arguments)


@pytest.fixture(params=["beside Python", "scripts", "PATH"])
def elsewhere(request, tmp_path, monkeypatch):
    """Where the program may be; nothing is there."""
    folders = {name: tmp_path / name for name in ("beside Python", "scripts", "PATH")}
    for folder in folders.values():
        folder.mkdir()
    monkeypatch.setattr(sys, "executable", str(folders["beside Python"] / "python"))
    scripts = str(folders["scripts"])
    monkeypatch.setattr(main_module.sysconfig, "get_path", lambda *_: scripts)
    monkeypatch.setenv("PATH", str(folders["PATH"]))
    return folders[request.param]


def put_program(path, *lines):
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


OURS = f"echo 'roast {roastcoffea.__version__}'"


@pytest.mark.parametrize("lines", [["echo 'roast 0.0'"], ["exit 1"], [OURS, OURS], []])
def test_a_program_of_the_same_name_is_not_taken(elsewhere, lines):
    other = elsewhere / "roast"
    put_program(other, *lines)
    assert main_module.find_program() is None
    put_program(other, OURS)
    assert main_module.find_program() == str(other)


def test_the_right_program_is_found_behind_another(elsewhere, monkeypatch):
    put_program(elsewhere / "roast", "echo coffee")
    ours = elsewhere.parent / "PATH" / "roast"
    if elsewhere == ours.parent:
        ours = elsewhere.parent / "scripts" / "roast"
    put_program(ours, OURS)
    assert main_module.find_program() == str(ours)


def failed_start(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["roastcoffea", "ls"])
    with pytest.raises(SystemExit) as ended:
        main_module.main()
    assert ended.value.code == 4
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_without_the_program_it_is_one_line(elsewhere, monkeypatch, capsys):
    line = failed_start(monkeypatch, capsys)
    version = roastcoffea.__version__
    assert f"no program roast of version {version} (it is not there); install" in line
    put_program(elsewhere / "roast", "echo coffee")
    line = failed_start(monkeypatch, capsys)
    assert f"({elsewhere}/roast is another one); install roastcoffea again" in line


# ---- Python from the program -------------------------------------------------------


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("import sys\nprint(sys.argv)\nsys.exit(7)\n")
    return path


def test_run_hands_over_to_python(script):
    command = [program(), "run", "-q", script, "--help", "-f", "--"]
    code, printed, errors = run(*command, ROAST_PYTHON=sys.executable)
    assert (code, errors) == (7, "")
    assert printed == f"{[str(script), '--help', '-f', '--']}\n"


def test_help_of_run_lists_the_options_of_python():
    _, printed, _ = run(program(), "help", "run")
    listed = set(re.findall(r"--[\w-]+", printed))
    known = {
        name
        for action in main_module._parser()._actions
        for name in action.option_strings
    }
    assert listed == {name for name in known if name.startswith("--")} - {"--help"}


@pytest.fixture
def alone(tmp_path):
    """The program in a folder of its own, without a Python beside it."""
    copy = tmp_path / "bin" / "roast"
    copy.parent.mkdir()
    shutil.copy(program(), copy)
    return copy


def test_run_without_python_reports_it(alone, script):
    code, printed, errors = run(alone, "run", script, PATH="/nonexistent")
    assert (code, printed, errors.count("\n")) == (4, "", 1)
    assert "ROAST_PYTHON" in errors


def test_doctor_runs_python_for_hooks(alone):
    code, printed, errors = run(alone, "doctor", ROAST_PYTHON=sys.executable)
    assert (code, errors) == (0, "")
    assert re.search(r"^  yes hooks +(\d+) of \1 found$", printed, re.M)
    assert re.search(r"^ +coffea +\d", printed, re.M)


def test_doctor_without_python_reports_it(alone):
    code, printed, errors = run(alone, "doctor", PATH="/nonexistent")
    assert (code, errors) == (0, "")
    line = "  hooks: not checked, no Python with roastcoffea next to this program"
    assert printed.splitlines()[-1] == line


def test_doctor_names_a_hook_that_is_missing(monkeypatch):
    import uproot.source.futures

    from roastcoffea import doctor

    monkeypatch.delattr(uproot.source.futures.TrivialExecutor, "submit")
    lines = doctor.hook_lines()
    assert lines[0].startswith("  NO  hooks")
    assert any(line.startswith("  NO  hook submit") for line in lines[1:])


# ---- words about it ----------------------------------------------------------------


def commands():
    _, printed, _ = run(program(), "--help")
    return re.findall(r"^  (\w+) ", printed, re.M)


def test_every_command_and_exit_code_is_documented():
    page = (ROOT / "docs" / "man" / "roast.1.md").read_text()
    shown = (ROOT / "docs" / "cli.md").read_text()
    for name in commands():
        assert f"**{name}**" in page
        assert name == "help" or f"$ roast {name}" in shown
    for code in range(5):
        assert f"\n**{code}**\n" in page


def test_the_man_page_can_be_shown(tmp_path):
    page = tmp_path / "roast.1"
    source = ROOT / "docs" / "man" / "roast.1.md"
    made = run(sys.executable, ROOT / "tools" / "man_page.py", source, page, "1.0")
    assert made == (0, "", "")
    if not shutil.which("groff"):
        pytest.skip("no groff")
    code, shown, warnings = run("groff", "-man", "-Tascii", "-ww", "-P-cbou", page)
    assert (code, warnings) == (0, "")
    for name in commands():
        assert re.search(rf"^ +{name}\b", shown, re.M)
    assert "\\" not in shown


# ---- arguments ---------------------------------------------------------------------


def test_no_arguments_make_it_crash(tmp_path):
    chance = random.Random(20251115)
    for _ in range(300):
        words = [chance.choice(WORDS) for _ in range(chance.randrange(6))]
        done = subprocess.run(
            [os.fsencode(program()), *(os.fsencode(word) for word in words)],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            timeout=60,
        )
        assert 0 <= done.returncode <= 4, words
        lines = done.stderr.decode().splitlines()
        assert all(line.startswith("roast: ") for line in lines), words
        assert (done.returncode in (2, 3, 4)) <= bool(lines or not words), words
