# SPDX-License-Identifier: BSD-3-Clause
"""Workers that cannot import us do the work all the same; and records of decorated
calls that no run requested for wait where they always did."""

from __future__ import annotations

import functools
import pickle

import loky
import pytest
from coffea.processor import FuturesExecutor, IterativeExecutor, ProcessorABC

from outputs import Measured, once, places, run
from roastcoffea import MetricsCollector, _probe, track_metrics, track_time
from roastcoffea.coffea.work_function import Token, WorkFunction
from support import (
    KEY,
    Events,
    cloudpickle_alone,
    make_processor,
    run_bare,
    waiting,
)

CHUNK = 500
TOKEN = Token(bytes(range(16)), 7, ("/nowhere",), False)


def work_of(data, folder):
    """What a pickle is to an interpreter that finds cloudpickle only."""
    path = folder / "data"
    path.write_bytes(data)
    script = """
        import pickle, sys
        sys.path.append(sys.argv[2])
        try:
            import roastcoffea
        except ImportError:
            pass
        else:
            raise SystemExit("this interpreter is not without us")
        work = pickle.loads(open(sys.argv[1], "rb").read())
        print(work, getattr(work, "func", None), work([1, 2, 3]))
    """
    return run_bare(script, path, cloudpickle_alone(folder))


def test_work_function_is_the_plain_one_where_we_are_not(tmp_path):
    data = pickle.dumps(WorkFunction(len, TOKEN))
    expected = "<built-in function len> None 3\n"
    assert work_of(data, tmp_path) == expected


def test_work_function_in_a_partial_as_coffea_sends_it(tmp_path):
    data = pickle.dumps(functools.partial(WorkFunction(max, TOKEN), key=None))
    assert work_of(data, tmp_path).endswith("<built-in function max> 3\n")


def test_work_function_comes_back_where_we_are():
    work = pickle.loads(pickle.dumps(WorkFunction(len, TOKEN)))
    assert type(work) is WorkFunction
    assert work.token == TOKEN
    assert work.function is len


def make_worker_without_us():
    """What a worker does first that has coffea but nothing of ours."""

    def forbid():
        import sys

        sys.modules["roastcoffea"] = None

    return forbid


def make_local_processor():
    """Taken by value: the module of this test cannot be imported there."""

    class Local(ProcessorABC):
        @track_metrics
        def process(self, events):
            import sys

            with track_time(self, "time"):
                here = sys.modules.get("roastcoffea") is not None
                return {"n": len(events), f"with us: {here}": 1}

        def postprocess(self, accumulator):
            return accumulator

    return Local()


@pytest.fixture(scope="module")
def without_us():
    """A run with workers that cannot import us: its collector and output."""
    with loky.ProcessPoolExecutor(1, initializer=make_worker_without_us()) as pool:

        def go(path):
            executor = FuturesExecutor(pool=pool, status=False)
            with MetricsCollector() as collector:
                output = run(make_local_processor(), path, executor, CHUNK)
            return collector, output

        yield go


@pytest.mark.usefixtures("unmeasured")
def test_workers_without_us_give_the_result(without_us, tiny_file):
    _, output = without_us(tiny_file)
    assert output == {"n": 3000, "with us: False": 3000 // CHUNK}


@pytest.mark.usefixtures("unmeasured")
def test_run_with_such_workers_knows_what_it_did_not_see(without_us, tiny_file):
    collector, _ = without_us(tiny_file)
    metrics = collector.get_metrics()
    assert collector.chunk_metrics == []
    assert metrics["num_chunks"] == 3000 // CHUNK
    assert metrics["total_events"] == 3000
    assert metrics["failures"] == []
    assert "chunk_duration_mean" in metrics["unavailable"]
    assert "chunk_duration_mean" not in metrics


# ---- decorated calls outside of any run ---------------------------------------------


def test_calls_outside_of_a_run_use_the_outbox_as_ever():
    analysis = make_processor(lambda *_: 7)
    assert analysis.process(Events()) == 7
    assert len(waiting()) == 1


def test_calls_in_a_block_but_not_of_a_runner_belong_to_it(tiny_file):
    """The user's own switch is on; a run of coffea in between changes nothing."""
    analysis = make_processor(lambda *_: 7)
    with MetricsCollector() as collector:
        analysis.process(Events())
        run(Measured("int"), tiny_file, IterativeExecutor(status=False), CHUNK)
        analysis.process(Events())
    assert waiting() == []
    own = [c for c in collector.chunk_metrics if c["file"] == "/data/ttbar.root"]
    assert len(own) == 2
    others = [c for c in collector.chunk_metrics if c not in own]
    assert places(others) == once(tiny_file, CHUNK)


def test_second_processor_called_by_hand_in_a_chunk_does_not_take_its_place(tiny_file):
    """The chunk of the run is the outer call; the inner one is a part of it."""
    inner = make_processor(lambda *_: {"inner": 1})

    class Outer(ProcessorABC):
        @track_metrics
        def process(self, events):
            made = inner.process(Events())
            return {"n": len(events), "carried": len(made.get(KEY, ()))}

        def postprocess(self, accumulator):
            return accumulator

    with MetricsCollector() as collector:
        output = run(Outer(), tiny_file, IterativeExecutor(status=False), CHUNK)
    assert output["n"] == 3000
    assert places(collector.chunk_metrics) == once(tiny_file, CHUNK)
    assert output["carried"] == 0
    assert waiting() == []
    (section,) = collector.chunk_metrics[0]["sections"]
    assert section["section_name"].endswith("Processor.process")


def test_end_of_an_attempt_that_was_never_begun_is_nothing():
    assert _probe.attempt_end(_probe.process_id(), (), None) is None
    assert make_processor(lambda *_: 7).process(Events()) == 7
    assert len(waiting()) == 1
