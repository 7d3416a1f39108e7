# SPDX-License-Identifier: BSD-3-Clause
"""Coffea's function that packs results: replaced while somebody waits for it, whatever
happens meanwhile, and the identical object afterwards."""

from __future__ import annotations

import threading

import coffea.processor.executor as module
import pytest

from hooked import Originals
from roastcoffea.coffea.packing import Packing

RUN = bytes(16)


@pytest.fixture
def packing():
    originals = Originals()
    yield Packing()
    originals.check()


class Told:
    """Counts how often it is told, and may fail."""

    def __init__(self, error=None):
        self.packed = []
        self.error = error

    @property
    def times(self):
        return len(self.packed)

    def __call__(self, is_packed):
        self.packed.append(is_packed)
        if self.error:
            raise self.error


def pack():
    return module._compress({"n": 1}, 1)


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_one_packing_is_told(packing):
    told = Told()
    packing.expect(RUN, told)
    assert module._decompress(pack()) == {"n": 1}
    pack()
    assert told.packed == [True]


def test_others_are_not(packing):
    told = Told()
    packing.expect(RUN, told)
    in_thread(pack)
    assert told.times == 0
    pack()
    assert told.times == 1


def test_what_cannot_be_packed_is_told_too(packing):
    told = Told()
    packing.expect(RUN, told)
    with pytest.raises(TypeError, match="cannot pickle"):
        module._compress(threading.Lock(), 1)
    assert told.times == 1


def test_a_ctrl_c_while_it_is_told_leaves_nothing(packing):
    packing.expect(RUN, Told(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        pack()


def test_an_end_that_waits_in_vain_is_sent_unpacked(packing):
    told = Told()
    packing.expect(RUN, told)
    packing.expect(RUN, told)  # twice is once
    packing.flush_thread()
    packing.flush_thread()
    pack()
    assert told.packed == [False]


def test_ends_of_one_run_are_sent_from_any_thread(packing):
    mine, other = Told(), Told()
    packing.expect(RUN, mine)
    in_thread(lambda: packing.expect(b"another", other))
    in_thread(lambda: packing.flush(RUN))
    assert (mine.packed, other.packed) == ([False], [])
    assert module._compress is packing.ours
    packing.clear()
    assert (mine.packed, other.packed) == ([False], [False])


def test_a_thread_of_an_earlier_run_takes_nothing_from_the_next(packing):
    """It packs when its run is over already, and another one has begun."""
    early, late, goes_on, waits = Told(), Told(), threading.Event(), threading.Event()

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
    assert (early.packed, late.packed) == ([False], [True])


def test_what_somebody_else_puts_there_stays(packing, monkeypatch):
    def mine(item, compression):
        return original(item, compression)

    told, original = Told(), module._compress
    monkeypatch.setattr(module, "_compress", original)  # put back at the end
    packing.expect(RUN, told)
    ours, module._compress = module._compress, mine
    packing.clear()
    assert module._compress is mine
    ours({"n": 1}, 1)  # by code that kept it
    assert told.packed == [False]


def test_without_such_a_function_nothing_is_put_there(packing, monkeypatch):
    with monkeypatch.context() as patch:
        patch.delattr(module, "_compress")
        assert not packing.is_possible()
        packing.expect(RUN, Told())
        assert not hasattr(module, "_compress")
