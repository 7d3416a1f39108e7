# SPDX-License-Identifier: BSD-3-Clause
"""Decorated code travels by pickle and cloudpickle, and runs unmeasured where nothing of
ours is installed."""

from __future__ import annotations

import pickle
import shutil
import sys
import textwrap
from pathlib import Path

import cloudpickle
import pytest

import roastcoffea
from roastcoffea import (
    BaseInstrumentationContext,
    track_bytes,
    track_memory,
    track_metrics,
    track_section,
    track_time,
)
from support import KEY, Events, run_bare, run_python

MODULE = """
    import roastcoffea
    from roastcoffea import track_bytes, track_memory, track_metrics, track_time

    class Analysis:
        @track_metrics
        def process(self, events):
            with track_time(self, "time"), track_memory(self, "memory"):
                with track_bytes(self, events, "bytes"):
                    with roastcoffea.track_section(self, "section"):
                        return {"n": len(events)}

    @track_metrics
    def analyse(events):
        return {"n": len(events)}
"""


def make_local():
    """A class that exists nowhere but here: cloudpickle takes it by value."""

    class Local:
        @track_metrics
        def process(self, events):
            with track_time(self, "time"), track_memory(self, "memory"):
                with track_bytes(self, events, "bytes"), track_section(self, "section"):
                    return {"n": len(events)}

    return Local


def make_local_by_module():
    """The same with names of the module `roastcoffea`."""

    class Local:
        @roastcoffea.track_metrics
        def process(self, events):
            with roastcoffea.track_time(self, "time"):
                with roastcoffea.track_section(self, "section"):
                    return {"n": len(events)}

    return Local


def make_local_function():
    @track_metrics
    def analyse(events):
        with track_time(None, "time"):
            return {"n": len(events)}

    return analyse


def on(analysis):
    analysis._roastcoffea_collect_metrics = True
    return analysis


def check(analysis, sections=("time", "section")):
    """It still works, measured and not."""
    output = on(analysis).process(Events())
    (record,) = output.pop(KEY)
    assert output == {"n": 10}
    assert list(record["timing"]) == list(sections)
    analysis._roastcoffea_collect_metrics = False
    assert analysis.process(Events()) == {"n": 10}


@pytest.fixture
def by_value():
    """Inside, cloudpickle takes our package by value, as users of 0.1.2 ask for."""
    cloudpickle.register_pickle_by_value(roastcoffea)
    yield
    cloudpickle.unregister_pickle_by_value(roastcoffea)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module with decorated code, on sys.path."""
    (tmp_path / "users_module.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.syspath_prepend(tmp_path)
    import users_module

    yield users_module
    del sys.modules["users_module"]


picklers = pytest.mark.parametrize("pickler", [pickle, cloudpickle])


@picklers
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_object_of_a_module_is_pickled_by_reference(module, pickler, protocol):
    data = pickler.dumps(on(module.Analysis()), protocol=protocol)
    assert b"roastcoffea_collect_metrics" in data
    assert b"_probe" not in data
    again = pickler.loads(data)
    assert type(again) is module.Analysis
    check(again)


@picklers
def test_function_of_a_module_is_pickled_by_reference(module, pickler):
    assert pickler.loads(pickler.dumps(module.analyse)) is module.analyse


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_names_pickle_to_themselves(protocol):
    names = [track_metrics, track_time, track_section, track_memory, track_bytes]
    again = pickle.loads(pickle.dumps(names, protocol=protocol))
    assert again == names
    base = pickle.loads(pickle.dumps(BaseInstrumentationContext, protocol=protocol))
    assert base is BaseInstrumentationContext


@pytest.mark.parametrize("make", [make_local, make_local_by_module])
def test_local_class_is_pickled_by_value(make):
    cls = make()
    again = cloudpickle.loads(cloudpickle.dumps(on(cls())))
    check(again)


@pytest.mark.parametrize("make", [make_local, make_local_by_module])
def test_local_class_with_our_package_by_value(by_value, make):
    check(cloudpickle.loads(cloudpickle.dumps(on(make()()))))


def test_local_function_keeps_its_switch():
    function = on(make_local_function())
    again = cloudpickle.loads(cloudpickle.dumps(function))
    assert again._roastcoffea_collect_metrics is True
    assert list(again(Events())[KEY][0]["timing"]) == ["time"]


def test_object_that_has_run_is_pickled_like_a_new_one():
    analysis = on(make_local()())
    analysis.process(Events())
    check(cloudpickle.loads(cloudpickle.dumps(analysis)))


def test_context_of_a_user_travels_by_value(by_value):
    class Tracker(BaseInstrumentationContext):
        def __exit__(self, *exc):
            self.record_metric("left", 1)

    class Local:
        @track_metrics
        def process(self, events):
            with Tracker(self, "tracker"):
                return {}

    again = cloudpickle.loads(cloudpickle.dumps(on(Local())))
    (record,) = again.process(Events())[KEY]
    assert record["custom_metrics"] == {"left": 1}


@pytest.mark.parametrize("by_value", ["", "cloudpickle.register_pickle_by_value(ours)"])
def test_class_of_main_is_pickled_in_a_script(tmp_path, by_value):
    script = f"""
        import cloudpickle
        import roastcoffea as ours
        {by_value}
        {textwrap.indent(textwrap.dedent(MODULE), " " * 8).strip()}

        import pickle
        analysis = Analysis()
        analysis._roastcoffea_collect_metrics = True
        from support import KEY, Events

        for dumps in (pickle.dumps, cloudpickle.dumps):
            (record,) = pickle.loads(dumps(analysis)).process(Events())[KEY]
            assert list(record["timing"]) == ["time", "section"], record
            assert list(record["memory"]) == ["memory"]
            assert pickle.loads(dumps(analyse))(Events()) == {{"n": 10}}
        import sys
        open(sys.argv[1], "wb").write(cloudpickle.dumps([analysis, analyse]))
    """
    path = tmp_path / "data.pickle"
    run_python(script, path)
    load = f"""
        import pickle, sys
        from support import KEY, Events
        analysis, analyse = pickle.load(open(sys.argv[1], "rb"))
        assert len(analysis.process(Events())[KEY]) == 1
        assert analyse(Events()) == {{"n": 10}}
    """
    run_python(load, path)


# ---- where nothing of ours is installed --------------------------------------------


@pytest.fixture
def lonely(tmp_path):
    """Runs a script that finds only cloudpickle, and `data`, a pickle."""
    package = Path(cloudpickle.__file__).parent
    shutil.copytree(package, tmp_path / "site" / "cloudpickle")

    def run(data, script):
        (tmp_path / "data").write_bytes(data)
        head = f"""
            import pickle, sys
            sys.path.append({str(tmp_path / "site")!r})
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
