# SPDX-License-Identifier: BSD-3-Clause
"""Decorated code runs unmeasured where nothing of ours is installed, and records arrive
there as bytes."""

from __future__ import annotations

import pickle
import textwrap

import cloudpickle
import pytest

import roastcoffea
from pickled_code import (
    check,
    make_local,
    make_local_by_module,
    make_local_function,
    on,
)
from roastcoffea import track_bytes, track_metrics, track_time
from support import KEY, Events, cloudpickle_alone, run_bare


@pytest.fixture
def lonely(tmp_path):
    """Runs a script that finds only cloudpickle, and `data`, a pickle."""
    site = cloudpickle_alone(tmp_path)

    def run(data, script):
        (tmp_path / "data").write_bytes(data)
        head = f"""
            import pickle, sys
            sys.path.append({str(site)!r})
            try:
                import roastcoffea
            except ImportError:
                pass
            else:
                raise SystemExit("this interpreter is not without us")
            data = open({str(tmp_path / "data")!r}, "rb").read()
        """
        return run_bare(textwrap.dedent(head) + textwrap.dedent(script))

    return run


@pytest.mark.parametrize("make", [make_local, make_local_by_module])
def test_class_runs_unmeasured_where_nothing_is_installed(lonely, by_value, make):
    script = """
        analysis = pickle.loads(data)
        assert analysis.process([1, 2, 3]) == {"n": 3}
        assert not hasattr(analysis, "_roastcoffea_current_chunk")
        assert pickle.loads(pickle.dumps(data)) == data
        print("ran")
    """
    assert lonely(cloudpickle.dumps(on(make()())), script) == "ran\n"


def test_class_runs_there_without_registering_the_package(lonely):
    """Only names of the module itself (`roastcoffea.x`) need that."""
    script = "print(pickle.loads(data).process([1, 2, 3]))"
    assert lonely(cloudpickle.dumps(on(make_local()())), script) == "{'n': 3}\n"


def test_function_runs_unmeasured_where_nothing_is_installed(lonely):
    script = "print(pickle.loads(data)([1, 2, 3]))"
    data = cloudpickle.dumps(on(make_local_function()))
    assert lonely(data, script) == "{'n': 3}\n"


def test_what_came_back_from_there_is_measured_again(lonely, tmp_path):
    back = tmp_path / "back"
    script = f"""
        import cloudpickle
        analysis = pickle.loads(data)
        open({str(back)!r}, "wb").write(cloudpickle.dumps(analysis))
    """
    lonely(cloudpickle.dumps(on(make_local()())), script)
    check(pickle.loads(back.read_bytes()))


def test_names_do_nothing_where_nothing_is_installed(lonely):
    script = """
        track_metrics, track_time, track_bytes = pickle.loads(data)
        function = lambda events: len(events)
        assert track_metrics(function) is function
        with track_time(None, "a"), track_bytes(None, events=[], name="b"):
            pass
        with track_time(processor=None, name="a"):
            print("ran")
    """
    data = pickle.dumps([track_metrics, track_time, track_bytes])
    assert lonely(data, script) == "ran\n"


def test_records_arrive_there_as_bytes(lonely):
    output = on(make_local()()).process(Events())
    script = """
        output = pickle.loads(data)
        (record,) = output["__roastcoffea_metrics__"]
        assert type(record) is bytes
        assert output["n"] == 10
        print(record.hex())
    """
    frame = bytes.fromhex(lonely(pickle.dumps(output), script))
    (record,) = roastcoffea._probe.read_frames(frame)
    assert record == output[KEY][0]
