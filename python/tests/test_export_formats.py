# SPDX-License-Identifier: BSD-3-Clause
"""Exports, read back by the programs they are for, and compared with the run.

The names of datasets, files and labels are hostile: quotes, newlines, control
characters, formulas, 10^5 characters.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import sqlite3
import subprocess

import pyarrow
import pytest
from prometheus_client import parser as classic_parser
from prometheus_client.openmetrics import parser as openmetrics_parser
from pyarrow import ipc, parquet

import cli_runs
import roastcoffea
from cli_program import ENVIRONMENT, program
from collector_helpers import Measured, fileset_of, make_runner
from prometheus_server import needs_prometheus, scraping_file
from roastcoffea import _core
from roastcoffea.export import to_prometheus
from roastcoffea.export.measurements import load_measurement
from roastcoffea.run import Run
from tables import large_run

SECRET = "zq"  # in all names
LONG = SECRET * 50_000
HOSTILE = ['"zq" \\ name', "zq\nline", "\x1b[31mzq\x07", "=cmd|'/zq'!A1", "@zq(A1)"]
HOSTILE += ['zq{le="1"} 2\n# EOF', LONG + "1", LONG + "2", "\u202ezq é"]
UNITS = {  # base unit, factor
    "": ("", 1),
    "s": ("seconds", 1),
    "us": ("seconds", 1e-6),
    "B": ("bytes", 1),
    "MiB": ("bytes", 2**20),
    "MB/s": ("bytes_per_second", 1e6),
    "Gbit/s": ("bytes_per_second", 1e9 / 8),
    "B/s": ("bytes_per_second", 1),
    "kHz": ("hertz", 1e3),
    "Hz/core": ("hertz", 1),
    "%": ("ratio", 0.01),
    "ratio": ("ratio", 1),
    "x": ("ratio", 1),
    "W": ("watts", 1),
}


def hostile_run():
    """A chunk in each of the datasets, one of them failed."""
    core = cli_runs.begun(processor=HOSTILE[0])
    records = [
        cli_runs.record(number, dataset=name, file=f"/data/{name}", worker=f"w{name}")
        for number, name in enumerate(HOSTILE)
    ]
    error = {"status": "failed", "error_type": "OSError", "error_message": HOSTILE[1]}
    records.append(cli_runs.record(9, dataset="zq", file="zq.root", **error))
    cli_runs.add(core, *records)
    for number, name in enumerate(HOSTILE[:5]):
        core.set_note("label", f"{number} {name}", name)
    core.set_note("provenance", "version.coffea", "2026.1")
    core.finish(cli_runs.SECOND * 30)
    return core


@pytest.fixture(scope="module")
def run():
    return Run(hostile_run())


@pytest.fixture(scope="module")
def text(run):
    return run.export("openmetrics", labels=["worker", "file"]).decode()


@pytest.fixture(scope="module")
def families(text):
    return list(openmetrics_parser.text_string_to_metric_families(text))


def values_of(families):
    """{(name, labels): value}."""
    found = {}
    for family in families:
        for sample in family.samples:
            key = sample.name, tuple(sorted(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


# ---- openmetrics ---------------------------------------------------------------------


def test_every_metric_is_there_with_its_value(run, families):
    values = {
        name: value
        for (name, labels), value in values_of(families).items()
        if not labels
    }
    known = 0
    for row in run.table("metrics").rows():
        base, factor = UNITS[row["unit"]]
        if row["value"] is None:
            continue
        words = set(row["name"].split("_"))
        near = [
            name
            for name, value in values.items()
            if math.isclose(value, row["value"] * factor, rel_tol=1e-12)
            and name.endswith(base)
            and len(words - set(name.split("_"))) <= 1
        ]
        assert near, row
        known += 1
    assert known > 40
    assert values["roast_wall_time_seconds"] == run.get_metrics()["wall_time"] == 29


def test_datasets_and_the_budget_are_there(run, families):
    values = values_of(families)
    chunks = [
        value
        for (name, _), value in values.items()
        if name == "roast_dataset_num_chunks"
    ]
    assert sum(chunks) == run.get_metrics()["num_chunks_processed"] == len(HOSTILE)
    assert len(chunks) == len(HOSTILE) + 1  # that of the failed chunk
    budget = run.get_metrics()["budget"]
    for slice_, seconds in budget.items():
        key = "roast_budget_seconds", (("slice", slice_),)
        assert seconds is None or values[key] == seconds
    assert values["roast_dataset_total_events", (("dataset", HOSTILE[0]),)] == 100


def test_families_have_type_unit_and_help(families):
    for family in families:
        assert family.type == "gauge", family.name
        assert family.documentation.strip(), family.name
        assert family.unit in {unit for unit, _ in UNITS.values()}
    assert {"seconds", "bytes", "ratio", "hertz"} <= {f.unit for f in families}


def test_label_values_are_short_and_distinct(text, families):
    found = [
        sample.labels["dataset"]
        for family in families
        for sample in family.samples
        if sample.name == "roast_dataset_num_chunks"
    ]
    assert len(set(found)) == len(found)
    assert max(map(len, found)) < 250
    assert all(value.isprintable() for value in found)
    assert all(line.isprintable() for line in text.split("\n"))


def test_the_older_format_reads_the_same(text, families):
    older = list(classic_parser.text_string_to_metric_families(text))
    assert values_of(older) == values_of(families)


def test_labels_of_workers_and_files_only_on_request(run, text):
    plain = run.to_prometheus()
    assert "{worker=" in text
    assert "{file=" in text
    assert "{worker=" not in plain
    assert "{file=" not in plain
    assert "{worker=" in run.export("prometheus", labels="worker").decode()
    with pytest.raises(ValueError, match="known are 'worker' and 'file'"):
        run.export("openmetrics", labels=["user"])


def test_live_metrics_are_a_part_of_an_export(run, families):
    live = classic_parser.text_string_to_metric_families(run._core.live_metrics())
    found = values_of(live)
    assert found.items() <= values_of(families).items()
    assert found["roast_num_chunks_processed", ()] == len(HOSTILE)
    core = cli_runs.begun()
    cli_runs.add(core, *(cli_runs.record(n, dataset=f"{n}") for n in range(150)))
    live = classic_parser.text_string_to_metric_families(core.live_metrics())
    names = [name for name, _ in values_of(live)]
    assert names.count("roast_num_chunks_processed") == 1
    assert names.count("roast_dataset_num_chunks") == 100


def test_run_info_has_the_versions(families):
    (info,) = [f.samples[0].labels for f in families if f.name == "roast_run_info"]
    assert info["run_id"] == cli_runs.ID
    assert info["processor"] == HOSTILE[0]
    assert info["executor"] == "Futures, 2 workers"
    assert info["coffea"] == "2026.1"
    assert info["roastcoffea"] == roastcoffea.__version__


@needs_prometheus
def test_promtool_has_nothing_to_say(run, text):
    names = list(run.table("metrics")["name"])
    every = _core.openmetrics(dict.fromkeys(names, 1.0))
    assert every.count("# TYPE") == len(names) - 1  # a rate has two units
    for checked in (text, every):
        done = subprocess.run(
            ["promtool", "check", "metrics"],
            input=checked.encode(),
            capture_output=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@needs_prometheus
@pytest.mark.parametrize(
    "content_type",
    [
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
        pytest.param(
            "text/plain; version=0.0.4; charset=utf-8", marks=pytest.mark.long
        ),
    ],
)
def test_prometheus_scrapes_it(run, text, families, content_type, tmp_path):
    path = tmp_path / "run.prom"
    assert run.export("openmetrics", path, labels=["worker", "file"]) == path
    assert path.read_text(encoding="utf-8") == text
    with scraping_file(path, content_type, tmp_path) as prometheus:
        scraped = prometheus.series('{__name__=~"roast_.*"}')
    wanted = values_of(families)
    assert scraped.keys() == wanted.keys()
    for key, value in wanted.items():
        assert scraped[key] == pytest.approx(value, rel=1e-12), key


# ---- tables --------------------------------------------------------------------------


def test_json_is_that_of_the_report(run, tmp_path):
    path = run.save(tmp_path / "a.roast")
    command = [program(), "report", path, "-fjson"]
    report = subprocess.run(command, check=True, capture_output=True, env=ENVIRONMENT)
    exported = roastcoffea.open_run(path).export("json")
    assert json.loads(exported) == json.loads(report.stdout)


def test_csv_has_every_table(run, tmp_path):
    folder = run.export("csv", tmp_path / "tables")
    names = {path.stem: path for path in folder.iterdir()}
    assert set(names) == set(_core.table_names())
    with open(names["datasets"], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["num_chunks"]) for row in rows] == list(run.datasets["num_chunks"])
    assert rows[3]["dataset"] == "'" + HOSTILE[3]
    assert rows[6]["dataset"] == HOSTILE[6]
    for path in names.values():
        with open(path, newline="", encoding="utf-8") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        formulas = [cell for cell in cells if cell.lstrip()[:1] in ("=", "+", "-", "@")]
        assert all(re.fullmatch(r"-?[\d.e+-]+", cell) for cell in formulas)


def test_sqlite_has_plain_tables(run, tmp_path):
    path = run.export("sqlite", tmp_path / "tables.db")
    with sqlite3.connect(path) as database:
        query = "SELECT name FROM sqlite_master"
        names = {row[0] for row in database.execute(query)}
        chunks = list(database.execute("SELECT dataset, duration FROM chunks"))
        types = list(database.execute("SELECT type, sql FROM sqlite_master"))
    database.close()
    assert {"chunks", "datasets", "files", "metrics", "findings"} <= names
    assert not {"journal", "summary"} & names
    assert not [sql for _, sql in types if "BLOB" in (sql or "")]
    table = run.chunks
    assert chunks == list(zip(table["dataset"], table["duration"], strict=True))


@pytest.mark.parametrize("kind", ["parquet", "arrow", "feather"])
def test_pyarrow_reads_its_formats(run, kind, tmp_path):
    folder = run.export(kind, tmp_path / "tables")
    kind = "arrow" if kind == "feather" else kind
    names = {path.name.removesuffix(f".{kind}"): path for path in folder.iterdir()}
    assert set(names) == set(_core.table_names())
    for name, path in names.items():
        if kind == "parquet":
            table = parquet.read_table(path)
        else:
            with ipc.open_file(path) as file:
                table = file.read_all()
        assert table.to_pydict() == pyarrow.table(run.table(name)).to_pydict()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Of a file, so that tables are written in parts; files appear in all of them."""
    core = cli_runs.begun()
    cli_runs.add(
        core,
        *(cli_runs.record(n, file=f"{n % 7}-{n // 10}.root") for n in range(100)),
    )
    core.finish(cli_runs.SECOND * 30)
    path = tmp_path_factory.mktemp("large") / "run.roast"
    core.save(path)
    return roastcoffea.open_run(path)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("anonymise", [False, True])
def test_tables_are_written_in_parts(large, kind, anonymise, tmp_path, monkeypatch):
    monkeypatch.setattr("roastcoffea.export.columns.PART_ROWS", 7)
    folder = large.export(kind, tmp_path / "tables", anonymise=anonymise)
    core = large._core.anonymised() if anonymise else large._core
    for name in ("chunks", "tasks", "metrics"):
        path = folder / f"{name}.{kind}"
        wanted = pyarrow.table(core.table(name))
        if kind == "parquet":
            table = parquet.read_table(path)
            assert parquet.ParquetFile(path).num_row_groups == -(-len(wanted) // 7)
        else:
            with ipc.open_file(path) as file:
                table = file.read_all()
                parts = {"metrics": 1}.get(name, -(-len(wanted) // 7))
                assert file.num_record_batches == parts
            assert table.schema == wanted.schema
        assert table.to_pydict() == wanted.to_pydict()


def test_csv_of_a_file_is_that_of_the_run(tmp_path):
    """It is written in parts of 65,536 rows."""
    core = large_run(70_000)
    core.save(tmp_path / "run.roast")
    run = roastcoffea.open_run(tmp_path / "run.roast")
    folder = run.export("csv", tmp_path / "tables")
    with open(folder / "chunks.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    chunks = run.chunks
    for name in ("chunk_id", "file", "num_events", "undecorated"):
        wanted = ["" if value is None else str(value) for value in chunks[name]]
        assert [row[name] for row in rows] == [text.lower() for text in wanted]


def test_what_a_part_raises_ends_the_table(large):
    given = []

    def take(part):
        given.append(len(part))
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        large._core.table_parts("chunks", 7, take)
    assert given == [7]
    with pytest.raises(ValueError, match="parts of 0 rows"):
        large._core.table_parts("chunks", 0, take)
    with pytest.raises(KeyError, match="no table 'chunk'"):
        large._core.table_parts("chunk", 7, take)


# ---- runs of other kinds -------------------------------------------------------------


def test_a_run_that_goes_on(tiny_file):
    with roastcoffea.MetricsCollector() as collector:
        with pytest.raises(ValueError, match="did you mean 'openmetrics'"):
            collector.export("openmetric")
        make_runner()(fileset_of(tiny_file), processor_instance=Measured())
        before = collector.to_prometheus()
    after = collector.to_prometheus()
    for text in (before, after):
        values = values_of(openmetrics_parser.text_string_to_metric_families(text))
        assert values["roast_num_chunks_processed", ()] > 0
    assert "roast_run_end_time_seconds" not in before
    assert "roast_run_end_time_seconds" in after


def test_a_collector_that_has_not_begun():
    collector = roastcoffea.MetricsCollector()
    with pytest.raises(RuntimeError, match="Timing not available"):
        collector.export("json")


def test_to_prometheus_takes_runs_and_dicts(run, families, tmp_path):
    text = run.to_prometheus()
    assert to_prometheus(run) == text
    assert to_prometheus(run.get_metrics()) == text
    assert run.to_prometheus(tmp_path / "a.prom") == text
    assert (tmp_path / "a.prom").read_text(encoding="utf-8") == text
    place = run.save_measurement(tmp_path, "a")
    metrics, _, _ = load_measurement(place)
    old = to_prometheus(metrics)
    alone = values_of(openmetrics_parser.text_string_to_metric_families(old))
    assert alone["roast_wall_time_seconds", ()] == 29
    wanted = values_of(families)
    assert alone.keys() <= wanted.keys()
    assert {key: wanted[key] for key in alone} == pytest.approx(alone)


# ---- without names -------------------------------------------------------------------


@pytest.mark.parametrize("kind", [name for name, _, _ in _core.export_formats()])
def test_no_name_is_left(run, kind, tmp_path):
    target = run.export(kind, tmp_path / "out", anonymise=True)
    files = sorted(target.iterdir()) if target.is_dir() else [target]
    content = b"".join(path.read_bytes() for path in files)
    assert SECRET.encode() not in content
    assert b"dataset-1" in content


def test_numbers_stay(run):
    plain, nameless = (
        values_of(
            openmetrics_parser.text_string_to_metric_families(
                run.export("openmetrics", anonymise=is_so).decode()
            )
        )
        for is_so in (False, True)
    )
    numbers = {key: value for key, value in plain.items() if not key[1]}
    assert {key: nameless[key] for key in numbers} == pytest.approx(numbers)
    assert len(plain) == len(nameless)


# ---- bad input -----------------------------------------------------------------------


def test_unknown_formats(run):
    with pytest.raises(ValueError, match="no format 'Json': did you mean 'json'"):
        run.export("Json")
    with pytest.raises(ValueError, match="no format '': known are openmetrics, prom"):
        run.export("")


@pytest.mark.parametrize("kind", ["csv", "sqlite", "parquet", "arrow"])
def test_formats_that_need_a_path(run, kind):
    with pytest.raises(ValueError, match=f"{kind} is a .*: it needs a path"):
        run.export(kind)


@pytest.mark.parametrize("kind", [name for name, _, _ in _core.export_formats()])
def test_targets_that_cannot_be_written(run, kind, tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        run.export(kind, tmp_path / "nowhere" / "out")
    place = tmp_path / "place"
    place.mkdir()
    with pytest.raises(OSError, match="place"):
        run.export(kind, place)
    assert list(tmp_path.rglob("*")) == [place]


def test_without_pyarrow(run, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match="parquet needs pyarrow: pip install pyarrow"):
        run.export("parquet", tmp_path / "out")
    path = run.save(tmp_path / "a.roast")
    (tmp_path / "pyarrow.py").write_text("raise ImportError('it is broken')")
    places = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [program(), "export", path, "-f", "parquet", "-o", tmp_path / "out"],
        env=ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
    )
    where = f"roast: {tmp_path / 'out'}: parquet needs pyarrow: pip install pyarrow"
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == f"{where}; nothing was written\n"
