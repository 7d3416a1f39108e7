# SPDX-License-Identifier: BSD-3-Clause
"""``python -m roastcoffea run SCRIPT …``: a script under the collector, unchanged.

The script finds everything as ``python SCRIPT`` gives it: arguments, folder, and a
``__main__`` of its own, which stays until the end: what the script left to be done at
exit may still need it. We write to standard error alone.
"""

from __future__ import annotations

import argparse
import builtins
import io
import math
import os
import sys
from types import ModuleType

from roastcoffea import __version__

PROGRAM = "python -m roastcoffea"


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a time above 0 s")
    return value


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError(f"{text} is not KEY=VALUE")
    return key, value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a script and measure it")
    add = run.add_argument
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
            print(collector.run.page("text"), file=sys.stderr)
            if collector.measurement_path:
                print(f"written to {collector.measurement_path}", file=sys.stderr)


def main() -> None:
    """The entry of the program."""
    _run(_parser().parse_args())


if __name__ == "__main__":
    main()
