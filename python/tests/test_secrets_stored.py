# SPDX-License-Identifier: BSD-3-Clause
"""No secret of the corpus is in any file of a run or on any page of it, and names that
differ in a secret stay two. The corpus is tests/fixtures/secrets/leaking.txt."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from coffea import processor

import roastcoffea
from cli_program import ENVIRONMENT, program
from collector_helpers import EVENTS, make_runner
from roastcoffea import provenance, track_metrics
from support import ROOT

pytestmark = pytest.mark.filterwarnings("ignore:Skipping bad file")
CORPUS = ROOT / "tests" / "fixtures" / "secrets" / "leaking.txt"
SECRET = re.compile(r"\{\{(.*?)(?:\}\}|$)")
NAMES = [f"ttbar password=swordfish{number}" for number in range(3)]
COMMON = {"user", "secret", "first", "dark", "it", "pw", "abcdef", "991199", "AKIA"}


def lines():
    rows = [row for row in CORPUS.read_text().splitlines() if not row.startswith("#")]
    return [row.replace("<NL>", "\n") for row in rows]


def plain(row):
    return row.replace("{{", "").replace("}}", "")


def secrets():
    """Those that cannot be in a file for another reason."""
    found = {secret for row in lines() for secret in SECRET.findall(row)}
    return [*sorted(x for x in found if len(x) > 4 and x not in COMMON), "swordfish"]


class Raising(processor.ProcessorABC):
    """Raises the text of its dataset; one dataset has none."""

    def __init__(self, texts):
        self.texts = texts

    @track_metrics
    def process(self, events):
        text = self.texts.get(events.metadata["dataset"])
        if text is not None:
            raise RuntimeError(text)
        return {"n": len(events)}

    def postprocess(self, accumulator):
        return None


class Links:
    """Links to one file, under names that hold a secret."""

    def __init__(self, folder, target):
        self.paths = [folder / f"f_token={name}hunter2.root" for name in "ab"]
        for path in self.paths:
            path.symlink_to(target)


@pytest.fixture(scope="module")
def run(tiny_file, tmp_path_factory):
    """(folder of the run, {surface: bytes}, the run)"""
    folder = tmp_path_factory.mktemp("secrets")
    links = Links(folder, tiny_file)
    texts = {f"shape{number}": plain(row) for number, row in enumerate(lines())}
    texts |= dict.fromkeys(NAMES, "a plain message")
    fileset = {name: {"files": {str(tiny_file): "Events"}} for name in [*texts, "good"]}
    fileset["links"] = {"files": {str(path): "Events" for path in links.paths}}
    texts["links"] = "another message"
    runner = make_runner(chunksize=EVENTS, skipbadfiles=(Exception,))
    surfaces = {}
    with roastcoffea.monitor(
        output_dir=folder / "out", labels={"note": "password=swordfish"}
    ) as collector:
        runner(fileset, Raising(texts))
        collector.run._core.sync()
        for path in (folder / "out").rglob("*"):
            if path.is_file():
                surfaces[f"while it runs: {path.name}"] = path.read_bytes()
    files = [path for path in (folder / "out").rglob("*") if path.is_file()]
    saved = next(path for path in files if path.name.endswith(".roast"))
    saved_to = folder / "saved"
    collector.save_measurement(saved_to, "m")
    files += [path for path in saved_to.rglob("*") if path.is_file()]
    surfaces |= {path.name: path.read_bytes() for path in files}
    surfaces["repr"] = repr(collector.run).encode()
    surfaces["card"] = collector.run._repr_html_().encode()
    for command in (
        ["report", saved],
        ["report", "--json", saved],
        ["dump", saved],
        ["failed", saved],
        ["sql", saved, "SELECT * FROM chunks"],
    ):
        shown = subprocess.run(
            [program(), *map(str, command)], capture_output=True, env=ENVIRONMENT
        )
        surfaces[f"roast {command[0]}"] = shown.stdout + shown.stderr
    yield collector.run, surfaces
    shutil.rmtree(folder)


def test_no_surface_has_a_secret(run):
    _, surfaces = run
    assert len(surfaces) >= 9
    leaks = {
        (name, secret)
        for name, content in surfaces.items()
        for secret in secrets()
        if secret.encode() in content
    }
    assert leaks == set()


def test_what_is_hidden_is_shown_as_a_mask(run):
    _, surfaces = run
    masked = {name for name, content in surfaces.items() if b"***" in content}
    assert masked >= {"run.roast", "metrics.json", "roast dump", "roast failed", "card"}


def test_names_that_differ_in_a_secret_stay_two(run):
    found, _ = run
    rows = list(found.chunk_metrics)
    datasets = {row["dataset"] for row in rows}
    assert len([name for name in datasets if name.startswith("ttbar")]) == len(NAMES)
    assert len({row["file"] for row in rows if row["dataset"] == "links"}) == 2
    assert set(found.fileset) == datasets


def test_failed_items_are_those_that_coffea_was_given(run):
    found, _ = run
    items = found.failed_items()
    assert {item.dataset for item in items} >= set(NAMES)
    assert len(items) == len(lines()) + len(NAMES) + 2
    files = {item.filename for item in items if item.dataset == "links"}
    assert len(files) == 2
    assert all("hunter2" in name for name in files)


def test_command_line_has_no_secret():
    given = ["run.py", "-p", "two words", "--db-pass=a b", "--user", "me:pw", "--n=3"]
    shown = "run.py -p *** --db-pass=*** --user me:*** --n=3"
    assert provenance.command(given) == shown
