# SPDX-License-Identifier: BSD-3-Clause
"""Secrets given to a run in every place that takes a text: none of them is in any byte
that was written, not in the live file at any moment, not in the run file, not in the
measurement, not in the spool."""

from __future__ import annotations

import base64
import re
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import roastcoffea
from collector_helpers import Plain, iterative, make_runner, open_pool, processes
from roastcoffea import spool, track_metrics, track_time
from roastcoffea.instrumentation import BaseInstrumentationContext
from saved_run_samples import START, Watching
from slow_server import Handler, serve

SECRET = "s3cr3tS3CR3T"
URL = f"root://alice:{SECRET}@host//a.root?authz=Bearer%20{SECRET}#{SECRET}"
SIGNED = f"https://b.s3.amazonaws.com/a.root?X-Amz-Date=1&X-Amz-Signature={SECRET}"
JWT = "eyJhbGciOiJIUzI1NiJ9." + base64.b64encode(SECRET.encode()).decode() + ".x"
TEXTS = {
    "url": URL,
    "signed": f"could not open '{SIGNED}': timed out",
    "message": f"login failed: password={SECRET} Authorization: Bearer {SECRET}",
    "option": f"mysql -u me --password {SECRET}",
    "json": f'{{"access_token": "{SECRET}"}}',
    "jwt": f"sent {JWT}",
    "lone \udcff surrogate": f"\udcff token={SECRET}",
}
# of an exception, which coffea prints: a terminal may not take a lone surrogate
PRINTABLE = [text for text in TEXTS.values() if text.isprintable()]
NAMED = {
    "password": SECRET,
    "X-Auth-Token": [SECRET],
    "deep": {"aws_secret_access_key": {"value": SECRET}},
    "pin": {"secret": 12345678901234},
    "bytes": b"token=" + SECRET.encode(),
    "credentials": SECRET.encode(),
    "jwt": JWT,
}
HIDDEN = [SECRET.encode(), b"12345678901234", JWT.encode()[22:38]]
# in any of its alignments
HIDDEN += [base64.b64encode(b"x" * n + SECRET.encode())[4:-8] for n in range(3)]


class Careless(BaseInstrumentationContext):
    def __exit__(self, *error):
        self.record_metric("api_key", SECRET)
        self.record_metric("said", dict(TEXTS))
        self.record_metric("config", NAMED)


class Leaking(Plain):
    """Puts secrets wherever process() can."""

    @track_metrics
    def process(self, events):
        with track_time(self, f"open {URL}"), Careless(self, "x"):
            result = Plain.process(self, events)
        chunk = self._roastcoffea_current_chunk
        chunk.update(TEXTS)
        chunk.update(NAMED)
        chunk[f"key of {URL}"] = 1
        if events.metadata["entrystart"] == 1000:
            raise OSError("; ".join(PRINTABLE))
        return result


class LeakingBackend(Watching):
    def stop_tracking(self):
        return {
            "worker_counts": {START: 1},
            "worker_memory": {URL: [(START, 1e9)]},
            "settings": dict(NAMED) | TEXTS,
        }

    def get_span_metrics(self, span):
        return {("execute", URL, "thread-cpu", "seconds"): 1.5, "token": SECRET}


class QueryHandler(Handler):
    """Serves files whatever stands behind their name."""

    def do_GET(self):
        self.path = self.path.partition("?")[0]
        super().do_GET()


@pytest.fixture(scope="module")
def server(tiny_file):
    for server in serve(tiny_file.parent):
        server.RequestHandlerClass = QueryHandler
        yield server


@pytest.fixture(scope="module")
def pool():
    yield from open_pool()


def leaks(content: bytes) -> list[bytes]:
    return [hidden for hidden in HIDDEN if hidden in content]


def assert_clean(folder: Path) -> int:
    """No file below has a secret, in its name or in its bytes; how many there are."""
    count = 0
    for path in folder.rglob("*"):
        assert not leaks(str(path.relative_to(folder)).encode()), path
        if path.is_file():
            assert not leaks(path.read_bytes()), path
            count += 1
    return count


def cells(path: Path) -> str:
    """Everything that any sqlite3 finds in a run file, as text."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    names = connection.execute("select name from sqlite_master where type = 'table'")
    tables = [name for (name,) in names]
    rows = [
        row for name in tables for row in connection.execute(f'select * from "{name}"')
    ]
    connection.close()
    return repr(rows)


def fill(run, files):
    """What users hand over, with secrets in all of it."""
    run.set_coffea_report({"entries": 3, "note": URL}, dict(NAMED) | TEXTS | {URL: 1})
    by_hand = {"num_events": 1, "file": URL + " x", "dataset": URL, "error": URL}
    run.record_chunk_metrics(by_hand | NAMED | {"texts": list(TEXTS.values())})
    run.record_section_metrics({"section_name": URL, "time_delta": 1.0} | NAMED)


def secret_run(server, executor, folder, seen, **options):
    """A real run over HTTP with secrets everywhere; what it left in ``folder``."""
    url = server.endpoint.replace("://", f"://alice:{SECRET}@")
    files = {f"{url}/tiny.root?X-Amz-Signature={SECRET}&x=1": "Events"}
    fileset = {
        "ttbar": {"files": files, "metadata": {"xsec": 1.0} | NAMED | TEXTS},
    }
    labels = {"token": SECRET, URL: "x"} | TEXTS
    runner = make_runner(executor, skipbadfiles=True)
    collector = roastcoffea.monitor(folder, labels=labels, **options)
    with collector as run:
        fill(run, fileset)
        with pytest.raises(Exception, match="login failed"):
            make_runner(executor)(fileset, processor_instance=Leaking())
        run._core.live_sync()
        seen.append(assert_clean(folder))
        runner(fileset, processor_instance=Plain())
    run.save_measurement(folder, "again", config=dict(NAMED) | TEXTS)
    run.save(folder / "saved.roast")
    return run


@pytest.fixture
def noticing(monkeypatch):
    """Looks into every spool before it goes."""
    seen = []
    remove = spool.remove

    def look(folder):
        if folder:
            seen.append(assert_clean(Path(folder)))
        remove(folder)

    monkeypatch.setattr(spool, "remove", look)
    return seen


@pytest.mark.parametrize("kind", ["iterative", "processes"])
def test_no_secret_is_written(kind, server, pool, tmp_path, monkeypatch, noticing):
    command = ["a.py", "--token", SECRET, f"--password={SECRET}", URL]
    monkeypatch.setattr(sys, "argv", command)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    executor = iterative(retries=0) if kind == "iterative" else processes(pool)
    seen = []
    run = secret_run(server, executor, tmp_path, seen)
    assert seen == [1]  # the live file
    assert (noticing != []) == (kind == "processes")
    assert assert_clean(tmp_path) >= 10
    assert len(run.chunk_metrics) >= 3
    for path in (tmp_path / "saved.roast", run.measurement_path):
        opened = roastcoffea.open_run(path)
        reported = repr([dict(opened.metrics.items()), opened.info, opened.provenance])
        assert not leaks(reported.encode(errors="replace"))
        assert not leaks(opened._page("text").encode())
        assert opened.provenance["command"].startswith("a.py --token ***")
    assert not leaks(cells(tmp_path / "saved.roast").encode(errors="replace"))


def test_what_is_no_secret_is_still_there(server, tmp_path):
    run = secret_run(server, iterative(retries=0), tmp_path, [])
    opened = roastcoffea.open_run(run.measurement_path)
    (file,) = opened.fileset["ttbar"]["files"]
    assert re.sub("~[0-9a-f]{8}", "", file) == (
        server.endpoint.replace("://", "://***@") + "/tiny.root?***"
    )
    assert opened.fileset["ttbar"]["metadata"]["xsec"] == 1.0
    assert opened.labels["message"].startswith("login failed: password=***")
    assert opened.custom_metrics["password"] == "***"
    assert "could not open" in opened.custom_metrics["signed"]
    chunk = next(c for c in opened.chunk_metrics if "api_key" in c["custom_metrics"])
    assert chunk["custom_metrics"]["api_key"] == "***"
    assert chunk["password"] == "***"
    assert chunk["file"] == file


def test_backend_of_a_user_brings_no_secret(tiny_file, tmp_path):
    runner = make_runner()
    collector = roastcoffea.monitor(tmp_path, backend=LeakingBackend())
    with collector as run:
        runner({"a": [str(tiny_file)]}, Plain(), treename="Events")
    assert assert_clean(tmp_path) >= 5
    opened = roastcoffea.open_run(run.measurement_path)
    assert list(opened.tracking_data["worker_memory"]) == [
        "root://***@host//a.root?***"
    ]


def test_body_and_settings_bring_no_secret(tmp_path):
    collector = roastcoffea.MetricsCollector(None, tmp_path, labels={URL: URL})
    with pytest.raises(OSError, match="login failed"), collector:
        raise OSError(*TEXTS.values())
    assert assert_clean(tmp_path) >= 3
    run = roastcoffea.open_run(collector.measurement_path)
    assert run.partial
    assert run.failure.startswith("OSError: ")


WORDS = [
    f"correct {SECRET} battery",
    f'"a" {SECRET} c',
    f"it's {SECRET}",
    f"Bearer x {SECRET}",
]
NAMES = ["password", "db_password", "token", "my auth", "https://u:p@h/ token"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("words", WORDS)
def test_label_of_several_words_goes_as_a_whole(name, words, tmp_path):
    with roastcoffea.monitor(tmp_path, labels={name: words}) as run:
        run._core.live_sync()
        assert assert_clean(tmp_path) == 1
    assert list(run.labels.values()) == ["***"]
    assert assert_clean(tmp_path) >= 3
    opened = roastcoffea.open_run(run.measurement_path)
    assert list(opened.labels.values()) == ["***"]


def test_measurement_of_metrics_keeps_no_secret(tmp_path):
    metrics = dict(NAMED) | TEXTS | {"rows": [{"token": SECRET}], URL: URL}
    metrics |= {"odd": SimpleNamespace(password=SECRET)}
    roastcoffea.save_measurement(metrics, 0.0, 1.0, tmp_path, "m", config=metrics)
    assert assert_clean(tmp_path) == 4
