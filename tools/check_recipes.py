# SPDX-License-Identifier: BSD-3-Clause
"""Follow the recipes of CONTRIBUTING.md in a copy of the tree: build it, use what was
added, and see that a forgotten place does not go unnoticed.

A recipe is a folder of tests/recipes. Its file `rows` has what is added to files of the
tree; `@ FILE  PATTERN` gives the file and the line (the last one that matches) after
which the next lines go. All other files of the folder are new files of the tree.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RECIPES = ROOT / "tests" / "recipes"
COPY = ROOT / "build" / "recipes"
PARTS = "bench cli cmake docs include python src tests tools".split()
FILES = "CMakeLists.txt CONTRIBUTING.md ARCHITECTURE.md LICENSE README.md".split()
TEST = "python/tests/test_use.py"
TARGETS = "roast_program", "_core", "_probe"
BIN = Path(sys.executable).parent


class Addition(NamedTuple):
    """Lines for a file of the tree, and the pattern of the line that they follow."""

    file: str
    pattern: str
    lines: list[str]


class Forgotten(NamedTuple):
    """A file that a recipe leaves as it was, or does not make; who notices it."""

    recipe: str
    file: str
    noticed_by: str


FORGOTTEN = (
    Forgotten("finding", "src/analyze/findings/rules_recipe.c", "built"),
    Forgotten("table", "src/analyze/tables/recipe.c", "built"),
    Forgotten("exporter", "src/export/recipe.c", "built"),
    Forgotten("rows", "src/table/rows_recipe.c", "built"),
    Forgotten("command", "cli/cmd_recipe.c", "built"),
    Forgotten("backend", "src/collect/recipe_source.c", "used"),
    Forgotten("field", "src/probe/chunk/finish.c", "lists"),
    Forgotten("column", "src/file/sqlite/chunk_view.def", "built"),
    Forgotten("column", "src/analyze/tables/chunks.c", "used"),
    Forgotten("metric", "src/analyze/totals/workflow.c", "used"),
)


def additions(recipe: Path) -> Iterator[Addition]:
    """What a recipe adds to files of the tree."""
    found: list[Addition] = []
    for line in (recipe / "rows").read_text().splitlines():
        if line.startswith("@ "):
            file, pattern = line[2:].split(maxsplit=1)
            found.append(Addition(file, pattern, []))
        else:
            found[-1].lines.append(line)
    yield from found


def new_files(recipe: Path) -> Iterator[Path]:
    for path in sorted(recipe.rglob("*")):
        if path.is_file() and path.name != "rows":
            yield path.relative_to(recipe)


def add(addition: Addition) -> None:
    """To the file of the copy."""
    path = COPY / addition.file
    lines = path.read_text().splitlines()
    matching = [i for i, line in enumerate(lines) if re.search(addition.pattern, line)]
    if not matching:
        sys.exit(f"{addition.file} has no line like {addition.pattern}")
    after = matching[-1]
    while not re.search(r"[);{]\s*(#.*)?$|^from |\*/$", lines[after]):
        after += 1  # a row of several lines
    lines[after + 1 : after + 1] = addition.lines
    path.write_text("\n".join(lines) + "\n")


def follow(recipe: Path) -> None:
    """All steps of a recipe."""
    for addition in additions(recipe):
        add(addition)
    for path in new_files(recipe):
        shutil.copy(recipe / path, COPY / path)


def copy_tree() -> None:
    """With the times of files, so that only what differs is built again."""
    skipped = shutil.ignore_patterns("__pycache__")
    for name in PARTS:
        shutil.rmtree(COPY / name, ignore_errors=True)
        shutil.copytree(ROOT / name, COPY / name, ignore=skipped)
    for name in FILES:
        shutil.copy2(ROOT / name, COPY / name)


def passes(*command: object, **more: str) -> bool:
    """Whether a command in the copy ends well; what it writes is kept for a failure."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=COPY,
        env=os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"} | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    passes.output = done.stdout.decode(errors="replace")  # type: ignore[attr-defined]
    return done.returncode == 0


def check(step: str) -> bool:
    """One of the checks that a contributor runs."""
    if step == "lists":
        return passes(sys.executable, "tools/check_lists.py")
    if step == "docs":
        return passes(sys.executable, "tools/doc_tables.py", "--check")
    built = passes("cmake", "--build", "out", "--target", *TARGETS)
    return (built and use()) if step == "used" else built


def use() -> bool:
    """Use what was added, in Python and by the program."""
    site = COPY / "site"
    shutil.rmtree(site, ignore_errors=True)
    for name in ("roastcoffea", "coffea_metrics"):
        shutil.copytree(COPY / "python" / name, site / name)
    program = str(site / "bin" / "roast")
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    pytest += ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(COPY), TEST]
    return passes("cmake", "--install", "out", "--prefix", site) and passes(
        *pytest, PYTHONPATH=str(site), ROAST_PROGRAM=program
    )


def notices(step: str) -> bool:
    """Whether a check fails because of what a recipe added."""
    return not check(step) and "recipe" in passes.output  # type: ignore[attr-defined]


def need(what: str, is_so: bool) -> None:
    print(f"{what}: {'ok' if is_so else 'FAILED'}", flush=True)
    if not is_so:
        sys.exit(passes.output[-8000:])  # type: ignore[attr-defined]


def forget(forgotten: Forgotten) -> None:
    """The copy without one step of a recipe must fail its check."""
    path = COPY / forgotten.file
    kept = path.read_bytes()
    if (ROOT / forgotten.file).exists():
        shutil.copy(ROOT / forgotten.file, path)
    else:
        path.unlink()
    noticed = notices(forgotten.noticed_by)
    path.write_bytes(kept)
    need(f"{forgotten.recipe} without {forgotten.file}: noticed", noticed)


def main() -> int:
    COPY.mkdir(parents=True, exist_ok=True)
    recipes = sorted(path.parent for path in RECIPES.glob("*/rows"))
    copy_tree()
    for recipe in recipes:
        follow(recipe)
    need("docs without tools/doc_tables.py: noticed", not check("docs"))
    need("tables of docs", passes(sys.executable, "tools/doc_tables.py"))
    need("tables of docs are complete", check("docs"))
    need("rows without a test: noticed", notices("lists"))
    shutil.copy(RECIPES / "use.py", COPY / TEST)
    need("lists", check("lists"))
    need("format", passes("clang-format", "--dry-run", "-Werror", *c_files(recipes)))
    options = "-DROAST_PYTHON=ON -DROAST_TESTS=ON -DROAST_WERROR=ON".split()
    options += ["-DCMAKE_BUILD_TYPE=Debug", f"-DPython_EXECUTABLE={sys.executable}"]
    need("configured", passes("cmake", "-S", ".", "-B", "out", "-G", "Ninja", *options))
    need("built with all recipes", passes("cmake", "--build", "out"))
    golden = "out/tests/test_file_golden"
    need("golden files without the new rows: noticed", not passes(golden))
    need("golden files", passes(golden, ROAST_WRITE_GOLDEN="1"))
    need("C tests", passes("ctest", "--test-dir", "out", "-j2", "--output-on-failure"))
    need("used", check("used"))
    for forgotten in FORGOTTEN:
        forget(forgotten)
    return 0


def c_files(recipes: list[Path]) -> list[Path]:
    paths = [path for recipe in recipes for path in new_files(recipe)]
    return [path for path in paths if path.suffix in {".c", ".h"}]


if __name__ == "__main__":
    sys.exit(main())
