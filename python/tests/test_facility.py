# SPDX-License-Identifier: BSD-3-Clause
"""`roast facility` over real runs, runs made by hand and a command: its sums are those
of the numbers that `roast sql` gives for each file, added up with pandas."""

from __future__ import annotations

import datetime as dt
import io
import json
import math
import os
import pwd
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import cli_runs
import roastcoffea
from cli_program import ENVIRONMENT, program
from collector_helpers import Measured, MeasuredFailing, make_runner, threads

HOURS = {
    "core_hours_offered": "offered_thread_seconds",
    "core_hours_used": "cpu_time_seconds",
    "core_hours_wasted": "wasted_thread_seconds",
}


def roast(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [program(), *map(str, arguments)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == code, done.stderr
    return done


def rows(*arguments: object, code: int = 0) -> list[dict[str, Any]]:
    out = roast("facility", *arguments, "-f", "json", code=code).stdout
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture(scope="module")
def folder(tiny_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place: Path = tmp_path_factory.mktemp("facility")
    fileset = {x: {"files": {str(tiny_file): "Events"}} for x in ("ttbar", "wjets")}
    for number in range(2):
        with roastcoffea.monitor(labels={"user": "carol", "site": "T2_FR"}) as run:
            make_runner(threads())(fileset, processor_instance=Measured())
        run.save(place / f"real{number}.roast")
    with (
        pytest.raises(Exception, match="gone"),
        roastcoffea.monitor(labels={"user": "alice"}) as run,
    ):
        make_runner()(fileset, processor_instance=MeasuredFailing(OSError("gone")))
    run.save(place / "failed.roast")
    cli_runs.write_facility(place / "by_hand")
    cli_runs.live(place / "killed.roast-live")
    roast("run", "-q", "-o", place / "command", "-l", "user=carol", "--", "true")
    return place


@pytest.fixture(scope="module")
def files(folder: Path) -> pd.DataFrame:
    """A row per run, from its own file."""
    found = []
    for path in sorted(folder.rglob("*.roast*")):
        if path.name == "copy.roast":
            continue
        listed = json.loads(roast("ls", "-f", "json", path).stdout)
        query = "SELECT name, value FROM metrics"
        lines = roast("sql", path, query, "-f", "json").stdout.splitlines()
        values = {x["name"]: x["value"] for x in map(json.loads, lines)}
        labels = roast("sql", path, "SELECT name, value FROM labels", "-f", "json")
        texts = {
            x["name"]: x["value"] for x in map(json.loads, labels.stdout.splitlines())
        }
        begun = dt.datetime.fromtimestamp(listed["start_ns"] / 1e9, dt.UTC)
        one = {
            "user": texts.get("user"),
            "site": texts.get("site"),
            "processor": listed["processor"] or None,
            "week": begun.strftime("%G-W%V"),
            "failed_runs": listed["state"] in {"failed", "interrupted"},
            "unfinished_runs": listed["state"] == "unfinished",
        }
        for name, metric in HOURS.items():
            value = values[metric]
            if value is None and name == "core_hours_used":
                value = values["command_cpu_seconds"]
            one[name] = math.nan if value is None else value / 3600
        failed = values["num_failed_attempts"], values["num_lost_attempts"]
        one["failed_attempts"] = math.nan if None in failed else sum(failed)
        found.append(one)
    return pd.DataFrame(found)


@pytest.mark.parametrize("by", ["user", "processor", "site", "week"])
def test_sums_are_those_of_the_files(
    folder: Path, files: pd.DataFrame, by: str
) -> None:
    summed = [*HOURS, "failed_runs", "unfinished_runs", "failed_attempts"]
    wanted = files.groupby(by, dropna=False)[summed].sum(min_count=1)
    wanted["runs"] = files.groupby(by, dropna=False).size()
    both = files.dropna(subset=["core_hours_used", "core_hours_offered"])
    both = both.groupby(by, dropna=False)[[*HOURS]].sum()
    wanted["efficiency"] = both["core_hours_used"] / both["core_hours_offered"]
    out = roast("facility", folder, "--by", by, "-f", "csv").stdout
    written = pd.read_csv(io.StringIO(out), dtype={"name": object}).set_index("name")
    assert set(written["by"]) == {by}
    assert sorted(map(str, written.index)) == sorted(map(str, wanted.index))
    for name, row in wanted.iterrows():
        chosen = written.index.isna() if pd.isna(name) else written.index == name
        for column, value in row.items():
            found = written.loc[chosen, column].item()
            assert found == pytest.approx(float(value), rel=1e-9, nan_ok=True), column


def test_total_is_the_sum_of_all(folder: Path, files: pd.DataFrame) -> None:
    (total,) = rows(folder, "--by", "total")
    assert (total["name"], total["runs"]) == ("all", len(files))
    for name in HOURS:
        assert total[name] == pytest.approx(files[name].sum(), rel=1e-9)
        without = name.replace("core_hours", "runs_without")
        assert total[without] == files[name].isna().sum()
        assert (name in (total["reason"] or "")) == (total[without] > 0)
    assert total["runs_without_offered"] >= 1


def test_datasets_divide_all_core_hours(folder: Path) -> None:
    (total,) = rows(folder, "--by", "total")
    datasets = {x["name"]: x for x in rows(folder, "--by", "dataset")}
    assert set(datasets) == {"ttbar", "wjets", None}  # None: the command
    for name in HOURS:
        parts = [x[name] for x in datasets.values() if x[name] is not None]
        assert sum(parts) == pytest.approx(total[name], rel=1e-9)
    assert all(datasets[x]["core_hours_used"] > 0 for x in ("ttbar", "wjets"))
    assert datasets["ttbar"]["runs"] + datasets["wjets"]["runs"] > total["runs"]


def test_default_has_every_table(folder: Path) -> None:
    names = ["total", "user", "processor", "dataset", "site", "week"]
    assert list(dict.fromkeys(x["by"] for x in rows(folder))) == names
    page = roast("facility", folder).stdout
    assert re.findall(r"^(\w+) +runs ", page, re.M) == names


def test_most_frequent_finding_and_its_cost(folder: Path) -> None:
    hand = folder / "by_hand"
    (total,) = rows(hand, "--by", "total")
    costs: dict[str, list[float]] = {}
    for path in sorted(hand.rglob("*.roast")):
        if path.name != "copy.roast":
            for finding in roastcoffea.open_run(path).get_metrics()["findings"]:
                costs.setdefault(finding["id"], []).append(
                    finding.get("cost_thread_seconds", 0.0)
                )
    most = max(costs, key=lambda name: (len(costs[name]), sum(costs[name])))
    assert (total["finding"], total["finding_runs"]) == (most, len(costs[most]))
    assert total["finding_core_hours"] == pytest.approx(sum(costs[most]) / 3600)


def test_a_run_in_two_folders_counts_once(tmp_path: Path) -> None:
    cli_runs.write_facility(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    once = rows(tmp_path / "a")
    assert rows(tmp_path / "a", tmp_path / "b") == once
    assert rows(tmp_path / "a", tmp_path) == once
    done = roast("facility", tmp_path)
    assert done.stderr.count("\n") == 1
    assert "6 of 10 files hold a run that another one has" in done.stderr


def test_the_whole_run_counts_and_not_an_early_save_of_it(tmp_path: Path) -> None:
    with roastcoffea.monitor(labels={"user": "me"}) as run:
        run.save(tmp_path / "a.roast")
    run.save(tmp_path / "b.roast")
    (total,) = rows(tmp_path, "--by", "total")
    assert (total["runs"], total["unfinished_runs"]) == (1, 0)


def test_unreadable_runs_are_named_and_counted(tmp_path: Path) -> None:
    cli_runs.write_facility(tmp_path)
    whole = rows(tmp_path)
    (tmp_path / "empty.roast").touch()
    good = (tmp_path / "alice" / "monday.roast").read_bytes()
    (tmp_path / "cut.roast").write_bytes(good[: len(good) // 2])
    assert rows(tmp_path, code=3) == whole
    lines = roast("facility", tmp_path, code=3).stderr.splitlines()
    assert [line for line in lines if f"{tmp_path}/cut.roast: " in line]
    assert [line for line in lines if f"{tmp_path}/empty.roast: " in line]
    assert lines[-1].endswith("2 of 7 files cannot be read and are left out")
    assert len(lines) == 4  # one is of the copy


def test_other_folders_are_read_where_one_is_missing(tmp_path: Path) -> None:
    cli_runs.write_facility(tmp_path / "a")
    done = roast("facility", tmp_path / "a", tmp_path / "b", "--by", "total", code=3)
    assert re.search(r"^all +4 ", done.stdout, re.M)
    assert f"{tmp_path}/b: No such file" in done.stderr


def test_owners_of_files(tmp_path: Path) -> None:
    cli_runs.write_facility(tmp_path)
    me = pwd.getpwuid(os.getuid()).pw_name
    assert [x["name"] for x in rows(tmp_path, "--by", "user")] == ["alice", "bob", None]
    owned = {x["name"]: x["runs"] for x in rows(tmp_path, "--by", "user", "--owner")}
    assert owned == {"alice": 2, "bob": 1, me: 1}


def test_days(tmp_path: Path) -> None:
    cli_runs.write_facility(tmp_path)

    def runs(*options: str) -> int:
        return sum(x["runs"] for x in rows(tmp_path, "--by", "total", *options))

    assert runs("--since", "2025-11-15") == 4
    assert runs("--since", "2025-11-16") == 3
    assert runs("--until", "2025-11-15") == 0
    assert runs("--until", "2025-11-16") == 1
    assert runs("--since", "2025-11-16", "--until", "2025-11-22") == 0
    for wrong in (
        "2025-02-30",
        "yesterday",
        "2025-11-15 ",
        "2025-11",
        "9999-01-01",
        "",
    ):
        done = roast("facility", tmp_path, "--since", wrong, code=2)
        assert "a day like" in done.stderr


def test_hostile_names(tmp_path: Path) -> None:
    bad = '\x1b[31m\n=cmd,"é' + "x" * 100_000
    run = cli_runs.used(1, user=bad, site="=SUM(A1)")
    run.save(tmp_path / "a.roast")
    (user,) = rows(tmp_path, "--by", "user")
    assert user["name"] == bad
    text = roast("facility", tmp_path).stdout
    assert "\x1b" not in text
    csv = roast("facility", tmp_path, "--by", "site", "-f", "csv").stdout
    assert ",'=SUM(A1)," in csv


def test_output_is_replaced_when_it_is_complete(tmp_path: Path) -> None:
    cli_runs.write_facility(tmp_path / "runs")
    target = tmp_path / "sums.csv"
    target.write_text("old")
    options = ("facility", tmp_path / "runs", "-f", "csv")
    assert roast(*options, "-o", target).stdout == ""
    assert target.read_bytes().decode() == roast(*options, "-o", "-").stdout.replace(
        "\n", "\r\n"
    )
    assert sorted(os.listdir(tmp_path)) == ["runs", "sums.csv"]
    run_file = tmp_path / "runs" / "alice" / "monday.roast"
    before = run_file.read_bytes()
    done = roast(*options, "-o", run_file, code=4)
    assert "nothing was written" in done.stderr
    assert run_file.read_bytes() == before


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    cli_runs.write_facility(tmp_path)
    assert "reading" not in roast("facility", tmp_path).stderr
    master, slave = os.openpty()
    with subprocess.Popen(
        [program(), "facility", str(tmp_path)],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=slave,
    ) as child:
        os.close(slave)
        shown = b""
        try:
            while piece := os.read(master, 4096):
                shown += piece
        except OSError:  # EIO: the child has ended
            pass
        assert child.wait() == 0
    os.close(master)
    assert b"reading run files: 0 of 5" in shown
    assert b"facility: 1 of 5 files holds" in shown.rpartition(b"\r  ")[2]
