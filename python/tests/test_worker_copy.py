# SPDX-License-Identifier: BSD-3-Clause
"""The worker part is unpacked into a folder and imported from there, by an interpreter
that has nothing of ours: the first folder from which it loads, and never rewritten."""

from __future__ import annotations

import os
import pickle
import textwrap
from pathlib import Path

import cloudpickle
import distributed
import pytest

from roastcoffea import track_metrics
from roastcoffea._by_value import ByValue, dumps_by_value
from roastcoffea.dask import install, scheduler_plugin, worker_plugin
from support import run_python

HEAD = """
    import os, pickle, sys
    from pathlib import Path

    class Without:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] in ("roastcoffea", "coffea_metrics"):
                raise ModuleNotFoundError(name)

    without = Without()
    sys.meta_path.insert(0, without)
    folder = Path(sys.argv[1])
    load_copy, name, files = pickle.loads((folder / "data").read_bytes())
    own, other = folder / "own", folder / "other"
    before = list(sys.path), list(sys.meta_path)

    def ours():
        return sorted(x for x in sys.modules if "roast" in x)

    def unpacked(where):
        return sorted(x.name for x in where.iterdir())
"""
IMPORTED = """
    assert (list(sys.path), list(sys.meta_path)) == before
    package = sys.modules[name]
    function = package.track_metrics(lambda events: len(events))
    function._roastcoffea_collect_metrics = True
    assert function([1, 2]) == 2
    records, _ = sys.modules[name + "._probe"].take_records()
    assert len(records) == 1
    print("ran")
"""


@pytest.fixture
def run(tmp_path):
    sent = install.package()
    (tmp_path / "own").mkdir()
    (tmp_path / "other").mkdir()

    def run(*scripts, files=sent.files):
        load_copy = ByValue(worker_plugin.load_copy, otherwise=None)
        (tmp_path / "data").write_bytes(pickle.dumps((load_copy, sent.name, files)))
        script = "\n".join(textwrap.dedent(each) for each in (HEAD, *scripts))
        return run_python(script, tmp_path)

    return run


def test_it_is_imported_from_the_first_folder(run):
    script = """
        load_copy(name, files, (str(own), str(other)))
        assert unpacked(own) == [f"{name}-{os.getuid()}"], unpacked(own)
        assert unpacked(other) == []
    """
    assert run(script, IMPORTED) == "ran\n"


@pytest.mark.parametrize("obstacle", ["shutil.rmtree(own)", "own.rmdir(); own.touch()"])
def test_where_a_folder_cannot_be_written_the_next_one_is_used(run, obstacle):
    script = f"""
        import shutil
        {obstacle}
        load_copy(name, files, (str(own), str(other)))
        assert unpacked(other) == [f"{{name}}-{{os.getuid()}}"]
    """
    assert run(script, IMPORTED) == "ran\n"


def test_where_a_folder_forbids_to_load_the_next_one_is_used(run):
    """A file system mounted with noexec, as far as the loader can see."""
    script = """
        from importlib import machinery
        create = machinery.ExtensionFileLoader.create_module

        def refuse(loader, spec):
            if str(own) in spec.origin:
                raise ImportError("failed to map segment from shared object")
            return create(loader, spec)

        machinery.ExtensionFileLoader.create_module = refuse
        load_copy(name, files, (str(own), str(other)))
        machinery.ExtensionFileLoader.create_module = create
        assert unpacked(own) == []
        assert str(other) in sys.modules[name].__file__
    """
    assert run(script, IMPORTED) == "ran\n"


def test_where_no_folder_will_do_the_reason_is_given_and_nothing_is_left(run):
    script = """
        try:
            load_copy(name, files, (str(own / "missing"), str(other / "missing")))
        except ImportError as error:
            assert "No such file" in str(error) and "2 folders" in str(error), error
        else:
            raise SystemExit("it came from nowhere")
        assert ours() == []
        assert (list(sys.path), list(sys.meta_path)) == before
        print("ran")
    """
    assert run(script) == "ran\n"


def test_folder_of_another_process_is_used_and_not_rewritten(run):
    load = "load_copy(name, files, (str(own),))"
    look = """
        (root,) = own.iterdir()
        times = sorted((str(x), x.stat().st_mtime_ns) for x in root.rglob("*.py"))
        print(times)
    """
    first = run(load, look)
    assert run(load, look) == first


@pytest.mark.parametrize(
    "tampering", ["(root / name / 'decorator.py').write_text('x')", "root.chmod(0o777)"]
)
def test_folder_that_others_could_have_written_is_not_used(run, tampering):
    run("load_copy(name, files, (str(own),))")
    script = f"""
        (root,) = own.iterdir()
        {tampering}
        load_copy(name, files, (str(own),))
        assert len(unpacked(own)) == 2
        assert str(root) + "/" not in sys.modules[name].__file__
    """
    assert run(script, IMPORTED) == "ran\n"


def test_two_threads_load_it_once(run):
    script = """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(4) as pool:
            for done in [
                pool.submit(load_copy, name, files, (str(where),))
                for where in (own, other, own, other)
            ]:
                done.result()
        probes = {line.split()[-1] for line in open("/proc/self/maps") if name in line}
        assert len(probes) == 1, probes
    """
    assert run(script, IMPORTED) == "ran\n"


# ---- pickles by value ----------------------------------------------------------------


PAYLOAD = install.scheduler_payload("mark", "client", 1.0)
SENT = {
    "scheduler": install.scheduler_plugin(PAYLOAD),
    "worker": install.worker_plugin("mark"),
    "leave": PAYLOAD["leave_function"],
    "spans": dumps_by_value(scheduler_plugin.spans_on),
    "functions": cloudpickle.dumps(track_metrics),
}


@pytest.mark.parametrize("sent", SENT)
def test_pickles_need_no_module_of_ours(tmp_path, sent):
    """None is imported where they are unpickled."""
    (tmp_path / "data").write_bytes(SENT[sent])
    script = """
        import pickle, sys

        class Without:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] == "roastcoffea":
                    raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, Without())
        found = pickle.loads(open(sys.argv[1], "rb").read())
        assert callable(found) or hasattr(found, "mark")
        print([name for name in sys.modules if "roastcoffea" in name])
    """
    assert run_python(script, tmp_path / "data") == "[]\n"


def test_registry_of_cloudpickle_is_as_it_was():
    before = cloudpickle.list_registry_pickle_by_value()
    dumps_by_value.cache_clear()
    dumps_by_value(worker_plugin.Plugin)
    assert cloudpickle.list_registry_pickle_by_value() == before


def test_another_version_of_python_never_loads_bytecode(monkeypatch):
    """It gets a plugin that does nothing, and the plain work function."""
    from roastcoffea import _by_value
    from roastcoffea.coffea.work_function import Token, WorkFunction

    monkeypatch.setattr(_by_value, "MAGIC_NUMBER", b"other")
    plugin = pickle.loads(install.worker_plugin("mark"))
    assert type(plugin) is distributed.WorkerPlugin
    token = Token(bytes(16), 7, (), False)
    assert pickle.loads(pickle.dumps(WorkFunction(len, token))) is len
    payload = install.scheduler_payload("mark", "client", 1.0)
    with pytest.raises(KeyError, match="another version of Python"):
        pickle.loads(install.scheduler_plugin(payload))


def test_digest_of_the_files_is_in_the_name():
    sent = install.package()
    assert sent.name.startswith("_roastcoffea_")
    assert len(sent.name.rpartition("_")[2]) == 16
    assert Path(worker_plugin.__file__).name not in map(os.path.basename, sent.files)
