# SPDX-License-Identifier: BSD-3-Clause
"""The names users import, and that importing them touches nothing else."""

from __future__ import annotations

import importlib.metadata
import inspect
import re
import subprocess
import sys
from importlib.resources import files

import pytest

import coffea_metrics
import roastcoffea
from roastcoffea import _probe
from support import ROOT, rss_bytes, run_python

NAMES = [
    "track_metrics",
    "track_time",
    "track_section",
    "track_memory",
    "track_bytes",
    "BaseInstrumentationContext",
    "RoastError",
    "FormatError",
    "__version__",
]


@pytest.mark.parametrize("name", NAMES)
def test_both_packages_offer_the_same_object(name):
    assert getattr(coffea_metrics, name) is getattr(roastcoffea, name)
    assert name in roastcoffea.__all__
    assert name in coffea_metrics.__all__


def test_packages_offer_what_they_say():
    assert sorted(coffea_metrics.__all__) == sorted(roastcoffea.__all__)
    for name in roastcoffea.__all__:
        assert hasattr(roastcoffea, name)


def test_names_are_where_scripts_for_older_versions_import_them():
    from roastcoffea.decorator import track_metrics
    from roastcoffea.instrumentation import (
        BaseInstrumentationContext,
        track_bytes,
        track_memory,
        track_section,
        track_time,
    )
    from roastcoffea.utils import get_process_memory

    assert track_metrics == roastcoffea.track_metrics
    assert track_time == roastcoffea.track_time
    assert track_section == roastcoffea.track_section
    assert track_memory == roastcoffea.track_memory
    assert track_bytes == roastcoffea.track_bytes
    assert BaseInstrumentationContext is roastcoffea.BaseInstrumentationContext
    assert get_process_memory() == pytest.approx(rss_bytes() / 2**20, rel=0.05)


def test_version_is_that_of_the_sources():
    text = (ROOT / "include" / "roast" / "version.h").read_text()
    assert roastcoffea.__version__ == re.search(r'ROAST_VERSION "(.+?)"', text)[1]
    assert _probe.version == roastcoffea.__version__


def test_version_is_that_of_the_distribution():
    try:
        installed = importlib.metadata.version("roastcoffea")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed but found on a path")
    assert installed == roastcoffea.__version__


def test_errors_are_runtime_errors_of_ours():
    assert issubclass(roastcoffea.FormatError, roastcoffea.RoastError)
    assert issubclass(roastcoffea.RoastError, RuntimeError)


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("track_metrics", "(func, /)"),
        ("track_time", "(processor, name)"),
        ("track_section", "(processor, name)"),
        ("track_memory", "(processor, name)"),
        ("track_bytes", "(processor, events, name)"),
    ],
)
def test_names_have_signatures(name, signature):
    function = getattr(roastcoffea, name)
    assert str(inspect.signature(function)) == signature
    assert function.__doc__


def test_fields_are_described():
    fields = _probe.fields()
    assert len({number for number, *_ in fields}) == len(fields)
    for number, name, unit, meaning in fields:
        assert number > 0
        assert name.isidentifier()
        assert unit
        assert meaning


# ---- importing ---------------------------------------------------------------------


@pytest.mark.parametrize("package", ["roastcoffea", "coffea_metrics"])
def test_import_brings_no_other_package_along(package):
    script = f"""
        import sys
        before = set(sys.modules)
        import {package}
        new = {{name.split(".")[0] for name in set(sys.modules) - before}}
        new -= set(sys.stdlib_module_names) | {{"roastcoffea", "coffea_metrics"}}
        print(*sorted(new - {{"__mp_main__"}}))  # another name of __main__
    """
    assert run_python(script).split() == []


def test_import_and_measuring_patch_nothing():
    script = """
        import coffea.processor, coffea.nanoevents, coffea.nanoevents.factory
        import coffea.processor.executor, coffea.nanoevents.mapping
        import uproot, uproot.reading, uproot.source.file, dask, dask.base, pickle, copy
        import sys

        packages = ("coffea", "uproot", "dask", "pickle", "copy")

        def attributes():
            found = {}
            for name, module in list(sys.modules.items()):
                if name.split(".")[0] not in packages:
                    continue
                for key, value in vars(module).items():
                    found[name, key] = id(value)
                    if isinstance(value, type) and value.__module__ == name:
                        for inner, part in vars(value).items():
                            found[name, key, inner] = id(part)
            return found

        kept = attributes()
        import roastcoffea
        from support import measure
        measure(lambda *_: None)
        now = attributes()
        changed = {key for key in kept if kept[key] != now.get(key)}
        assert not changed, changed
        assert len(kept) > 1000
    """
    run_python(script)


def test_import_starts_no_thread_and_opens_no_file():
    script = """
        import os, threading
        before = os.listdir("/proc/self/task"), len(os.listdir("/proc/self/fd"))
        import roastcoffea
        after = os.listdir("/proc/self/task"), len(os.listdir("/proc/self/fd"))
        assert before == after, (before, after)
    """
    run_python(script)


# ---- types -------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["roastcoffea", "coffea_metrics"])
def test_package_is_marked_as_typed(package):
    assert files(package).joinpath("py.typed").is_file()


def test_stubs_agree_with_the_extension(tmp_path):
    pytest.importorskip("mypy")
    settings = tmp_path / "mypy.ini"  # what others import is of no interest here
    settings.write_text("[mypy]\nfollow_imports = skip\n")
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "roastcoffea._probe"]
    command += ["--mypy-config-file", str(settings)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
