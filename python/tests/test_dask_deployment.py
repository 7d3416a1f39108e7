# SPDX-License-Identifier: BSD-3-Clause
"""Ways in which clusters are set up: programs on a farm, TLS, preloads, packages that
are installed by Dask, users' modules by value. The physics is always the same, and each
of them is measured."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import importlib
import os
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import cloudpickle
import dask
import pytest
from distributed import Client, PipInstall

import roastcoffea
from clusters import Surrounded, dask_runner, worker_modules
from collector_helpers import CHUNKS, Measured, Plain, fileset_of, make_runner, starts
from dask_programs import HERE, Programs, make_security, our_path
from roastcoffea import MetricsCollector
from worker_plugins import link_others

MODULE = """
import awkward as ak
from coffea import processor
from roastcoffea import track_metrics, track_time

def total(events):
    return float(ak.sum(events.Hit_value))

class Analysis(processor.ProcessorABC):
    @track_metrics
    def process(self, events):
        with track_time(self, "sum"):
            return {"n": len(events), "sum": total(events)}

    def postprocess(self, accumulator):
        return None
"""
PRELOADED = """
import roastcoffea

@roastcoffea.track_metrics
def count(events):
    return {"n": len(events)}

def dask_setup(worker):
    worker.counted = count([1, 2, 3])
"""


TCP = pytest.param("tcp", marks=pytest.mark.long)  # as in test_dask_ends, otherwise


@pytest.fixture(scope="module", params=[TCP, "tls"])
def remote(request, tmp_path_factory):
    """A client of two workers with their nannies; one of them preloads our package,
    and a module of the user's that has used it before any run."""
    folder = tmp_path_factory.mktemp(request.param)
    security = make_security(folder) if request.param == "tls" else None
    preloaded = folder / "preloaded.py"
    preloaded.write_text(PRELOADED)
    with Programs(folder, *our_path(), security=security) as programs:
        programs.add_worker()
        programs.add_worker("--preload=roastcoffea", f"--preload={preloaded}")
        with programs.client(2) as client:
            yield client


@pytest.fixture(scope="module")
def expected(tiny_file):
    return make_runner()(fileset_of(tiny_file), processor_instance=Plain())


def check(client, file, analysis, expected):
    """A measured run: the same output, every chunk, whole spans, nothing left."""
    before = Surrounded(client)
    with MetricsCollector(client) as collector:
        runner = dask_runner(client)
        output, _ = runner(fileset_of(file), processor_instance=analysis)
        copies = client.run(worker_modules)
        output = collector.extract_metrics_from_output(output)
    assert output == expected
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert not any("unmeasured" in remark for remark in collector.run._notes.remarks)
    assert not any(copies.values())  # what is installed there measures
    assert starts(collector.chunk_metrics) == [0, 1000, 2000]
    assert all(list(record["timing"]) == ["sum"] for record in collector.chunk_metrics)
    assert metrics["num_successful_chunks"] == CHUNKS
    prefixes = {prefix for context, prefix, *_ in collector.span_metrics}
    assert type(analysis).__name__ in prefixes
    before.check()
    return collector


# ---- programs ------------------------------------------------------------------------


def test_run_on_programs(remote, tiny_file, expected):
    collector = check(remote, tiny_file, Measured(), expected)
    assert collector.run._notes.text("executor") == "Dask, 2 workers x 1 thread"
    protocol = remote.scheduler.address.partition(":")[0]
    workers = {record["worker"] for record in collector.chunk_metrics}
    assert {worker.partition(":")[0] for worker in workers} == {protocol}


def test_users_module_by_value(remote, tiny_file, expected, tmp_path, monkeypatch):
    (tmp_path / "analysis_by_value.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("analysis_by_value")
    assert not any(remote.run(find_spec, module.__name__).values())
    cloudpickle.register_pickle_by_value(module)
    try:
        check(remote, tiny_file, module.Analysis(), expected)
    finally:
        cloudpickle.unregister_pickle_by_value(module)
        del sys.modules[module.__name__]


def test_asynchronous_client_is_refused(remote):
    """In one line, before anything happens; the client works on."""

    async def use():
        address, security = remote.scheduler.address, remote.security
        options = {"asynchronous": True, "set_as_default": False}
        async with Client(address, security=security, **options) as client:
            with pytest.raises(ValueError, match="needs a synchronous Client") as error:
                MetricsCollector(client)
            return str(error.value), await client.submit(abs, -1)

    before = Surrounded(remote)
    message, found = asyncio.run(use())
    assert "\n" not in message
    assert found == 1
    before.check()


# ---- environments --------------------------------------------------------------------


def counted(dask_worker):
    return getattr(dask_worker, "counted", None)


def test_preloads(remote, tiny_file, expected):
    """Chunks run on a worker that has preloaded, as on one that has not."""
    found = remote.run(counted)
    assert sorted(found.values(), key=str) == [None, {"n": 3}]
    (preloaded,) = (worker for worker, what in found.items() if what)
    with dask.annotate(workers=[preloaded]):
        collector = check(remote, tiny_file, Measured(), expected)
    workers = {record["worker"] for record in collector.chunk_metrics}
    assert preloaded in workers


@pytest.mark.long
def test_package_that_dask_installs(tiny_file, expected, tmp_path):
    """In an environment with everything but us, for scheduler and worker."""
    wheel = make_wheel(tmp_path)
    environment = make_environment(tmp_path)
    with Programs(tmp_path, str(HERE), python=environment) as programs:
        programs.add_worker("--no-nanny")
        with programs.client(1) as client:
            assert not any(client.run(find_spec, "roastcoffea").values())
            options = ["--no-index", "--no-deps", "--disable-pip-version-check"]
            client.register_plugin(PipInstall([str(wheel)], options))
            (found,) = client.run(find_spec, "roastcoffea").values()
            assert Path(found.origin).is_relative_to(environment.parents[1])
            check(client, tiny_file, Measured(), expected)


def make_environment(folder: Path) -> Path:
    """The interpreter of a virtual environment that lacks nothing else."""
    made = folder / "environment"
    create = [sys.executable, "-m", "venv", "--without-pip", str(made)]
    subprocess.run(create, check=True)
    (site,) = made.glob("lib/python3.*/site-packages")
    (site / "others.pth").write_text(f"{link_others(folder / 'others')}\n")
    return made / "bin" / "python"


def make_wheel(folder: Path) -> Path:
    """What is installed here, packed again: nothing is built or fetched."""
    site = Path(roastcoffea.__file__).parents[1]
    version = roastcoffea.__version__
    tag = "cp311-abi3-linux_" + os.uname().machine
    about = f"roastcoffea-{version}.dist-info"
    files = {
        str(path.relative_to(site)): path.read_bytes()
        for package in ("roastcoffea", "coffea_metrics")
        for path in sorted((site / package).rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
    text = f"Metadata-Version: 2.1\nName: roastcoffea\nVersion: {version}\n"
    files[f"{about}/METADATA"] = text.encode()
    text = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files[f"{about}/WHEEL"] = text.encode()
    rows = [f"{name},{digest(data)},{len(data)}\n" for name, data in files.items()]
    files[f"{about}/RECORD"] = "".join([*rows, f"{about}/RECORD,,\n"]).encode()
    wheel = folder / f"roastcoffea-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return wheel


def digest(data: bytes) -> str:
    encoded = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return "sha256=" + encoded.decode().rstrip("=")
