# SPDX-License-Identifier: BSD-3-Clause
"""Coffea's function that packs results: replaced while an end frame waits, whatever
happens meanwhile, and the identical object afterwards."""

from __future__ import annotations

import threading

import coffea.processor.executor as module
import pytest

from hook_checks import Originals
from roastcoffea.coffea.packing import Packing

RUN = bytes(16)


@pytest.fixture
def packing():
    originals = Originals()
    yield Packing()
    originals.check()


class Reported:
    """Counts its calls, and may fail."""

    def __init__(self, error=None):
        self.packed = []
        self.error = error

    @property
    def times(self):
        return len(self.packed)

    def __call__(self, size):
        self.packed.append(size)
        if self.error:
            raise self.error


def pack():
    return module._compress({"n": 1}, 1)


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_one_packing_is_reported(packing):
    reported = Reported()
    packing.expect(RUN, reported)
    result = pack()
    assert module._decompress(result) == {"n": 1}
    pack()
    assert reported.packed == [len(result)]


def test_others_are_not(packing):
    reported = Reported()
    packing.expect(RUN, reported)
    in_thread(pack)
    assert reported.times == 0
    pack()
    assert reported.times == 1


def test_result_that_cannot_be_packed_is_reported(packing):
    reported = Reported()
    packing.expect(RUN, reported)
    with pytest.raises(TypeError, match="cannot pickle"):
        module._compress(threading.Lock(), 1)
    assert reported.packed == [0]


def test_a_ctrl_c_during_a_report_leaves_nothing(packing):
    packing.expect(RUN, Reported(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        pack()


def test_an_end_that_waits_in_vain_is_sent_unpacked(packing):
    reported = Reported()
    packing.expect(RUN, reported)
    packing.expect(RUN, reported)  # twice is once
    packing.flush_thread()
    packing.flush_thread()
    pack()
    assert reported.packed == [None]


def test_ends_of_one_run_are_sent_from_any_thread(packing):
    mine, other = Reported(), Reported()
    packing.expect(RUN, mine)
    in_thread(lambda: packing.expect(b"another", other))
    in_thread(lambda: packing.flush(RUN))
    assert (mine.packed, other.packed) == ([None], [])
    assert module._compress is packing.ours
    packing.clear()
    assert (mine.packed, other.packed) == ([None], [None])


def test_a_thread_of_an_earlier_run_takes_nothing_from_the_next(packing):
    """It packs when its run is over already, and another one has begun."""
    early, late, goes_on, waits = (
        Reported(),
        Reported(),
        threading.Event(),
        threading.Event(),
    )

    def leftover():
        packing.expect(RUN, early)
        waits.set()
        assert goes_on.wait(60)
        pack()

    thread = threading.Thread(target=leftover)
    thread.start()
    assert waits.wait(60)
    packing.clear()
    packing.expect(RUN, late)
    goes_on.set()
    thread.join()
    assert module._compress is packing.ours
    pack()
    assert (early.packed, late.packed) == ([None], [len(pack())])


def test_wrappers_of_other_code_stay(packing, monkeypatch):
    def mine(item, compression):
        return original(item, compression)

    reported, original = Reported(), module._compress
    monkeypatch.setattr(module, "_compress", original)  # put back at the end
    packing.expect(RUN, reported)
    ours, module._compress = module._compress, mine
    packing.clear()
    assert module._compress is mine
    ours({"n": 1}, 1)  # by code that kept it
    assert reported.packed == [None]


def test_without_such_a_function_nothing_is_put_there(packing, monkeypatch):
    with monkeypatch.context() as patch:
        patch.delattr(module, "_compress")
        assert not packing.is_possible()
        packing.expect(RUN, Reported())
        assert not hasattr(module, "_compress")
