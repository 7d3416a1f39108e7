# SPDX-License-Identifier: BSD-3-Clause
"""The tree and the built package keep their own rules: tools/check_*.py.

Each check runs on the real thing, and on something that breaks its rule: a check that
finds nothing in either would be worth nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import roastcoffea
from roastcoffea import _core, _probe

ROOT = Path(__file__).resolve().parents[2]


def check(name: str, *arguments: object) -> tuple[int, str]:
    """Exit status and output of one of the tools."""
    command = [sys.executable, ROOT / "tools" / f"check_{name}.py", *arguments]
    done = subprocess.run(
        list(map(str, command)), cwd=ROOT, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


EXTENSIONS = [Path(module.__file__ or "") for module in (_probe, _core)]


def test_the_version_is_the_same_everywhere() -> None:
    header = (ROOT / "include/roast/version.h").read_text()
    version = header.split('ROAST_VERSION "')[1].split('"')[0]
    assert roastcoffea.__version__ == version
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_include_law_is_kept() -> None:
    status, output = check("includes", ROOT)
    assert status == 0, output


@pytest.mark.parametrize(
    ("file", "line", "breach"),
    [
        ("src/base/a.c", '#include "record/frame.h"', "base must not know record"),
        ("src/record/a.c", '#include "roast/probe.h"', "record must not know probe"),
        ("src/probe/a.c", '#include "run/file.h"', "probe must not know run"),
        ("src/record/a.h", '#include "buf.h"', "not <layer>/x.h"),
        ("src/record/a.c", "#include <sys/sysinfo.h>", "only probe meets"),
        ("src/run/a.c", "#  include <Python.h>", "the core never includes Python.h"),
        ("include/roast/error.h", '#include "base/buf.h"', "roast/*.h only"),
        ("include/roast/new.h", "#include <stdio.h>", "not in PUBLIC"),
        ("python/ext/a.c", '#include "base/buf.h"', "its own folder only"),
        ("cli/a.c", '#include "../src/base/buf.h"', "its own folder only"),
    ],
)
def test_include_law_finds_a_breach(
    tmp_path: Path, file: str, line: str, breach: str
) -> None:
    path = tmp_path / file
    (tmp_path / "src").mkdir()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"/* a */\n{line}\n")
    status, output = check("includes", tmp_path)
    assert status == 1
    assert f"{file}:2: " in output
    assert breach in output


def test_symbol_law_is_kept() -> None:
    build = ROOT / "build" / "test"
    if not (build / "CMakeFiles").is_dir():
        pytest.skip("the C tests were not built: tools/ctest.sh test")
    status, output = check("symbol_law", build, ROOT)
    assert status == 0, output


def test_symbol_law_finds_a_breach(tmp_path: Path) -> None:
    sources = {
        "src/run/low.c": "int roast__up(void);\nint f(void) { return roast__up(); }\n",
        "src/analyze/up.c": "int roast__up(void) { return 1; }\n",
        "cli/main.c": "int roast__up(void);\nint main(void) { return roast__up(); }\n",
    }
    for name, text in sources.items():
        cli = name.startswith("cli/")
        target = Path("build/cli/x.dir/main.c.o" if cli else f"build/x.dir/{name}.o")
        for path in (tmp_path / name, tmp_path / target):
            path.parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        command = ["cc", "-c", tmp_path / name, "-o", tmp_path / target]
        subprocess.run(list(map(str, command)), check=True)
    status, output = check("symbol_law", tmp_path / "build", tmp_path)
    assert status == 1
    assert output.splitlines() == [
        "cli/main.c: roast__up is of analyze",
        "src/run/low.c: roast__up is of analyze",
    ]
    (tmp_path / "src/run/low.c").unlink()
    assert "low.c" not in check("symbol_law", tmp_path / "build", tmp_path)[1]


def test_files_and_functions_are_small() -> None:
    status, output = check("sizes", ROOT)
    assert status == 0, output


def test_large_files_and_functions_are_found(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    head = "static int\nlarge(int a, int b[2], int (*f)(int, int))"
    statements = "    work();\n" * 98
    body = f"{head}\n{{\n{statements}}}\n"
    many = "void many(int a, int b, int c, int d, int e, int f)\n{\n}\n"
    (tmp_path / "src/a.c").write_text(f"struct x {{\n    int a;\n}};\n\n{body}\n{many}")
    (tmp_path / "src/b.h").write_text("\n" * 101)
    status, output = check("sizes", tmp_path)
    assert status == 1
    assert output.splitlines() == [
        "warning: src/a.c:108: many() has 6 parameters, aim 5",
        "src/a.c:5: large() has 102 lines, at most 100",
        "src/b.h: 101 lines, at most 100",
    ]


@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda path: path.name)
def test_extension_exports_and_needs_little(extension: Path) -> None:
    status, output = check("symbols", extension, ROOT / "README.md")
    assert status == 0, output


def test_symbols_outside_the_stable_abi_are_found() -> None:
    status, output = check("symbols", numpy._core._multiarray_umath.__file__)
    assert status == 1
    assert "which is not in the stable ABI" in output
    assert "not only the C library" in output


def test_what_was_installed_is_what_a_wheel_must_hold() -> None:
    status, output = check("wheel", "--installed")
    assert status == 0, output


@pytest.mark.long
@pytest.mark.timeout(1800)  # it fetches and compiles
def test_pip_alone_makes_one_wheel_for_every_python() -> None:
    status, output = check("wheel")
    assert status == 0, output


@pytest.mark.skipif("ROAST_SANITIZED" not in os.environ, reason="only in `make asan`")
@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda path: path.name)
def test_the_sanitized_extension_is_the_one_loaded(extension: Path) -> None:
    assert extension.is_relative_to(os.environ["ROAST_SANITIZED"])
    symbols = subprocess.run(["nm", "-D", extension], capture_output=True, text=True)
    assert "__asan_init" in symbols.stdout
    assert "__ubsan_handle" in symbols.stdout


# ---- lists and recipes ---------------------------------------------------------------


def test_rows_of_lists_are_used_and_tested(tmp_path: Path) -> None:
    assert check("lists") == (0, "lists: all rows are used and tested\n")
    (tmp_path / "include").mkdir()
    for name in ("src", "python", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "include" / "roast", tmp_path / "include" / "roast")
    fields = tmp_path / "include" / "roast" / "record_fields.def"
    fields.write_text(fields.read_text() + 'F(63, never_set, U64, none, "no")\n')
    (tmp_path / "CONTRIBUTING.md").write_text("See `src/no_such_file.c`.\n")
    status, text = check("lists", tmp_path)
    assert status == 1
    assert "sets the field never_set" in text
    assert "src/no_such_file.c" in text


def test_tables_of_docs_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "doc_tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_recipes_of_contributing_work() -> None:
    status, text = check("recipes")
    assert status == 0, text
