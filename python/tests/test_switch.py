# SPDX-License-Identifier: BSD-3-Clause
"""When a decorated process() measures and when it does not, and that it stays the
function it was in every other respect."""

from __future__ import annotations

import pytest
from coffea import processor
from coffea.nanoevents import NanoAODSchema

from roastcoffea import track_metrics
from support import KEY, Events, run_python, waiting

SWITCH = "_roastcoffea_collect_metrics"


class Counting:
    """Counts events; off unless switched on."""

    @track_metrics
    def process(self, events, scale=1, *more, factor=1, **others):
        """Count, times two."""
        return {"n": len(events) * scale * factor, "more": more, "others": others}


def measured(output):
    return len(output.get(KEY, []))


def test_default_is_off():
    assert Counting().process(Events()) == {"n": 10, "more": (), "others": {}}
    assert not hasattr(Counting(), SWITCH)  # nothing is written to the user's class
    assert waiting() == []


@pytest.mark.parametrize(("value", "records"), [(True, 1), (False, 0), (1, 1), (0, 0)])
def test_flag_of_the_instance_switches(value, records):
    analysis = Counting()
    analysis._roastcoffea_collect_metrics = value
    assert measured(analysis.process(Events())) == records


def test_flag_can_be_changed_between_chunks():
    analysis = Counting()
    seen = []
    for value in (True, False, True):
        analysis._roastcoffea_collect_metrics = value
        seen.append(measured(analysis.process(Events())))
    assert seen == [1, 0, 1]


def test_users_false_is_respected_over_the_class():
    class On(Counting):
        _roastcoffea_collect_metrics = True

    analysis = On()
    assert measured(analysis.process(Events())) == 1
    analysis._roastcoffea_collect_metrics = False
    assert measured(analysis.process(Events())) == 0
    assert analysis._roastcoffea_collect_metrics is False


def test_flag_of_a_class_does_not_leak_to_others():
    class On(Counting):
        _roastcoffea_collect_metrics = True

    class Sibling(Counting):
        pass

    assert measured(On().process(Events())) == 1
    assert measured(Sibling().process(Events())) == 0
    assert measured(Counting().process(Events())) == 0


def test_flag_may_be_a_property():
    class Chosen(Counting):
        @property
        def _roastcoffea_collect_metrics(self):
            return True

    assert measured(Chosen().process(Events())) == 1


def test_slots_without_room_for_the_flag():
    class Slim:
        __slots__ = ("n",)

        @track_metrics
        def process(self, events):
            self.n = len(events)
            return {"n": self.n}

    assert Slim().process(Events()) == {"n": 10}
    Slim._roastcoffea_collect_metrics = True
    assert measured(Slim().process(Events())) == 1


def test_slots_with_room_for_the_flag():
    class Roomy:
        __slots__ = (SWITCH,)

        @track_metrics
        def process(self, events):
            return {}

    analysis = Roomy()
    assert analysis.process(Events()) == {}
    analysis._roastcoffea_collect_metrics = True
    assert measured(analysis.process(Events())) == 1


def test_foreign_getattr_does_not_reach_the_user():
    """Such a class is common: attributes come from a config."""

    class Configured:
        def __init__(self):
            self.config = {"cut": 3}

        def __getattr__(self, name):
            return self.config[name]  # KeyError, not AttributeError

        @track_metrics
        def process(self, events):
            return {"cut": self.cut}

    assert Configured().process(Events()) == {"cut": 3}


def test_class_that_takes_no_attributes_is_measured_all_the_same(monitor_errors):
    class Closed(type):
        def __setattr__(cls, name, value):
            raise TypeError("closed")

    class Sealed(metaclass=Closed):
        def __init__(self):
            self._roastcoffea_collect_metrics = True

        @track_metrics
        def process(self, events):
            return {}

    analysis = Sealed()
    outputs = [analysis.process(Events()) for _ in range(150)]
    assert sum(map(measured, outputs)) == 150
    assert monitor_errors() <= 1


# ---- functions ---------------------------------------------------------------------


def test_function_is_switched_by_its_attribute():
    @track_metrics
    def analyse(events):
        return {"n": len(events)}

    assert analyse(Events()) == {"n": 10}
    analyse._roastcoffea_collect_metrics = True
    (record,) = analyse(Events())[KEY]
    assert (record["num_events"], record["dataset"]) == (10, "ttbar")
    (record,) = analyse(events=Events(4))[KEY]
    assert record["num_events"] == 4


@pytest.mark.filterwarnings("ignore::RuntimeWarning:coffea")
def test_function_runs_in_coffea(tiny_file):
    @track_metrics
    def analyse(events):
        return {"n": len(events)}

    analyse._roastcoffea_collect_metrics = True
    executor = processor.IterativeExecutor(status=False, retries=0)
    runner = processor.Runner(executor, schema=NanoAODSchema, chunksize=1000)
    output = runner({"x": {"files": {str(tiny_file): "Events"}}}, analyse)
    assert output["n"] == 3000
    assert [record["entry_start"] for record in output[KEY]] == [0, 1000, 2000]


def test_decorated_staticmethod_inside_and_out():
    class Static:
        @staticmethod
        @track_metrics
        def inside(events):
            return {"n": len(events)}

        @track_metrics
        @staticmethod
        def outside(events):
            return {"n": len(events)}

    for call in (Static.inside, Static().inside, Static.outside, Static().outside):
        assert call(Events()) == {"n": 10}


def test_decorated_classmethod_keeps_its_class(monitor_errors):
    class Own:
        @classmethod
        @track_metrics
        def process(cls, events):
            return {"name": cls.__name__}

    for call in (Own.process, Own().process):
        assert call(Events()) == {"name": "Own"}
    assert monitor_errors() <= 1  # `type` takes no attributes


def test_staticmethod_is_measured_as_a_function():
    class Static:
        @staticmethod
        @track_metrics
        def process(events):
            return {"n": len(events)}

    Static.process._roastcoffea_collect_metrics = True
    (record,) = Static().process(Events())[KEY]
    assert record["num_events"] == 10


def test_method_written_outside_its_class_is_a_method():
    """As of a notebook cell that patches process() in later."""
    source = (
        "@track_metrics\ndef process(self, events):\n    return {'n': len(events)}\n"
    )
    names = {"track_metrics": track_metrics}
    exec(source, names)
    analysis = type("Patched", (), {"process": names["process"]})()
    assert analysis.process(Events()) == {"n": 10}
    analysis._roastcoffea_collect_metrics = True
    (record,) = analysis.process(Events())[KEY]
    assert record["num_events"] == 10


# ---- environment ---------------------------------------------------------------------


@pytest.mark.parametrize("value", [" OFF ", "off", "Off"])
def test_environment_switches_everything_off(value):
    script = """
        from support import KEY, Events, waiting
        import roastcoffea
        from roastcoffea import *

        def process(self, events):
            with track_time(self, "a"), track_memory(self, "b"):
                with track_bytes(self, events, "c"), track_section(self, "d"):
                    assert not hasattr(self, "_roastcoffea_current_chunk")
                    BaseInstrumentationContext(self).record_metric("x", 1)
                    return {"n": len(events)}

        assert track_metrics(process) is process
        Analysis = type("Analysis", (), {"process": track_metrics(process)})
        Analysis._roastcoffea_collect_metrics = True
        assert Analysis().process(Events()) == {"n": 10}
        assert waiting() == []
        assert not hasattr(Analysis, "_roastcoffea_current_chunk")
        assert roastcoffea._probe.status()["enabled"] is False
    """
    run_python(script, ROASTCOFFEA=value)


def test_other_values_of_the_environment_do_not_switch_off():
    script = "import roastcoffea._probe as p; print(p.status()['enabled'])"
    assert run_python(script, ROASTCOFFEA="on").strip() == "True"
