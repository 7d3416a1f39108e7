# SPDX-License-Identifier: BSD-3-Clause
"""Tokens, passwords and signatures never get into a record: not through file names, not
through exceptions, not through errors of the monitor itself."""

from __future__ import annotations

import pytest

from roastcoffea.instrumentation import BaseInstrumentationContext
from support import Events, fail, measure, run_python

SECRET = "s3cr3t"
URLS = {
    "query": f"https://host/a.root?token={SECRET}",
    "password": f"root://alice:{SECRET}@host//store/a.root",
    "user only": f"davs://{SECRET}@host/a.root",
    "fragment": f"https://host/a.root#{SECRET}",
    "xrootd token": f"root://host//store/a.root?authz=Bearer%20{SECRET}&xrd.x=1",
    "signed S3": f"https://b.s3.amazonaws.com/a.root?X-Amz-Date=1&X-Amz-Signature={SECRET}",
    "comma in query": f"https://host/a.root?scopes=a,b&sig={SECRET}",
    "semicolon in query": f"https://host/a.root?headers=host;date&sig={SECRET}",
    "comma in password": f"https://alice:a,{SECRET}@host/a.root",
    "semicolon in password": f"https://alice:a;{SECRET}@host/a.root",
    "at in password": f"https://alice:a@{SECRET}@host/a.root",
    "chained": f"simplecache::https://alice:{SECRET}@host/a.root?t={SECRET}",
    "upper case": f"HTTPS://alice:{SECRET}@host/a.root?t={SECRET}",
    "two of them": f"https://h/?u=https://alice:{SECRET}@h/&t={SECRET}",
    "long": f"https://alice:{'x' * 2000}{SECRET}@host/{'y' * 2000}?t={SECRET}",
    "beyond the cut": f"https://host/{'y' * 1010}?t={SECRET}",
}
# Only a file name shows where such a URL ends.
FILES = URLS | {
    "bracket in query": f"https://host/a.root?x=(1)&y=[2]&sig={SECRET}",
    "quote in query": f"https://host/a.root?x='1'&sig={SECRET}",
    "space in query": f"https://host/a.root?x=1 2&sig={SECRET}",
    "behind a cache": f"root://cache//root://alice:{SECRET}@host//a.root",
}
urls = pytest.mark.parametrize("url", URLS.values(), ids=URLS)


def leaks(record):
    return SECRET.encode() in record.frame


@pytest.mark.parametrize("url", FILES.values(), ids=FILES)
def test_file_name_keeps_no_secret(url):
    record = measure(lambda *_: None, Events(filename=url))
    assert not leaks(record)
    assert (
        record["file"].lower().startswith(("https://", "root://", "davs://", "simple"))
    )


@urls
@pytest.mark.parametrize(
    "sentence",
    [
        "{}",
        "Failed to open {}: timed out",
        "Failed to open '{}': timed out",
        'OSError: [ERROR] "{}" (errno 5)',
        "tried <{}>, {}",
    ],
)
def test_message_of_an_exception_keeps_no_secret(url, sentence):
    def work(self, events):
        raise OSError(sentence.format(url, url))

    _, record = fail(work)
    assert not leaks(record)


@pytest.mark.parametrize(
    "message",
    [
        f"login failed: password={SECRET}",
        f"Authorization: Bearer {SECRET}",
        f"BEARER_TOKEN={SECRET} is expired",
        f"AWS_SECRET_ACCESS_KEY={SECRET}",
        f"mysql -u me --password={SECRET} failed",
        f'{{"access_token": "{SECRET}"}}',
        f"/store/a.root?authz=Bearer%20{SECRET}",
    ],
)
def test_named_secret_in_a_message_is_not_kept(message):
    def work(self, events):
        raise OSError(message)

    _, record = fail(work)
    assert not leaks(record)


def test_path_with_a_token_keeps_none():
    """What is left of a URL when a library has taken its host off."""
    record = measure(
        lambda *_: None, Events(filename=f"/a.root?authz=Bearer%20{SECRET}")
    )
    assert not leaks(record)


def test_harmless_text_is_kept_as_it_was():
    message = "expected 3 jets: got 2 (see a.root, b.root); ratio 1:2, mail a@b.c? yes"

    def work(self, events):
        raise ValueError(message)

    _, record = fail(work, Events(filename="/data/run #7/a@b.root"))
    assert record["error_message"] == message
    assert record["file"] == "/data/run #7/a@b.root"


def test_error_of_the_monitor_keeps_no_secret():
    """It is the exception of a foreign object, so it may hold anything."""
    script = f"""
        from support import Events, measure
        from roastcoffea import _probe

        class Attrs:
            def get(self, name):
                raise OSError("https://alice:{SECRET}@host/a.root?token={SECRET}")

        class Remote(Events):
            attrs = Attrs()

        record = measure(lambda *_: None, Remote())
        assert record["monitor_errors"] == 1, dict(record)
        assert b"{SECRET}" not in record.frame
        assert "{SECRET}" not in str(_probe.status())
    """
    run_python(script)


def test_begin_and_end_frames_keep_no_secret():
    script = f"""
        from support import Events, make_processor
        from roastcoffea import _probe

        url = "https://alice:{SECRET}@host/a.root?token={SECRET}"
        item = ("data", url, "Events", None, 0, 1)
        error = OSError(url)

        def work(self, events):
            raise error

        begin = _probe.attempt_begin(bytes(16), 0, (), item)
        try:
            make_processor(work).process(Events(filename=url))
        except OSError:
            frames = begin + _probe.attempt_end(0, (), error)
        records = _probe.read_frames(frames)
        assert len(records) == 3, records
        assert all(b"{SECRET}" not in record.frame for record in records)
    """
    run_python(script)


KEPT = {
    "under its name": {"password": SECRET},
    "deep below its name": {"a": {"Api-Key": [{"x": SECRET}]}},
    "a number under its name": {"token": 271828182845},
    "bytes under its name": {"credentials": SECRET.encode()},
    "in a message": {"note": f"login with password={SECRET}"},
    "in a URL": {"note": f"see https://me:{SECRET}@host/?sig={SECRET}"},
    "in bytes": {"note": f"Bearer {SECRET}".encode()},
    "behind a tab": {"note": f"Bearer\t{SECRET}"},
    "on the next line": {"note": f"--password\n{SECRET}"},
    "in a list": {"notes": ["x", f"--token {SECRET}"]},
    "as a key": {f"https://me:{SECRET}@host/": 1},
    "in a repr": {"object": type("X", (), {"__repr__": lambda x: f"pwd={SECRET}"})()},
}


@pytest.mark.parametrize("values", KEPT.values(), ids=KEPT)
@pytest.mark.parametrize("where", ["keys", "metrics"])
def test_value_of_the_user_keeps_no_secret(values, where):
    class Context(BaseInstrumentationContext):
        def __exit__(self, *error):
            for name, value in values.items():
                self.record_metric(name, value)

    def work(self, events):
        if where == "keys":
            self._roastcoffea_current_chunk.update(values)
        else:
            with Context(self):
                pass

    record = measure(work)
    assert not leaks(record)
    assert "271828182845" not in str(dict(record))


def test_whether_there_is_a_secret_is_none():
    def work(self, events):
        chunk = self._roastcoffea_current_chunk
        chunk.update(has_token=True, token=None, note="tokens: none", raw=b"\0token=x")

    record = measure(work)
    assert (record["has_token"], record["token"]) == (True, None)
    assert record["raw"] == b"\0token=x"  # no text: it is kept as it is


def test_dataset_that_is_a_url_keeps_no_secret():
    record = measure(lambda *_: None, Events(dataset=URLS["password"]))
    assert not leaks(record)


def test_record_made_by_hand_keeps_no_secret():
    from roastcoffea import _probe

    for file in FILES.values():
        made = {"file": file, "dataset": URLS["query"], "num_events": 1}
        assert SECRET.encode() not in _probe.frame_of(made, 1)
