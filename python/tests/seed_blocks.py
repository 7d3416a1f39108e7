# SPDX-License-Identifier: BSD-3-Clause
"""Finds the Python blocks of the documents that users follow, and runs them unchanged.

A block is named after its document and its place in it: A1 is the first one of
"Advanced Usage". Nothing inside a block is edited. It is dedented, because some stand
in a list, and one that returns at its top level runs as the body of a function.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

DOCUMENTS = {"A": "001_*", "C": "003_*", "M": "004_*"}
FENCED = re.compile(r"^( *)```python\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """Some lines of a document."""

    name: str
    place: str
    code: str


def find_blocks(folder: Path) -> dict[str, Block]:
    """{name: block} of the documents below a folder; empty where there are none."""
    blocks = {}
    for letter, pattern in DOCUMENTS.items():
        for path in sorted(folder.glob(pattern)):
            text = path.read_text(encoding="utf-8")
            for number, found in enumerate(FENCED.finditer(text), 1):
                line = text.count("\n", 0, found.start(2)) + 1
                name, place = f"{letter}{number}", f"{path.name}:{line}"
                blocks[name] = Block(name, place, textwrap.dedent(found[2]))
    return blocks


def run_block(block: Block, **names: Any) -> dict[str, Any]:
    """What the block leaves behind, given the names a reader would have.

    What it returns, where it does, is left under the name ``return``.
    """
    space = {"__name__": "a_readers_script"} | names
    try:
        exec(compile(block.code, block.place, "exec"), space)
    except SyntaxError as error:
        if "'return' outside function" not in str(error):
            raise
        body = "def body():\n" + textwrap.indent(block.code, "    ")
        exec(compile(body, block.place, "exec"), space)
        space["return"] = space["body"]()
    return space
