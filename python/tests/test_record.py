# SPDX-License-Identifier: BSD-3-Clause
"""A record reads like a dict, never changes, and travels as plain bytes."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Mapping

import cloudpickle
import pytest

from roastcoffea import _probe, track_time
from support import Events, fail, measure


@pytest.fixture
def record():
    def work(self, events):
        with track_time(self, "jets"):
            self._roastcoffea_current_chunk["mine"] = [1, {"a": b"x"}]

    return measure(work, Events(dataset="π"))


def test_record_is_a_mapping(record):
    assert isinstance(record, Mapping)
    assert not isinstance(record, dict)
    assert len(record) == len(list(record)) == len(record.keys())
    assert dict(record) == dict(record.items()) == {**record}
    assert list(record.values()) == [record[key] for key in record]


def test_record_is_looked_up_like_a_dict(record):
    assert "dataset" in record
    assert "nothing" not in record
    assert record["dataset"] == record.get("dataset") == "π"
    assert record.get("nothing") is None
    assert record.get("nothing", 7) == 7
    with pytest.raises(KeyError, match="nothing"):
        record["nothing"]
    with pytest.raises(TypeError):
        record[[]]
    with pytest.raises(TypeError):
        record.get()


def test_record_is_equal_to_a_mapping_of_the_same(record):
    assert record == record
    assert record == dict(record)
    assert dict(record) == record
    assert record != {}
    assert record != 7
    assert record != measure(lambda *_: None)
    (again,) = _probe.read_frames(record.frame)
    assert again == record


def test_record_is_not_hashable_and_not_orderable(record):
    with pytest.raises(TypeError):
        hash(record)
    with pytest.raises(TypeError):
        record < record  # noqa: B015


def test_record_unpacks_into_keywords(record):
    assert (lambda *, dataset, **rest: dataset)(**record) == "π"


def test_record_cannot_be_changed(record):
    with pytest.raises(TypeError):
        record["dataset"] = "other"
    with pytest.raises(TypeError):
        del record["dataset"]
    with pytest.raises(AttributeError):
        record.frame = b""
    with pytest.raises(TypeError):
        type(record)()


def test_record_shows_as_its_dict(record):
    assert repr(record) == repr(dict(record))


def test_record_becomes_json():
    record = measure(lambda *_: None)
    assert json.loads(json.dumps(dict(record))) == dict(record)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copy_of_a_record_is_a_record(record, copied):
    for twin in (copied(record), copied([record])[0]):
        assert type(twin) is type(record)
        assert twin == record
        assert twin.frame == record.frame


def test_deep_copy_has_parts_of_its_own(record):
    twin = copy.deepcopy(record)
    twin["timing"]["mine"] = 1.0
    assert "mine" not in record["timing"]


@pytest.mark.parametrize("pickler", [pickle, cloudpickle])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_record_is_its_bytes(record, pickler, protocol):
    data = pickler.dumps([record, record], protocol=protocol)
    assert b"roastcoffea" not in data.replace(record.frame, b"")
    first, second = pickle.loads(data)
    assert type(first) is bytes
    assert first == second == record.frame
    assert _probe.read_frames(first + second) == [record, record]


def test_record_of_a_failed_chunk_survives_its_bytes():
    def work(self, events):
        raise ValueError("π")

    _, record = fail(work)
    (again,) = _probe.read_frames(pickle.loads(pickle.dumps(record)))
    assert again == record
    assert again["error"] == "ValueError: π"


def test_a_dict_of_a_record_keeps_its_identity(record):
    (again,) = _probe.read_frames(_probe.frame_of(dict(record), 7))
    for key in ("run_id", "process_id", "sequence"):
        assert again.get(key) == record.get(key)


def test_the_identity_of_a_run_survives_a_dict():
    given = {"run_id": bytes(range(16)).hex(), "process_id": 2**64 - 1, "sequence": 3}
    (record,) = _probe.read_frames(_probe.frame_of(given, 7))
    assert {key: record[key] for key in given} == given


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"process_id": 0, "sequence": 3},
        {"process_id": 5},
        {"process_id": "5", "sequence": 3},
        {"process_id": 5, "sequence": 2**32},
        {"process_id": -5, "sequence": 3.5},
    ],
)
def test_a_dict_without_identity_gets_the_number_of_the_caller(given):
    (record,) = _probe.read_frames(_probe.frame_of(given, 7))
    assert (record["process_id"], record["sequence"]) == (0, 7)
    assert "run_id" not in record
