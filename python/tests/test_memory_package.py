# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the worker part is imported from memory, by an interpreter that has nothing
but the standard library, whatever that allows; and is gone again."""

from __future__ import annotations

import pickle
import textwrap

import pytest

from roastcoffea.dask import memory_package, recipe, shipping
from support import run_bare

HEAD = """
    import os, pickle, sys, tempfile
    folder = sys.argv[1]
    source, name, files = pickle.load(open(os.path.join(folder, "data"), "rb"))
    tempfile.tempdir = os.path.join(folder, "tmp")
    os.mkdir(tempfile.tempdir)
    here = {"__name__": "memory_package"}
    exec(source, here)
    bring, remove = here["bring"], here["remove"]
    def state():
        return sorted(sys.modules), list(sys.meta_path), list(sys.path)
"""
IMPORTED = """
    from roastcoffea import track_metrics
    import roastcoffea.coffea.switch, coffea_metrics
    assert sys.modules[name] is roastcoffea is coffea_metrics
    assert sys.modules[name + ".adapters.switch"] is roastcoffea.coffea.switch
    function = track_metrics(lambda events: len(events))
    function._roastcoffea_collect_metrics = True
    assert function([1, 2]) == 2
    records, _ = roastcoffea._probe.take_records()
    assert len(records) == 1
    assert os.listdir(tempfile.tempdir) == []
"""


@pytest.fixture
def run(tmp_path):
    sent = shipping.package()
    data = (recipe.source_of(memory_package), sent.name, sent.files)
    (tmp_path / "data").write_bytes(pickle.dumps(data))

    def run(*scripts):
        script = "\n".join(textwrap.dedent(each) for each in (HEAD, *scripts))
        return run_bare(script + "\nprint('ran')", tmp_path)

    return run


def test_it_is_imported_without_a_file(run):
    script = """
        os.open = None
        bring(name, files, [])
    """
    assert run(script, IMPORTED) == "ran\n"


@pytest.mark.parametrize("lost", ["os.memfd_create", "here['os'].memfd_create"])
def test_where_there_are_no_such_files_it_is_a_file_for_a_moment(run, lost):
    script = f"""
        del {lost}
        own = os.path.join(folder, "own")
        os.mkdir(own)
        bring(name, files, [own, ""])
        assert os.listdir(own) == []
    """
    assert run(script, IMPORTED) == "ran\n"


def test_where_its_folder_cannot_be_written_there_is_another(run):
    script = """
        del os.memfd_create
        bring(name, files, [os.path.join(folder, "missing"), ""])
    """
    assert run(script, IMPORTED) == "ran\n"


def test_where_nothing_can_be_written_it_says_so_and_leaves_nothing(run):
    script = """
        del os.memfd_create
        before = state()
        try:
            bring(name, files, [os.path.join(folder, "missing")])
        except ImportError as error:
            assert "memfd_create" in str(error), error
        else:
            raise SystemExit("it came from nowhere")
        assert state() == before
    """
    assert run(script) == "ran\n"


def test_what_was_removed_comes_back_as_the_same(run):
    script = """
        import gc
        before = state()
        package = bring(name, files, [])
        probe = sys.modules[name + "._probe"]
        remove(name)
        assert state()[1:] == before[1:]
        assert not [module for module in sys.modules if "roast" in module]
        again = bring(name, files, [])
        assert again is package
        assert sys.modules[name + "._probe"] is probe
        lines = [x for x in open("/proc/self/maps") if name in x and " 00000000 " in x]
        assert len(lines) == 1, lines
    """
    assert run(script, IMPORTED) == "ran\n"


def test_public_name_that_is_taken_or_forbidden_stays_as_it_is(run):
    script = """
        import types
        sys.modules["roastcoffea"] = taken = types.ModuleType("roastcoffea")
        sys.modules["coffea_metrics"] = None
        package = bring(name, files, [])
        assert sys.modules["roastcoffea"] is taken
        assert sys.modules["coffea_metrics"] is None
        assert package.track_metrics
        remove(name)
        assert sys.modules["roastcoffea"] is taken
        assert sys.modules["coffea_metrics"] is None
    """
    assert run(script) == "ran\n"


def test_sources_of_it_are_shown_in_tracebacks(run):
    script = """
        import traceback
        package = bring(name, files, [])
        try:
            package.MetricsCollector()
        except ImportError:
            text = traceback.format_exc()
        assert "raise ImportError(f" in text, text
        assert "<memory>/" + name in text
    """
    assert run(script) == "ran\n"
