# SPDX-License-Identifier: BSD-3-Clause
"""``python -m roastcoffea``: the program ``roast``; ``run SCRIPT …``, ``import DIR``
and ``selftest`` are done in Python.

A script that is run finds everything as ``python SCRIPT`` gives it: arguments, folder,
and a ``__main__`` of its own, which stays until the end: what the script left to be
done at exit may still need it. We write to standard error alone. Every other command
becomes the installed program.
"""

from __future__ import annotations

import argparse
import builtins
import io
import math
import os
import shutil
import subprocess
import sys
import sysconfig
from types import ModuleType
from typing import TYPE_CHECKING

from roastcoffea import __version__

if TYPE_CHECKING:
    from roastcoffea.run import Run

PROGRAM = "python -m roastcoffea"
NO_PROGRAM = f"no program roast of version {__version__}"
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
    add("script")
    add("arguments", nargs=argparse.REMAINDER, help="of the script")
    return parser


def _read(script: str) -> bytes:
    """The text of the script; a script that cannot be read ends the program."""
    try:
        with io.open_code(os.path.abspath(script)) as file:
            return file.read()
    except OSError as error:
        print(f"{PROGRAM}: error: {script}: {error.strerror}", file=sys.stderr)
        raise SystemExit(2) from None


def _execute(script: str, text: bytes) -> None:
    """Run a script as ``__main__``."""
    path = os.path.abspath(script)
    module = ModuleType("__main__")
    vars(module).update(__file__=path, __builtins__=builtins)
    sys.modules["__main__"] = module
    if not sys.flags.safe_path:  # under -P scripts do not find their folder either
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    exec(compile(text, path, "exec", dont_inherit=True), vars(module))


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

    text = _read(options.script)
    collector = monitor(
        options.output_dir,
        worker_tracking_interval=options.interval,
        progress=options.progress,
        labels=dict(options.label),
    )
    sys.argv = [options.script, *options.arguments]
    try:
        with collector:
            _execute(options.script, text)
    finally:
        if not options.quiet:
            sys.stdout.flush()
            print(_summary(collector.run, options.script), file=sys.stderr)
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
    if sys.argv[1:2] == ["run"]:
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
