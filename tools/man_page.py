# SPDX-License-Identifier: BSD-3-Clause
"""Turn the man page in markdown into one for man(1): SOURCE TARGET VERSION.

Only what docs/man uses: headings, paragraphs, definitions (a term, then ``: text``),
fenced examples, `code`, **bold** and *italic*. Anything else that looks like markup is
refused rather than printed wrongly.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|([^`*]+)")
REFUSED = re.compile(r"^(\||[-*+] |\d+\. |!\[|\[.*\]\()")


def escaped(text: str) -> str:
    """Text without what troff would act on."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in {".", "'"} else text


def inline(text: str) -> str:
    """A paragraph with its code, bold and italic words."""
    if INLINE.sub("", text):
        raise SystemExit(f"man_page: an odd mark in: {text}")
    parts = []
    for code, bold, italic, plain in INLINE.findall(text):
        if code or bold:
            parts.append(f"\\fB{escaped(code or bold)}\\fR")
        elif italic:
            parts.append(f"\\fI{escaped(italic)}\\fR")
        else:
            parts.append(escaped(plain))
    return "".join(parts)


def example(lines: list[str]) -> list[str]:
    return [".PP", ".RS 4", ".nf", *map(escaped, lines), ".fi", ".RE"]


def definition(term: str, text: str) -> list[str]:
    return [".TP", inline(term), inline(text)]


def block(lines: list[str]) -> list[str]:
    """The page of one block: lines between two empty ones."""
    if REFUSED.match(lines[0]):
        raise SystemExit(f"man_page: no such markup here: {lines[0]}")
    if lines[0].startswith("## "):
        return [f".SH {lines[0][3:]}"]
    for number, line in enumerate(lines):
        if line.startswith(": "):
            term = " ".join(lines[:number])
            text = " ".join(part.strip() for part in [line[2:], *lines[number + 1 :]])
            return definition(term, text)
    return [".PP", inline(" ".join(lines))]


def blocks(text: str) -> list[str]:
    """The page of a whole text."""
    page: list[str] = []
    for number, part in enumerate(re.split(r"^```\w*\n", text, flags=re.MULTILINE)):
        if number % 2:
            page += example(part.rstrip("\n").split("\n"))
            continue
        for paragraph in re.split(r"\n\s*\n", part.strip("\n")):
            if paragraph.strip():
                page += block(paragraph.split("\n"))
    return page


def man_page(text: str, version: str) -> str:
    """A man page; the first line of the text is `# name(section)`."""
    head, _, rest = text.partition("\n")
    found = re.fullmatch(r"# (\w+)\((\d)\)", head)
    if not found:
        raise SystemExit(f"man_page: the first line is no title: {head}")
    name, section = found.groups()
    title = f'.TH {name.upper()} {section} "" "roastcoffea {version}"'
    rest = re.sub(r"<!--.*?-->\n?", "", rest, flags=re.DOTALL)
    lines = ['.\\" Made by tools/man_page.py.', title, *blocks(rest)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    source, target, version = sys.argv[1:]
    Path(target).write_text(man_page(Path(source).read_text(), version))
