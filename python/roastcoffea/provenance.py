# SPDX-License-Identifier: BSD-3-Clause
"""Where the numbers of a run come from: versions, command, host, settings, code.

Cheap facts are stored when the block begins, so that a crashed run has them. The others
(packages that are not imported, uncommitted changes of the code) are stored when a file
is written or ``run.provenance`` is read. Of the environment only the ids of jobs, pods
and sites are read; the user's home is written as ``~``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from roastcoffea import _core, _probe

PACKAGES = (
    *("coffea", "uproot", "awkward", "numpy", "dask", "distributed"),
    *("hist", "correctionlib", "pyarrow"),
)
POD = "KUBERNETES_SERVICE_HOST"  # in a pod, where HOSTNAME is the pod's name
NOISE = ("status", "unit", "desc", "function", "items", "accumulator")
GIT_TIMEOUT_S = 2
MAX_ARGUMENTS = 1000
SCALARS = (bool, int, float, str)


def at_begin() -> dict[str, str]:
    """Facts that cost almost no time."""
    system = os.uname()
    facts = {
        "version.roastcoffea": _probe.version,
        "version.python": sys.version.split()[0],
        "platform": f"{system.sysname} {system.release} {system.machine}",
        "host": system.nodename,
        "command": command(sys.argv),
    }
    with contextlib.suppress(OSError):  # it may have been removed
        facts["folder"] = _homeless(os.getcwd())
    facts |= versions(name for name in PACKAGES if name in sys.modules)
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(shell, "kernel"):
        facts["client"] = "notebook"
    facts |= {
        f"environment.{name}": os.environ[name]
        for name in (*_kept(), *(["HOSTNAME"] if POD in os.environ else []))
        if os.environ.get(name)
    }
    commit = commit_of(folder_of_script())
    return facts | ({"git_commit": commit} if commit else {})


def at_end() -> dict[str, str]:
    """Facts that take some milliseconds."""
    return versions(PACKAGES) | git_state(folder_of_script())


def _kept() -> list[str]:
    """The variables of the environment that may be kept."""
    return [name for name, _ in _probe.environment()]


# ---- packages --------------------------------------------------------------------


def versions(names: Iterable[str]) -> dict[str, str]:
    """Versions of installed packages; none is imported."""
    from importlib import metadata

    found = {}
    for name in names:
        version = getattr(sys.modules.get(name), "__version__", None)
        if not isinstance(version, str):
            with contextlib.suppress(Exception):  # not installed, or broken metadata
                version = metadata.version(name)
        if version:
            found[f"version.{name}"] = version
    return found


# ---- command -----------------------------------------------------------------------


def command(arguments: Iterable[str]) -> str:
    """A command line without secrets."""
    plain = [str(x).encode(errors="replace").decode() for x in arguments]
    shown = _core.redact_arguments(plain[:MAX_ARGUMENTS])
    return _homeless(" ".join(map(_quoted, shown)))


def _quoted(argument: str) -> str:
    """As a shell needs it; the mask of a secret needs no quotes."""
    rest = argument.replace("***", "")
    is_plain = not rest or shlex.quote(rest) == rest
    return argument if argument and is_plain else shlex.quote(argument)


def _homeless(text: str) -> str:
    """The user's home as ``~``."""
    home = os.path.expanduser("~").rstrip(os.sep)
    if not home:
        return text
    return re.sub(rf"(?<![\w./-]){re.escape(home)}(?![\w.-])", "~", text)


# ---- code ----------------------------------------------------------------------------


def folder_of_script() -> Path:
    """The folder of the script, or the current one."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    try:
        return Path(script).resolve().parent if script else Path.cwd()
    except (OSError, TypeError):  # the folder is gone
        return Path("/")


def commit_of(folder: Path) -> str | None:
    """The commit that is checked out, read from git's own files."""
    try:
        folders = (p / ".git" for p in (folder, *folder.parents))
        git = next((path for path in folders if path.exists()), None)
        if git is None:
            return None
        if git.is_file():  # a worktree: "gitdir: PATH"
            git = git.parent / _line(git).removeprefix("gitdir: ")
        head = _line(git / "HEAD")
        return _hash(head if not head.startswith("ref: ") else _ref(git, head[5:]))
    except (OSError, ValueError):
        return None


def _line(path: Path) -> str:
    with open(path, encoding="utf-8") as file:
        return file.readline(4096).rstrip("\n")


def _ref(git: Path, name: str) -> str:
    """What a branch points to; in a file of its own, or among the packed ones."""
    shared = git / "commondir"
    home = git / _line(shared) if shared.exists() else git
    for place in (git / name, home / name):
        if place.is_file():
            return _line(place)
    with open(home / "packed-refs", encoding="utf-8") as file:
        return next((x.split()[0] for x in file if x.rstrip().endswith(" " + name)), "")


def _hash(text: str) -> str | None:
    is_hash = len(text) in (40, 64) and set(text) <= set("0123456789abcdef")
    return text if is_hash else None


def git_state(folder: Path) -> dict[str, str]:
    """Commit, and whether files that git knows differ from it; {} without git."""
    import subprocess

    git = ["git", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch"]
    try:
        status = subprocess.run(
            [*git, "--untracked-files=no", "--ignore-submodules"],
            cwd=folder,
            env=os.environ | {"GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_TIMEOUT_S,
            check=True,
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = status.splitlines()
    oid = next((x.split()[-1] for x in lines if x.startswith("# branch.oid ")), "")
    dirty = any(not line.startswith("#") for line in lines)
    commit = {"git_commit": oid} if _hash(oid) else {}
    return commit | {"git_dirty": "yes" if dirty else "no"}


# ---- settings ------------------------------------------------------------------------


def settings(runner: Any) -> dict[str, str]:
    """Plain settings of coffea's Runner and its executor."""
    executor = getattr(runner, "executor", None)
    facts = {"executor": type(executor).__name__}
    for prefix, owner in (("runner", runner), ("executor", executor)):
        for field in (
            dataclasses.fields(owner) if dataclasses.is_dataclass(owner) else ()
        ):
            value = getattr(owner, field.name, None)
            if field.name in NOISE:
                continue
            if isinstance(value, type):
                facts[f"{prefix}.{field.name}"] = value.__name__
            elif isinstance(value, SCALARS):
                facts[f"{prefix}.{field.name}"] = str(value)
    return facts


def store(core: _core.Run, facts: Mapping[str, str]) -> None:
    """Keep facts with a run."""
    for name, text in facts.items():
        plain = text.encode(errors="replace").decode()
        core.set_note("provenance", name, plain)
