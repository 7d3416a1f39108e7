# SPDX-License-Identifier: BSD-3-Clause
"""`_roastcoffea_current_chunk`: a dict that is there while a chunk is measured."""

from __future__ import annotations

from support import Events, fail, make_processor, measure

NAME = "_roastcoffea_current_chunk"


def test_chunk_exists_exactly_while_one_is_measured():
    seen = []
    analysis = make_processor(lambda self, events: seen.append(hasattr(self, NAME)))
    assert not hasattr(analysis, NAME)
    analysis.process(Events())
    assert not hasattr(analysis, NAME)
    analysis._roastcoffea_collect_metrics = False
    analysis.process(Events())
    assert seen == [True, False]


def test_chunk_is_gone_after_a_failure():
    held = []

    def work(self, events):
        held.append(self)
        self._roastcoffea_current_chunk["before"] = 1
        raise ValueError("mine")

    _, record = fail(work)
    assert not hasattr(held[0], NAME)
    assert record["before"] == 1


def test_chunk_is_seen_through_any_object_of_the_class():
    def work(self, events):
        type(self)()._roastcoffea_current_chunk["mine"] = 1

    assert measure(work)["mine"] == 1


def test_each_chunk_begins_empty():
    analysis = make_processor(
        lambda self, events: {"seen": dict(self._roastcoffea_current_chunk)}
    )
    for _ in range(2):
        seen = analysis.process(Events())["seen"]
        assert set(seen) <= {"timing", "memory", "bytes"}
        assert not any(seen.values())


def test_chunk_works_like_a_dict():
    def work(self, events):
        chunk = self._roastcoffea_current_chunk
        chunk["n"] = 1
        chunk["n"] += 1
        chunk.setdefault("list", []).append("x")
        chunk.update(a=1, b=2)
        del chunk["b"]
        assert "n" in chunk
        assert self._roastcoffea_current_chunk is chunk

    record = measure(work)
    assert (record["n"], record["list"], record["a"]) == (2, ["x"], 1)
    assert "b" not in record


def test_chunk_used_after_its_end_is_harmless():
    held = []
    measure(lambda self, events: held.append(self._roastcoffea_current_chunk))
    held[0]["late"] = 1
    assert "late" not in measure(lambda *_: None)
