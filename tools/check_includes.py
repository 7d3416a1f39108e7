# SPDX-License-Identifier: BSD-3-Clause
"""Check the include law of src/README.md; one line per breach.

Which folder may know which is a table below, and so is every header from outside that
is not plain C. A new public header, or a new foreign one, gets its row here: that is
the moment to think about whether the law still holds.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# What a layer may include, itself apart.
KNOWS = {
    "base": set(),
    "record": {"base"},
    "probe": {"base", "record"},
    "run": {"base", "record"},
    "table": {"base", "record", "run"},
    "analyze": {"base", "record", "run", "table"},
    "file": {"base", "record", "run", "table", "analyze"},
    "report": {"base", "record", "run", "table", "analyze"},
    "export": {"base", "record", "run", "table", "analyze", "file", "report"},
    "collect": {"base", "record", "probe", "run"},
}

# The layer that a file of include/roast belongs to; roast.h, the sum of all, to none.
PUBLIC = {
    "environment.def": "base",
    "environment.h": "base",
    "error.h": "base",
    "json_write.h": "base",
    "number.h": "base",
    "status.def": "base",
    "secret_rules.def": "base",
    "text.h": "base",
    "version.h": "base",
    "endpoint.h": "record",
    "hooks.def": "record",
    "ladder.h": "record",
    "ladder_items.def": "record",
    "losses.def": "record",
    "reasons.def": "record",
    "record.h": "record",
    "record_fields.def": "record",
    "record_views.def": "record",
    "value.h": "record",
    "view.h": "record",
    "sample.h": "record",
    "series.def": "record",
    "task.h": "record",
    "leave_reasons.def": "record",
    "task_ends.def": "record",
    "task_kinds.def": "record",
    "cpu_meter.h": "probe",
    "doctor.h": "collect",
    "probe.h": "probe",
    "probe_ladder.h": "probe",
    "process_tree.h": "probe",
    "signals.h": "probe",
    "dask_batch.h": "collect",
    "dask_batch_items.def": "collect",
    "collect.h": "collect",
    "collect_sources.def": "collect",
    "run.h": "run",
    "run_facts.def": "run",
    "run_note_groups.def": "run",
    "run_notes.def": "run",
    "run_marks.def": "run",
    "run_state.h": "run",
    "run_states.def": "run",
    "run_losses.def": "run",
    "scheduler.h": "run",
    "journal_entries.def": "run",
    "budget_slices.def": "table",
    "table.h": "table",
    "table_columns.def": "table",
    "tables.def": "table",
    "row_formats.def": "table",
    "row_writer.h": "table",
    "account_groups.def": "analyze",
    "accounting.h": "analyze",
    "analyze.h": "analyze",
    "compare.h": "analyze",
    "compare_measures.def": "analyze",
    "run_differences.def": "analyze",
    "metric_aliases.def": "analyze",
    "metric_defs.def": "analyze",
    "finding_rules.def": "analyze",
    "live.h": "file",
    "runfile.h": "file",
    "report.h": "report",
    "export.h": "export",
    "export_formats.def": "export",
    "report_tables.def": "report",
}

C11 = set(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp "
    "signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn "
    "string tgmath threads time uchar wchar wctype".split()
)
POSIX = set(
    "dirent.h fcntl.h pthread.h sys/resource.h sys/stat.h sys/types.h unistd.h".split()
)
FOREIGN = {"file": {"sqlite3.h"}}  # probe may include any header of the system

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".c", ".h", ".def", ".inc"}


class Include(NamedTuple):
    """One #include: where it is, and of what."""

    file: Path
    line: int
    quoted: bool
    target: str


def includes(root: Path, folder: str) -> Iterator[Include]:
    """Every #include below a folder."""
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                yield Include(path, number, match[1] == '"', match[2])


def layer_of(target: str) -> str | None:
    """The layer of a header of ours, or None where it has none."""
    folder, _, name = target.partition("/")
    return PUBLIC.get(name) if folder == "roast" else folder


def core_breach(layer: str, inc: Include) -> str | None:
    """What is wrong with an #include in src/<layer> or in its public headers."""
    if layer not in KNOWS:
        return f"src/{layer} is no layer of the law"
    if inc.quoted:
        target = layer_of(inc.target)
        if target not in KNOWS:
            return "not <layer>/x.h, nor a roast/x.h that PUBLIC knows"
        if target != layer and target not in KNOWS[layer]:
            return f"{layer} must not know {target}"
        return None
    if inc.target.startswith("Python"):
        return "the core never includes Python.h"
    allowed = POSIX | FOREIGN.get(layer, set())
    if layer == "probe" or inc.target in allowed:
        return None
    if inc.target.removesuffix(".h") in C11:
        return None
    return "only probe meets the operating system (see C11, POSIX, FOREIGN)"


def public_breach(inc: Include) -> str | None:
    """What is wrong with an #include in include/roast."""
    if inc.file.name == "roast.h":
        known = layer_of(inc.target) if inc.target.startswith("roast/") else None
        return None if known else "roast.h includes roast/*.h only"
    layer = PUBLIC.get(inc.file.name)
    if layer is None:
        return f"{inc.file.name} is not in PUBLIC"
    if inc.quoted and not inc.target.startswith("roast/"):
        return "a public header includes roast/*.h only"
    return core_breach(layer, inc)


def outside_breach(inc: Include) -> str | None:
    """What is wrong with an #include in cli/ or python/ext/."""
    if not inc.quoted:
        python = inc.target.startswith("Python") and inc.file.parent.name == "cli"
        return "cli never includes Python.h" if python else None
    if inc.target.startswith("roast/") or (inc.file.parent / inc.target).is_file():
        return "no way up" if ".." in inc.target else None
    return "sees roast/*.h and its own folder only"


def breaches(root: Path) -> Iterator[str]:
    """One line per breach of the law below root."""
    found: list[tuple[Include, str | None]] = []
    for folder in sorted(p for p in (root / "src").iterdir() if p.is_dir()):
        for inc in includes(root, f"src/{folder.name}"):
            found.append((inc, core_breach(folder.name, inc)))
    found += [(inc, public_breach(inc)) for inc in includes(root, "include/roast")]
    for name in ("cli", "python/ext"):
        found += [(inc, outside_breach(inc)) for inc in includes(root, name)]
    for inc, breach in found:
        if breach:
            where = f"{inc.file.relative_to(root)}:{inc.line}"
            yield f"{where}: {inc.target}: {breach}"


if __name__ == "__main__":
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    lines = list(breaches(tree))
    print("\n".join(lines) or "include law: kept")
    sys.exit(bool(lines))
