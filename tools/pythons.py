# SPDX-License-Identifier: BSD-3-Clause
"""Find Python interpreters: `pythons.py 3.12 3.13` prints "version<TAB>path" lines.

A name on PATH may be a pyenv shim for a version that is not active, which exists and
fails; so each candidate is run, and pyenv's own directory is searched as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PROBE = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"


def candidates(version: str) -> Iterator[str]:
    """Where an interpreter of this version could be, most wanted first."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        yield sys.executable
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield on_path
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(root.glob(f"versions/{version}.*/bin/python")))


def works(path: str, version: str) -> str | None:
    """The interpreter's own path if it runs and is of this version."""
    try:
        done = subprocess.run(
            [path, "-c", PROBE], capture_output=True, text=True, timeout=60
        )
    except OSError:
        return None
    found, _, executable = done.stdout.strip().partition(" ")
    return executable if done.returncode == 0 and found == version else None


def find(versions: list[str]) -> dict[str, str]:
    """Version to path, for the versions that are there."""
    found = {}
    for version in versions:
        for path in candidates(version):
            executable = works(path, version)
            if executable:
                found[version] = executable
                break
    return found


if __name__ == "__main__":
    for version, path in find(sys.argv[1:]).items():
        print(f"{version}\t{path}")
