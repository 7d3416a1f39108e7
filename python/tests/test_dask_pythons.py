# SPDX-License-Identifier: BSD-3-Clause
"""Workers of another Python version stay unmeasured, and are not harmed; and the real
roastcoffea 0.1.2 on workers is left alone.

An environment is made for each, from the package index; skipped where that is not to be
reached, or where there is no other interpreter.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from distributed import Client, LocalCluster, __version__

from roastcoffea import MetricsCollector
from roastcoffea.coffea.work_function import Token, WorkFunction
from support import ROOT
from worker_plugins import Plugged, dask_worker, one

MODULE = """
import sys

def analyse(events):
    return [len(events), *sys.version_info[:2]]

def modules():
    return sorted(name for name in sys.modules if "roast" in name)

def installed():
    from importlib.metadata import version
    from importlib.util import find_spec

    return version("roastcoffea"), "site-packages" in find_spec("roastcoffea").origin

def plugins(dask_worker):
    return [name for name in dask_worker.plugins if "roast" in name]
"""
OTHERS = [minor for minor in (11, 12, 13, 14) if minor != sys.version_info[1]]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def users(tmp_path_factory):
    """A folder with a module that client and workers have."""
    folder = tmp_path_factory.mktemp("users")
    (folder / "others_module.py").write_text(MODULE)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    sys.modules.pop("others_module", None)


@pytest.fixture(scope="module", params=OTHERS, ids=lambda minor: f"3.{minor}")
def python(request, tmp_path_factory):
    """The interpreter of an environment with Dask in it."""
    found = interpreter(f"3.{request.param}")
    if not found:
        pytest.skip(f"no Python 3.{request.param} here")
    folder = tmp_path_factory.mktemp("environment")
    made = folder / "bin" / "python"
    subprocess.run([found, "-m", "venv", folder], check=True)
    install(made, f"distributed=={__version__}")
    return made


def interpreter(version: str) -> str:
    """One that runs; a name on the path may be a shim that does not."""
    search = [sys.executable, ROOT / "tools" / "pythons.py", version]
    found = subprocess.run(search, capture_output=True, text=True)
    return found.stdout.strip().partition("\t")[2]


def install(python: Path, *packages: str) -> None:
    pip = [python, "-m", "pip", "install", "--quiet", *packages]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{packages[-1]} cannot be installed: {done.stderr[-200:]}")


def site_of(python: Path) -> Path:
    (site,) = python.parents[1].glob("lib/python3.*/site-packages")
    return site


@pytest.fixture(scope="module")
def client():
    cluster = LocalCluster(n_workers=0, dashboard_address=None)
    with cluster, Client(cluster) as client:
        yield client


def test_worker_of_another_python_is_unmeasured(client, users, python):
    """Neither plugin nor work function loads our bytecode there."""
    import others_module

    work = WorkFunction(others_module.analyse, Token(bytes(16), 7, (), False))
    with dask_worker(client, site_of(python), users, python=str(python)):
        with MetricsCollector(client) as collector:
            size, *version = one(client, work, [1, 2])
            assert size == 2
            assert tuple(version) != sys.version_info[:2]
        assert one(client, others_module.modules) == []
        assert list(client.run(others_module.plugins).values()) == [[]]
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    there, here = version[1], sys.version_info[1]
    why = f"Python 3.{there} is there, the client has 3.{here}"
    assert f"1 worker(s) unmeasured: {why}" in collector.run.remarks


def test_real_0_1_2_is_left_alone(client, users, tmp_path):
    made = tmp_path / "environment" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", made.parents[1]], check=True)
    install(made, f"distributed=={__version__}")
    install(made, "--no-deps", "--ignore-requires-python", "roastcoffea==0.1.2")
    import others_module

    with dask_worker(client, site_of(made), users, python=str(made)):
        with Plugged(client) as received, received.tasks():
            assert received.status() == ["measured: copy of the client's package"]
            assert one(client, others_module.analyse, [1, 2])[0] == 2
            assert one(client, others_module.installed) == ("0.1.2", True)
        assert one(client, others_module.installed) == ("0.1.2", True)
