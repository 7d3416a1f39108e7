# SPDX-License-Identifier: BSD-3-Clause
"""Errors of the storage: what it did not give. Bytes that came and cannot be unpacked
are damage in the file, from which another replica saves and a retry does not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot
from coffea import processor
from uproot.source.file import MultithreadedFileSource
from uproot.source.http import MultithreadedHTTPSource

import roastcoffea
from collector_helpers import fileset_of, iterative, make_runner
from reads import EVENTS, write_tree
from slow_server import SlowServer, serve

LOCAL = {
    "default": {},
    "memmap": {"handler": uproot.MemmapSource},
    "threads": {"handler": MultithreadedFileSource},
}
REMOTE = {
    "fsspec": {},
    "HTTPSource": {"handler": uproot.HTTPSource},
    "threads": {"handler": MultithreadedHTTPSource},
}


def damaged(path: Path) -> Path:
    """A tree with a basket of ``event`` whose packed bytes are others."""
    write_tree(path)
    with uproot.open(path) as root:
        branch = root["Events/event"]
        start = int(branch.member("fBasketSeek")[1])
        size = branch.basket_compressed_bytes(1)
    with open(path, "r+b") as file:
        file.seek(start + size // 2)
        other = bytes(255 - byte for byte in file.read(size // 4))
        file.seek(start + size // 2)
        file.write(other)
    return path


class Sum(processor.ProcessorABC):
    """Adds up a column, which fails; ``before`` is called first."""

    def __init__(self, column: str, before: Callable[[], Any]) -> None:
        self.column = column
        self.before = before
        self.raised: Exception | None = None

    def process(self, events: Any) -> Any:
        self.before()
        try:
            ak.sum(events[self.column])
        except Exception as error:
            self.raised = error
        return {"n": len(events)}

    def postprocess(self, accumulator: Any) -> None:
        return None


def endpoint_of(
    file: Path | str,
    options: dict[str, Any],
    column: str = "event",
    before: Callable[[], Any] = lambda: None,
) -> tuple[dict[str, Any], Exception]:
    """What a run says of the only place that it read from, and what it raised."""
    analysis = Sum(column, before)
    runner = make_runner(
        iterative(retries=0), chunksize=EVENTS, processor_compression=None
    )
    with roastcoffea.monitor(track_workers=False) as collector:
        runner(
            fileset_of(file), processor_instance=analysis, uproot_options=dict(options)
        )
    (endpoint,) = collector.get_metrics()["per_endpoint"].values()
    assert analysis.raised is not None
    assert endpoint["requests"] > 0
    return endpoint, analysis.raised


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlowServer]:
    yield from serve(tmp_path_factory.mktemp("served"))


@pytest.mark.parametrize("source", LOCAL)
def test_damage_on_disk_is_no_error_of_the_disk(tmp_path: Path, source: str) -> None:
    endpoint, raised = endpoint_of(damaged(tmp_path / "f.root"), LOCAL[source])
    assert not isinstance(raised, OSError)
    assert endpoint["errors"] == 0


@pytest.mark.parametrize("source", REMOTE)
def test_damage_that_a_server_sends_is_no_error_of_the_server(
    server: SlowServer, source: str
) -> None:
    path = damaged(server.folder / "f.root")
    endpoint, raised = endpoint_of(f"{server.endpoint}/{path.name}", REMOTE[source])
    assert not isinstance(raised, OSError)
    assert endpoint["errors"] == 0


def test_bytes_that_a_disk_does_not_give_are_its_error(tmp_path: Path) -> None:
    path = write_tree(tmp_path / "f.root")
    with uproot.open(path) as root:
        start = int(root["Events/event"].member("fBasketSeek")[-1])
    endpoint, raised = endpoint_of(
        path, LOCAL["threads"], before=lambda: os.truncate(path, start + 10)
    )
    assert isinstance(raised, OSError)
    assert endpoint["errors"] == 1


@pytest.mark.parametrize("source", REMOTE)
def test_negative_answer_is_an_error(server: SlowServer, source: str) -> None:
    path = damaged(server.folder / "f.root")  # which is never served
    try:
        endpoint, _ = endpoint_of(
            f"{server.endpoint}/{path.name}",
            REMOTE[source],
            before=lambda: setattr(server, "status", 500),
        )
    finally:
        server.status = 0
    assert endpoint["errors"] == 1


def test_ctrl_c_is_no_error_of_the_storage(tmp_path: Path) -> None:
    path = write_tree(tmp_path / "f.root")

    class Interrupted(MultithreadedFileSource):  # type: ignore[misc]
        def chunks(self, *args: Any, **kwargs: Any) -> Any:
            raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        roastcoffea.monitor(track_workers=False) as collector,
    ):
        make_runner()(
            fileset_of(path),
            processor_instance=Sum("event", lambda: None),
            uproot_options={"handler": Interrupted},
        )
    (endpoint,) = collector.get_metrics()["per_endpoint"].values()
    assert endpoint["errors"] == 0
