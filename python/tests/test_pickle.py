# SPDX-License-Identifier: BSD-3-Clause
"""Decorated code travels by pickle and cloudpickle, by reference and by value."""

from __future__ import annotations

import pickle
import sys
import textwrap

import cloudpickle
import pytest

from pickled_code import (
    check,
    make_local,
    make_local_by_module,
    make_local_function,
    on,
)
from roastcoffea import (
    BaseInstrumentationContext,
    track_bytes,
    track_memory,
    track_metrics,
    track_section,
    track_time,
)
from support import KEY, Events, run_python

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


@pytest.mark.parametrize("register", ["", "cloudpickle.register_pickle_by_value(ours)"])
def test_class_of_main_is_pickled_in_a_script(tmp_path, register):
    script = f"""
        import cloudpickle
        import roastcoffea as ours
        {register}
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
    load = """
        import pickle, sys
        from support import KEY, Events
        analysis, analyse = pickle.load(open(sys.argv[1], "rb"))
        assert len(analysis.process(Events())[KEY]) == 1
        assert analyse(Events()) == {"n": 10}
    """
    run_python(load, path)
