# SPDX-License-Identifier: BSD-3-Clause
"""Build the wheel once, install it on every Python found and import it there.

It goes the way of a user who has nothing but pip: a source distribution is made, and
pip builds that in isolation with what it fetches from PyPI. So a file that the source
distribution lacks, or a build requirement that is not stated, shows here. One line per
breach. `--installed` builds nothing: it checks the files that `make build` installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution
from pathlib import Path

from pythons import find

VERSIONS = ["3.11", "3.12", "3.13"]
TAG = re.compile(r"roastcoffea-[\w.]+-cp311-abi3-[\w.]+\.whl")
MODULES = ["_core", "_probe"]
PROGRAM = {"scripts/roast", "data/share/man/man1/roast.1"}
INSTALLED = {
    "../../../bin/": "x.data/scripts/",
    "../../../share/": "x.data/data/share/",
}
IMPORT = (
    "import roastcoffea, coffea_metrics, roastcoffea._core as core; "
    "core.Run(0, 0).metrics(); roastcoffea.monitor(); print(roastcoffea.__version__)"
)
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
SDIST = "import scikit_build_core.build as b, sys; b.build_sdist(sys.argv[1])"


def run(command: list[str], cwd: Path) -> str:
    """The output of a command; with all it said, if it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def build(root: Path, out: Path) -> Path:
    """The wheel that pip makes from a source distribution of the tree."""
    run([sys.executable, "-c", SDIST, str(out)], root)
    (source,) = out.glob("*.tar.gz")
    run([*PIP, "wheel", "--no-deps", "--wheel-dir", str(out), str(source)], out)
    (wheel,) = out.glob("*.whl")
    return wheel


def stated_version(root: Path) -> str:
    """The version in version.h, the one place that has it."""
    text = (root / "include/roast/version.h").read_text()
    return text.split('ROAST_VERSION "')[1].split('"')[0]


def installed_names() -> Iterator[str]:
    """The files of the installed package, under the names they have in a wheel."""
    for file in distribution("roastcoffea").files or ():
        name = str(file)
        for place, in_wheel in INSTALLED.items():
            name = name.replace(place, in_wheel)
        if "__pycache__" not in name:  # which pip makes
            yield name


def content_breaches(files: Iterable[str]) -> Iterator[str]:
    """What is wrong with the files of a wheel."""
    names = set(files)
    binaries = {name for name in names if ".so" in name}
    if binaries != {f"roastcoffea/{name}.abi3.so" for name in MODULES}:
        yield f"holds {sorted(binaries)}, not one .abi3.so for each of {MODULES}"
    for wanted in ("py.typed", *(f"{name}.pyi" for name in MODULES)):
        wanted = f"roastcoffea/{wanted}"
        if wanted not in names:
            yield f"lacks {wanted}"
    program = {name for name in names if ".data/" in name}
    if {name.partition(".data/")[2] for name in program} != PROGRAM:
        yield f"holds {sorted(program)}, not {sorted(PROGRAM)}"
    for name in names - program:
        if not re.match(r"roastcoffea(-.*\.dist-info)?/|coffea_metrics/", name):
            yield f"holds {name}"


def import_breach(wheel: Path, python: str, version: str) -> str | None:
    """Installs into an empty environment and imports; what went wrong, if anything."""
    place = wheel.parent
    env = place / "env"
    run([python, "-m", "venv", "--without-pip", "--clear", str(env)], place)
    inside = str(env / "bin/python")
    try:
        run([*PIP, "--python", inside, "install", "--no-deps", str(wheel)], place)
        found = run([inside, "-I", "-c", IMPORT], place)
        program = run([inside, "-I", "-m", "roastcoffea", "--version"], place)
    except RuntimeError as error:
        return str(error)
    if (found, program) == (version, f"roast {version}"):
        return None
    return f"says version {found} and {program}, not {version}"


def check_installed() -> int:
    """Print what is wrong with the installed files; 1 if anything is."""
    tag = str(distribution("roastcoffea").read_text("WHEEL"))
    lines = [] if "Tag: cp311-abi3-" in tag else ["is not cp311-abi3"]
    lines += content_breaches(installed_names())
    print("\n".join(f"installed: {line}" for line in lines))
    return int(bool(lines))


def main(root: Path) -> int:
    """Print what was found; 1 if anything is wrong."""
    os.environ.pop("PYTHONPATH", None)  # only what the wheel brings
    with tempfile.TemporaryDirectory() as name:
        wheel = build(root, Path(name))
        lines = [] if TAG.match(wheel.name) else ["is not cp311-abi3"]
        lines += content_breaches(zipfile.ZipFile(wheel).namelist())
        pythons = find(VERSIONS)
        for version, python in pythons.items():
            breach = import_breach(wheel, python, stated_version(root))
            lines += [f"Python {version}: {breach}"] if breach else []
        ok = f"imports on Python {', '.join(pythons)}"
        print("\n".join(f"{wheel.name}: {line}" for line in lines or [ok]))
    return int(bool(lines))


if __name__ == "__main__":
    if "--installed" in sys.argv[1:]:
        sys.exit(check_installed())
    sys.exit(main(Path(__file__).resolve().parent.parent))
