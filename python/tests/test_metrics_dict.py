# SPDX-License-Identifier: BSD-3-Clause
"""What get_metrics() gives is a dict in every use, though its bulky parts are made when
they are read."""

from __future__ import annotations

import copy
import json
import pickle
import threading

import pytest

import roastcoffea

LAZY = ("tracking_data", "raw_chunk_metrics", "chunk_info")


@pytest.fixture
def metrics():
    with roastcoffea.monitor() as collector:
        collector.record_chunk_metrics({"num_events": 4, "duration": 1.0})
    return collector.get_metrics()


def consistent(metrics):
    keys = list(metrics)
    assert len(metrics) == len(keys) == len(set(keys))
    assert keys == list(metrics.keys()) == list(dict(metrics))
    assert keys == list(reversed(metrics))[::-1]
    assert all(key in metrics for key in keys)


@pytest.mark.parametrize("key", [*LAZY, "wall_time"])
def test_key_can_be_taken_out(key, metrics):
    taken = copy.copy(metrics)[key]
    assert metrics.pop(key) == taken
    assert key not in metrics
    assert metrics.pop(key, 7) == 7
    with pytest.raises(KeyError):
        metrics.pop(key)
    consistent(metrics)


@pytest.mark.parametrize("key", [*LAZY, "wall_time"])
def test_key_can_be_deleted(key, metrics):
    del metrics[key]
    assert key not in metrics
    assert metrics.get(key) is None
    with pytest.raises(KeyError):
        del metrics[key]
    written = json.dumps(dict(metrics), default=str, skipkeys=True)
    assert key not in json.loads(written)
    consistent(metrics)


WRITES = {
    "item": lambda metrics, key: metrics.__setitem__(key, 5),
    "update": lambda metrics, key: metrics.update({key: 5}),
    "named": lambda metrics, key: metrics.update(**{key: 5}),
    "or": lambda metrics, key: metrics.__ior__({key: 5}),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("key", [*LAZY, "wall_time", "mine"])
def test_what_is_written_is_there(key, write, metrics):
    WRITES[write](metrics, key)
    assert metrics[key] == 5
    consistent(metrics)
    assert metrics[key] == 5


@pytest.mark.parametrize("key", LAZY)
def test_default_is_not_set_for_what_is_there(key, metrics):
    assert metrics.setdefault(key, "nothing") != "nothing"
    assert metrics.setdefault("mine", 5) == 5
    consistent(metrics)


def test_cleared_it_is_empty(metrics):
    metrics.clear()
    assert not metrics
    assert list(metrics) == []


def test_taken_apart_it_gives_everything(metrics):
    found = {}
    while metrics:
        key, value = metrics.popitem()
        found[key] = value
    assert set(LAZY) < found.keys()


def test_copies_and_unions_have_everything(metrics):
    copies = {
        "dict": dict(metrics),
        "copy": metrics.copy(),
        "module": copy.copy(metrics),
        "deep": copy.deepcopy(metrics),
        "pickle": pickle.loads(pickle.dumps(metrics)),
        "stars": {**metrics},
        "left": metrics | {},
        "right": {} | metrics,
    }
    for name, made in copies.items():
        assert made.keys() == metrics.keys(), name
        assert type(made) is dict, name
    assert copies["dict"] == metrics
    assert (metrics != copies["dict"]) is False


def test_part_that_could_not_be_made_can_be_read_again(metrics, monkeypatch):
    def interrupted(chunks):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("roastcoffea.metrics.build_chunk_info", interrupted)
        with pytest.raises(KeyboardInterrupt):
            metrics["chunk_info"]
    assert metrics["chunk_info"] == {}


def test_threads_that_read_at_once_all_find_it(metrics, monkeypatch):
    both = threading.Barrier(2)
    found = []
    monkeypatch.setattr(
        "roastcoffea.metrics.build_chunk_info", lambda chunks: both.wait(10)
    )
    threads = [
        threading.Thread(target=lambda: found.append(metrics["chunk_info"]))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
