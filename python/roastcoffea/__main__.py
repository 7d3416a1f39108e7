# SPDX-License-Identifier: BSD-3-Clause
"""``python -m roastcoffea``: the program ``roast``; ``run SCRIPT …``, ``import DIR``
and ``selftest`` are done in Python.

A script that is run finds everything as ``python SCRIPT`` gives it: arguments, folder,
and a ``__main__`` of its own, which stays until the end: what the script left to be
done at exit may still need it. So do a module and a text, as of ``python -m`` and
``python -c``. We write to standard error alone. Every other command, and ``run --
COMMAND``, becomes the installed program.
"""

from __future__ import annotations

import argparse
import builtins
import functools
import importlib.util
import io
import math
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib.abc import InspectLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from roastcoffea import __version__

if TYPE_CHECKING:
    from roastcoffea.run import Run

PROGRAM = "python -m roastcoffea"
NO_PROGRAM = f"no program roast of version {__version__}"
WITH_VALUE = ("-o", "--output-dir", "-i", "--interval", "-l", "--label")
ANSWER_S = 10  # a program that takes longer to say its version is none of ours


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a time above 0 s")
    return value


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError(f"{text} is not KEY=VALUE")
    from roastcoffea.run_notes import check_label

    try:
        check_label(key)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return key, value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"{PROGRAM} run", description="Run a script and measure it, unchanged."
    )
    add = parser.add_argument
    add("-o", "--output-dir", help="write a measurement directory there")
    add("-i", "--interval", type=_seconds, default=1.0, help="of sampling, in seconds")
    add("-l", "--label", type=_label, action="append", default=[], metavar="KEY=VALUE")
    add("-p", "--progress", action="store_true", help="show a live line")
    add("-q", "--quiet", action="store_true", help="print no summary")
    add("-m", dest="kind", action="store_const", const="-m", help="SCRIPT is a module")
    add("-c", dest="kind", action="store_const", const="-c", help="SCRIPT is a text")
    add("script")
    add("arguments", nargs=argparse.REMAINDER, help="of the script")
    return parser


def _is_command(words: list[str]) -> bool:
    """Whether ``--`` comes before any script."""
    at = 0
    while at < len(words) and words[at][:1] == "-" and words[at] != "--":
        at += 2 if words[at] in WITH_VALUE else 1
    return words[at : at + 1] == ["--"]


class Work(NamedTuple):
    """What is run as ``__main__``, and what it finds there."""

    name: str  # sys.argv[0]
    folder: str | None  # sys.path[0]; None: the current one, as it is already
    variables: dict[str, Any]
    code: Callable[[], Any]  # called in the block: an error of the script is its own


def _end(code: int, why: str) -> NoReturn:
    print(f"{PROGRAM}: error: {why}", file=sys.stderr)
    raise SystemExit(code) from None


def _script(script: str) -> Work:
    """A script; one that cannot be read ends the program."""
    path = os.path.abspath(script)
    try:
        with io.open_code(path) as file:
            text = file.read()
    except OSError as error:
        _end(2, f"{script}: {error.strerror}")
    folder = os.path.dirname(os.path.realpath(path))
    return Work(script, folder, {"__file__": path}, lambda: _compiled(text, path))


def _text(text: str) -> Work:
    """The text of ``-c``."""
    return Work("-c", "", {}, lambda: _compiled(text, "<string>"))


def _compiled(text: str | bytes, name: str) -> Any:
    return compile(text, name, "exec", dont_inherit=True)


def _module(name: str) -> Work:
    """A module; one that does not exist ends the program."""
    try:
        spec = importlib.util.find_spec(name)
        if spec and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        _end(1, str(error))
    if spec is None or not isinstance(spec.loader, InspectLoader):
        _end(1, f"No module named {name}")
    path = spec.origin or name
    variables = {"__file__": path, "__spec__": spec, "__package__": spec.parent}
    code = functools.partial(spec.loader.get_code, spec.name)
    return Work(path, None, variables | {"__loader__": spec.loader}, code)


WORK = {None: _script, "-m": _module, "-c": _text}


def _execute(work: Work) -> None:
    """Run it as ``__main__``."""
    module = ModuleType("__main__")
    vars(module).update(__builtins__=builtins, **work.variables)
    sys.modules["__main__"] = module
    if work.folder is not None and not sys.flags.safe_path:
        sys.path[0] = work.folder  # under -P scripts do not find their folder either
    exec(work.code(), vars(module))


def _summary(run: Run, script: str) -> str:
    """The page of a run; one line where there is nothing to be on it."""
    metrics = run.metrics
    known = metrics.get("runner_calls") or metrics.get("monitor_errors")
    if known or run._notes.text("why_off") or metrics.get("num_chunks"):
        return run._page("text")
    return f"roastcoffea: no coffea run was seen in {script}"


def _run(options: argparse.Namespace) -> None:
    """The script in a block; what it raises passes through."""
    from roastcoffea.collector import monitor

    work = WORK[options.kind](options.script)
    collector = monitor(
        options.output_dir,
        worker_tracking_interval=options.interval,
        progress=options.progress,
        labels=dict(options.label),
    )
    sys.argv = [work.name, *options.arguments]
    try:
        with collector:
            _execute(work)
    finally:
        if not options.quiet:
            sys.stdout.flush()
            print(_summary(collector.run, work.name), file=sys.stderr)
            if collector.measurement_path:
                print(f"written to {collector.measurement_path}", file=sys.stderr)


def _is_ours(program: str) -> bool:
    """Whether a program of this name is the one of this very package."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout == f"roast {__version__}\n".encode()


def _programs() -> list[str]:
    """Every program of this name, those beside this Python first."""
    folders = [os.path.dirname(sys.executable)]
    for scheme in (sysconfig.get_default_scheme(), "posix_user"):
        folders.append(sysconfig.get_path("scripts", scheme))
    programs = [os.path.join(folder, "roast") for folder in folders]
    programs.append(shutil.which("roast") or "")
    return [path for path in dict.fromkeys(programs) if os.access(path, os.X_OK)]


def find_program() -> str | None:
    """The program ``roast`` that was installed with this package."""
    return next(filter(_is_ours, _programs()), None)


def _become(arguments: list[str]) -> None:
    """Become the program; where there is none, say so and end."""
    program = find_program()
    if program is None:
        others = _programs()
        why = f"{others[0]} is another one" if others else "it is not there"
        text = f"{NO_PROGRAM} ({why}); install roastcoffea again"
        print(f"{PROGRAM}: error: {text}", file=sys.stderr)
        raise SystemExit(4)
    os.environ["ROAST_PYTHON"] = sys.executable
    os.execv(program, ["roast", *arguments])


def main() -> None:
    """The entry of the program."""
    if sys.argv[1:2] == ["run"] and not _is_command(sys.argv[2:]):
        _run(_parser().parse_args(sys.argv[2:]))
    elif sys.argv[1:2] == ["import"]:
        from roastcoffea.export.import_command import main as import_

        raise SystemExit(import_(sys.argv[2:]))
    elif sys.argv[1:] == ["selftest"]:
        from roastcoffea.selftesting import main as test

        test()
    else:
        _become(sys.argv[1:])


if __name__ == "__main__":
    main()
