# SPDX-License-Identifier: BSD-3-Clause
"""Running runs on a scheduler's /metrics page, and what docs/facility makes of them.

One real scheduler with the preload module, one worker, one run and one Prometheus: what
they gave is collected once, while a chunk of the run waits.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

import cli_runs
from clusters import Calling, dask_runner, until, wait_in_turn
from collector_helpers import fileset_of
from dask_programs import Programs, our_path
from prometheus_server import Prometheus, needs_prometheus
from roastcoffea import MetricsCollector
from roastcoffea.dask import prometheus, watch
from roastcoffea.dask.prometheus import Runs
from scheduler_runs import GONE_S

FACILITY = Path(__file__).parents[2] / "docs" / "facility"
PRELOAD = ("--preload", "roastcoffea.dask.prometheus")
LABEL_VALUES = re.compile(r"label_values\((.*), (\w+)\)")


class Seen(NamedTuple):
    """Lines of ours on the page, and what Prometheus gave for the dashboard."""

    before: str
    during: str
    after: str
    answers: dict[str, dict[Any, float]]
    collector: MetricsCollector
    log: str


def read(url: str) -> str:
    """The families of ours on a page."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        lines = answer.read().decode().splitlines(keepends=True)
    return "".join(line for line in lines if re.match(r"(# \w+ )?roast_", line))


def families(text: str) -> dict[str, Any]:
    return {each.name: each for each in text_string_to_metric_families(text)}


def values(text: str) -> dict[Any, float]:
    """{(name, labels without the id of the run): value}."""
    found = {}
    for sample in (s for family in families(text).values() for s in family.samples):
        labels = {k: v for k, v in sample.labels.items() if k != "run_id"}
        key = sample.name, tuple(labels.items())
        assert key not in found
        found[key] = sample.value
    return found


def dashboard() -> dict[str, Any]:
    text = (FACILITY / "grafana_dashboard.json").read_text()
    for name, value in (("$__rate_interval", "10s"), ("$instance", ".*")):
        text = text.replace(name, value)
    found: dict[str, Any] = json.loads(text.replace("$run_id", ".*"))
    return found


def queries() -> list[str]:
    """Of the panels and the variables of the dashboard."""
    board = dashboard()
    panels = [target["expr"] for each in board["panels"] for target in each["targets"]]
    lists = [each for each in board["templating"]["list"] if each["type"] == "query"]
    assert lists
    for each in lists:
        found = LABEL_VALUES.fullmatch(each["query"]["query"])
        panels.append(f"count by ({found[2]}) ({found[1]})")
    return list(dict.fromkeys(panels))


def prometheus_config(target: str) -> str:
    """That of the documents, with this scheduler."""
    text = (FACILITY / "prometheus.yml").read_text()
    for old, new in {
        "15s": "500ms",
        "scheduler.example.org:8787": target,
        "- recording": f"- {FACILITY}/recording",
        "- alert": f"- {FACILITY}/alert",
    }.items():
        assert old in text
        text = text.replace(old, new)
    return text


def analyse(client: Any, file: Path, folder: Path) -> MetricsCollector:
    """A run of six chunks; one of them waits for a file `first`, one for `second`."""
    fileset = fileset_of(file) | {"wjets": {"files": {str(file): "Events"}}}
    with MetricsCollector(client, labels={"site": "T2"}) as collector:
        analysis = Calling(folder, wait_in_turn)
        dask_runner(client)(fileset, processor_instance=analysis)
    return collector


def look(client: Any, file: Path, folder: Path, log: Path) -> Seen:
    """At a run: before, during and after it."""
    port = client.scheduler_info()["services"]["dashboard"]
    page = f"http://127.0.0.1:{port}/metrics"
    before, answers = read(page), {}
    with (
        ThreadPoolExecutor(1) as pool,
        Prometheus(prometheus_config(f"127.0.0.1:{port}"), folder) as server,
    ):
        running = pool.submit(analyse, client, file, folder)
        try:
            server.series("roast_num_chunks_processed == 4")
            (folder / "first").touch()
            server.series("run:roast_progress:ratio > 0.8")
            answers = {query: server.series(query) for query in queries()}
            during = read(page)
        finally:
            (folder / "first").touch()
            (folder / "second").touch()
        collector = running.result()
        until(lambda: not read(page), GONE_S)
        after = read(page)
    return Seen(before, during, after, answers, collector, log.read_text())


@pytest.fixture(scope="module")
def seen(tiny_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder = tmp_path_factory.mktemp("facility")
    with (
        pytest.MonkeyPatch.context() as patch,
        Programs(folder, *our_path(), scheduler_options=PRELOAD) as programs,
    ):
        patch.setattr(watch, "LIVE_EVERY_S", 0.1)
        patch.setattr(watch, "PULL_EVERY_S", 0.1)
        programs.add_worker("--nthreads=3", "--no-nanny")
        with programs.client(1) as client:
            yield look(client, tiny_file, folder, folder / "scheduler-0.log")


# ---- the page ------------------------------------------------------------------------


@needs_prometheus
def test_a_run_is_there_while_it_goes_on(seen: Seen) -> None:
    assert (seen.before, seen.after) == ("", "")
    found = values(seen.during)
    assert found["roast_run_planned_chunks", ()] == 6
    assert found["roast_num_chunks_processed", ()] == 5
    assert found["roast_num_running_chunks", ()] == 1
    assert found["roast_total_events", ()] == 5000
    names = ("ttbar", "wjets")
    events = [found["roast_dataset_total_events", (("dataset", x),)] for x in names]
    assert sorted(events) == [2000, 3000]
    assert found["roast_run_label", (("name", "site"), ("value", "T2"))] == 1
    assert found["roast_wall_time_seconds", ()] > 0
    assert found["roast_cluster_workers", ()] == 1
    assert found["roast_cluster_threads", ()] == 3
    limit = found["roast_cluster_memory_limit_bytes", ()]
    assert 1e7 < found["roast_cluster_memory_bytes", ()] < limit
    assert seen.collector.get_metrics()["monitor_errors"] == 0
    assert "roastcoffea: " not in seen.log


@needs_prometheus
def test_names_are_those_of_an_export(seen: Seen) -> None:
    exported = families(seen.collector.run.to_prometheus())
    for name, family in families(seen.during).items():
        if name.startswith("roast_cluster_"):
            continue
        assert {s.labels["run_id"] for s in family.samples} == {seen.collector.run.id}
        kinds = re.compile(r" \((exact|sampled|estimated)\)$")  # of a value so far
        texts = (family.documentation, exported[name].documentation)
        assert kinds.sub("", texts[0]) == kinds.sub("", texts[1])


@needs_prometheus
def test_no_worker_or_file_is_named(seen: Seen, tiny_file: Path) -> None:
    (worker,) = seen.collector.run.table("workers")["worker"]
    assert worker not in seen.during
    assert tiny_file.name not in seen.during


@needs_prometheus
def test_promtool_has_nothing_to_say(seen: Seen) -> None:
    assert promtool("check", "metrics", text=seen.during) == ""


def promtool(*arguments: str, text: str = "") -> str:
    """What it writes in docs/facility."""
    done = subprocess.run(
        ["promtool", *arguments],
        input=text,
        cwd=FACILITY,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


# ---- docs/facility -------------------------------------------------------------------


@needs_prometheus
def test_the_dashboard_shows_the_run(seen: Seen) -> None:
    assert list(seen.answers) == queries()
    for query, found in seen.answers.items():
        assert found, query
        assert all(map(math.isfinite, found.values())), query
    labels = (("run_id", seen.collector.run.id),)
    one = seen.answers['run:roast_progress:ratio{instance=~".*", run_id=~".*"}']
    assert one == {("run:roast_progress:ratio", labels): pytest.approx(5 / 6)}
    runs = seen.answers['count by (run_id) (roast_run_info{instance=~".*"})']
    assert runs == {("", labels): 1}


def test_panels_have_places_of_their_own() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for at in (panel["gridPos"] for panel in panels):
        cells = {
            (at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])
        }
        assert not taken & cells
        assert max(x for x, _ in cells) < 24
        taken |= cells


@needs_prometheus
def test_rules_are_valid_and_do_what_they_say() -> None:
    assert "2 rule files found" in promtool("check", "config", "prometheus.yml")
    promtool("check", "rules", "recording_rules.yml", "alert_rules.yml")
    assert "SUCCESS" in promtool("test", "rules", "rules_test.yml")
    tested = (FACILITY / "rules_test.yml").read_text()
    rules = "".join(path.read_text() for path in FACILITY.glob("*_rules.yml"))
    for name in re.findall(r"(?:alert|record): (\S+)", rules):
        assert re.search(rf"(alertname|expr): {name}\n", tested), name


# ---- what goes wrong -----------------------------------------------------------------


def test_without_prometheus_client_the_scheduler_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And loads the module by the documented line of configuration."""
    readme = (FACILITY / "README.md").read_text()
    assert f"dask scheduler {' '.join(PRELOAD)}\n" in readme
    (line,) = re.findall("```yaml\n(.*)\n```", readme)
    (tmp_path / "dask.yaml").write_text(line)
    monkeypatch.setenv("DASK_CONFIG", str(tmp_path / "dask.yaml"))
    error = "raise ModuleNotFoundError(\"No module named 'prometheus_client'\")\n"
    (tmp_path / "prometheus_client.py").write_text(error)
    with Programs(tmp_path, str(tmp_path), *our_path()):
        log = tmp_path / "scheduler-0.log"
        until(lambda: "roastcoffea: " in log.read_text())
    (said,) = [each for each in log.read_text().splitlines() if "roastcoffea: " in each]
    assert "no runs on /metrics: No module named 'prometheus_client'" in said
    assert "pip install prometheus_client" in said


def scheduler_with(*texts: Any, **metrics: float) -> Any:
    """What the module reads of a scheduler with one worker."""
    plugins = {str(n): SimpleNamespace(live_metrics=t) for n, t in enumerate(texts)}
    worker = SimpleNamespace(metrics=metrics, memory_limit=0)
    return SimpleNamespace(
        plugins=plugins | {"other": object()},
        workers={"tcp://a": worker},
        total_nthreads=1,
    )


def rendered(runs: Runs) -> str:
    registry = CollectorRegistry()
    registry.register(runs)
    return generate_latest(registry).decode()


def test_what_cannot_be_read_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(
        prometheus.logger, "warning", lambda text, *words: lines.append(text % words)
    )
    good = cli_runs.begun().live_metrics()
    runs = Runs(scheduler_with("roast_{", good, 3, memory=5.0))
    for errors in (3, 6):  # two texts, and the worker reports no CPU
        found = values(rendered(runs))
        assert found["roast_run_start_time_seconds", ()] > 0
        assert found["roast_cluster_memory_bytes", ()] == 5
        assert ("roast_cluster_memory_limit_bytes", ()) not in found  # it has none
        assert ("roast_cluster_busy_cores", ()) not in found
        assert found["roast_page_errors", ()] == errors
    (line,) = lines
    assert "/metrics is incomplete: ValueError" in line


def test_several_runs_are_one_page() -> None:
    first, second = cli_runs.begun(), cli_runs.begun(id=cli_runs.OTHER_ID)
    texts = [run.live_metrics() for run in (first, second)]
    cli_runs.add(first, cli_runs.record(1))
    later = first.live_metrics()  # of a client that was disconnected meanwhile
    runs = Runs(scheduler_with(*texts, later, memory=1.0, cpu=50.0))
    text = rendered(runs)
    assert rendered(runs) == text
    assert text.count("# TYPE roast_run_info") == 1
    infos = families(text)["roast_run_info"].samples
    assert [each.labels["run_id"] for each in infos] == [cli_runs.ID, cli_runs.OTHER_ID]
    (chunks,) = families(text)["roast_num_chunks_processed"].samples
    assert (chunks.labels["run_id"], chunks.value) == (cli_runs.ID, 1)
    runs.scheduler.plugins.clear()
    assert rendered(runs) == ""


class Core:
    """In place of a run's."""

    text = "roast_run_info"

    def live_metrics(self) -> str:
        if not self.text:
            raise MemoryError("no memory")
        return self.text


def test_metrics_are_sent_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    client = SimpleNamespace(scheduler=SimpleNamespace(address="tcp://a"))
    core = Core()
    one = watch.Watch(client, core, "mark", 1.0)
    assert one._metrics() == {}  # the scheduler does not show them
    one._shows = True
    assert one._metrics() == {"live": core.text}
    assert one._metrics() == {}
    monkeypatch.setattr(watch, "LIVE_EVERY_S", 0.0)
    monkeypatch.setattr(watch, "LIVE_SHARE", math.inf)
    one._next_live_s = 0.0
    assert one._metrics() == one._metrics() == {"live": core.text}
    core.text = ""
    assert one._metrics() == {"live": ""}
    assert str(one.errors["live metrics"][0]) == "no memory"
