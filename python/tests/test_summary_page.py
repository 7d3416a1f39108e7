# SPDX-License-Identifier: BSD-3-Clause
"""The summary as a reader sees it: at most 70 lines of 80 columns whatever the run was,
and every word on it in docs/reading-a-summary.md."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from coffea import processor
from coffea.nanoevents import BaseSchema

import roastcoffea
from clusters import open_client
from roastcoffea import track_metrics, track_time

DOCUMENT = Path(__file__).parents[2] / "docs" / "reading-a-summary.md"
FILES, EVENTS, CHUNKSIZE = 40, 250, 10
TITLES = [
    "Throughput Metrics",
    "Event Processing Metrics",
    "Resource Utilization",
    "Timing Breakdown",
    "Fine Metrics",
    "Chunk Metrics",
]
AMOUNT = r"[\d.]+(?:e[-+]\d+)?(?: [kMGTPE])?"
UNIT = r"(?:[num]?s|min|h|d|[kMGTPE]?(?:B/s|B|Hz/core|Hz|bit/s)|%|thread-s)"
COUNTED = (
    "(?:events|chunks?|tasks?|threads?|files?|worker|retried|failed|lost|cancelled|"
    "running|tried)"
)


class Analysis(processor.ProcessorABC):
    """Three sections, one of them inside another; may raise in a chunk of one file."""

    def __init__(self, bad_file: str = "") -> None:
        self.bad_file = bad_file

    @track_metrics
    def process(self, events: Any) -> Any:
        with track_time(self, "selection"):
            selected = events.x[events.y > 0.5]
        if self.bad_file and events.metadata["filename"].endswith(self.bad_file):
            raise ValueError("no jets in this file")
        with track_time(self, "histograms"), track_time(self, "fill"):
            filled = np.histogram(ak.to_numpy(selected), bins=20)[0]
        return {"n": len(events), "filled": filled}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(1)
    for number in range(FILES):
        with uproot.recreate(folder / f"part_{number}.root") as root:
            root["Events"] = {"x": rng.random(EVENTS), "y": rng.random(EVENTS)}
    return [str(folder / f"part_{number}.root") for number in range(FILES)]


def fileset(files: list[str], datasets: int) -> dict[str, Any]:
    return {
        f"sample_{n}": {"files": dict.fromkeys(files[n::datasets], "Events")}
        for n in range(datasets)
    }


def measured(
    executor: Any,
    files: dict[str, Any],
    analysis: Any,
    chunksize: int = EVENTS,
    **options: Any,
) -> roastcoffea.Run:
    runner = processor.Runner(
        executor, schema=BaseSchema, savemetrics=True, chunksize=chunksize, **options
    )
    fails = pytest.raises(Exception, match="no jets")
    raises = fails if analysis.bad_file else contextlib.nullcontext()
    with raises, roastcoffea.monitor() as run:
        runner(files, processor_instance=analysis)
    return run


@pytest.fixture(scope="module")
def runs(files: list[str]) -> Iterator[dict[str, Any]]:
    """The runs that people have: small and large, good and bad."""
    iterative = processor.IterativeExecutor(status=False)
    futures = processor.FuturesExecutor(workers=2, status=False)
    found = {
        "sections and datasets": measured(iterative, fileset(files[:4], 2), Analysis()),
        "1000 chunks of 40 files": measured(
            iterative, fileset(files, 8), Analysis(), CHUNKSIZE
        ),
        "futures": measured(futures, fileset(files[:4], 2), Analysis(), 100),
        "a failing chunk": measured(
            iterative, fileset(files[:4], 1), Analysis("part_2.root")
        ),
    }
    with roastcoffea.monitor() as found["nothing"]:
        pass
    for client in open_client():
        dask = processor.DaskExecutor(client=client, status=False, retries=0)
        found["dask"] = measured(dask, fileset(files[:4], 2), Analysis())
        found["dask with a failing chunk"] = measured(
            dask, fileset(files[:4], 2), Analysis("part_2.root")
        )
        gone = {"gone": {"files": {"/nowhere/a.root": "Events"}}}
        found["dask with a missing file"] = measured(
            dask, fileset(files[:4], 2) | gone, Analysis(), skipbadfiles=True
        )
        yield found


@pytest.fixture(
    params=[
        "sections and datasets",
        "1000 chunks of 40 files",
        "futures",
        "a failing chunk",
        "nothing",
        "dask",
        "dask with a failing chunk",
        "dask with a missing file",
    ]
)
def run(request: pytest.FixtureRequest, runs: dict[str, Any]) -> Any:
    return runs[request.param]


def printed(run: Any, capsys: Any, **options: Any) -> str:
    capsys.readouterr()
    run.print_summary(**options)
    text: str = capsys.readouterr().out
    return text


# ---- 70 lines ------------------------------------------------------------------------


def test_a_summary_has_at_most_70_lines(run, capsys):
    lines = printed(run, capsys).splitlines()
    assert len(lines) <= 70
    assert max(map(len, lines)) <= 80
    state = lines[1].split()[0]
    assert state in {"FINISHED", "INCOMPLETE", "FAILED", "INTERRUPTED"}
    shown = [line.split(" (")[0] for line in lines]
    titles = TITLES if run.get_metrics().get("num_attempts") else TITLES[:4]
    assert [line for line in shown if line in TITLES] == titles


def test_the_full_summary_has_everything(run, capsys):
    short, full = printed(run, capsys), printed(run, capsys, full=True)
    shown = {line for line in short.splitlines() if line[:1].isalpha()}
    missing = shown - set(full.splitlines())
    assert all(line.startswith("full=True shows everything") for line in missing)
    assert " more: " not in full
    named = short.rpartition("shows everything")[2].replace("\n  ", " ")
    for title in named.split(", ")[1:]:
        assert f"\n{title.strip()}" in full


def test_many_rows_are_cut_and_counted(runs, capsys):
    run = runs["1000 chunks of 40 files"]
    assert run.get_metrics()["num_chunks"] == 1000
    short, full = printed(run, capsys), printed(run, capsys, full=True)
    cut = "\n  3 more: full=True\n" in short  # of eight datasets
    # where findings need the room, the section is named
    assert cut or "Datasets" in short.rpartition("shows everything")[2]
    assert full.count("\n  sample_") == 8


# ---- the words -----------------------------------------------------------------------


def documented() -> set[str]:
    """The first cells of the tables of the document."""
    cells = re.findall(r"^\| ([^|]+) \|", DOCUMENT.read_text(), re.MULTILINE)
    return {cell.removeprefix("... ").strip() for cell in cells}


HEADED = {"Sections", "Datasets", "Failures"}
HEADINGS = {"branch", "storage", "worker", "tasks", "function"}


def parts(line: str) -> list[str]:
    """Of "3.5 s this | 1 s that" or "this 30 % | that 2 %" the words."""
    found = [part.strip() for part in line.strip().split(" | ")]
    found = [re.sub(rf"^{AMOUNT} {UNIT} ", "", part) for part in found]
    return [re.sub(rf"(,? {AMOUNT} {UNIT})+$", "", part) for part in found]


def words(page: str) -> Iterator[str]:
    """The words of a page that have a meaning: titles, phases, slices, headings."""
    before = ""
    for line in page.splitlines():
        cells = re.split(r" {2,}", line.strip())
        if re.match(rf"(WALL  |      ){AMOUNT} {UNIT} ", line):
            yield from parts(line.removeprefix("WALL"))
        elif re.match(r"  (on CPU|not explained) ", line):
            yield from parts(line)
        elif len(cells) in (3, 4) and re.fullmatch(f"{AMOUNT} %", cells[2]):
            yield re.sub(r"^\d+ ", "", cells[0])
        elif before in HEADED or cells[0] in HEADINGS:
            yield from cells
        elif re.match("[A-Z][A-Z ]{3,}(   |$)", line):
            yield cells[0]
        before = line


def rows(page: str) -> Iterator[tuple[str, str]]:
    """(label, value) of the six tables."""
    lines = page.splitlines()
    begin = lines.index(TITLES[0])
    end = lines.index("", begin) if "" in lines[begin:] else len(lines)
    for line in lines[begin:end]:
        if line[:1] == " ":
            cells = iter(re.split(r" {2,}", line.strip()))
            yield from zip(cells, cells, strict=True)


def test_every_word_has_a_line_in_the_document(run, capsys):
    known = documented()
    for page in (printed(run, capsys), printed(run, capsys, full=True)):
        unknown = {word for word in words(page) if word not in known}
        unknown |= {label for label, _ in rows(page) if label not in known}
        assert not unknown


def test_the_words_are_found(runs, capsys):
    """Or the test above could not fail."""
    found = set(words(printed(runs["dask with a failing chunk"], capsys, full=True)))
    titles = {"WHAT TO CHANGE", "WHERE THE WORKER TIME WENT", "READ"}
    labels = {"your process()", "failed attempts", "your script", "on CPU"}
    headings = {"calls", "entries", "branch", "storage", "count", "of columns"}
    assert titles | labels | headings <= found


def test_the_page_in_the_document_is_of_today(capsys):
    """The page that is shown there has the words of a page, and its measures."""
    page = DOCUMENT.read_text().split("```\n")[1]
    assert len(page.splitlines()) <= 70
    assert max(map(len, page.splitlines())) <= 80
    known = documented()
    assert {*words(page), *(label for label, _ in rows(page))} <= known
    assert len(set(words(page))) > 15


# ---- units ---------------------------------------------------------------------------


def test_every_number_repeats_its_unit(run, capsys):
    """In the first lines and the bars; in tables where the metric has a unit."""
    page = printed(run, capsys, full=True)
    head = page.split("\n\n")[0].split("\n", 1)[1]
    for line in head.splitlines():
        if "no jets" in line:  # the exception
            continue
        for amount in re.finditer(rf"(?<![\w./]){AMOUNT}", line):
            rest = line[amount.end() :]
            assert re.match(rf" ?(?:{UNIT}|{COUNTED})|/\d", rest), line
    for label, value in rows(page):
        if label in {"Elapsed Time", "Total Bytes Read", "Peak Memory (per worker)"}:
            assert value == "-" or re.fullmatch(rf"{AMOUNT} {UNIT}", value), label
