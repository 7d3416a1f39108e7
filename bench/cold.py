# SPDX-License-Identifier: BSD-3-Clause
"""What a user of 0.1.2 runs to look at a saved measurement: python cold.py FOLDER."""

import sys
from pathlib import Path
from typing import TextIO

from rich.console import Console

from roastcoffea.export import reporter
from roastcoffea.export.measurements import load_measurement


def show(folder: Path, out: TextIO) -> None:
    """All tables there are."""
    metrics = load_measurement(folder)[0]
    console = Console(file=out)
    for name in dir(reporter):
        if name.startswith("format_"):
            table = getattr(reporter, name)(metrics)
            if table is not None:
                console.print(table)


if __name__ == "__main__":
    show(Path(sys.argv[1]), sys.stdout)
