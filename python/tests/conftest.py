# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures: sample files, a monitor in its initial state, and errors it may count."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import awkward as ak
import cloudpickle
import numpy as np
import pytest
import uproot

import roastcoffea
from leftovers import none_left
from roastcoffea import _probe
from roastcoffea.coffea.uproot_source import byte_source
from sharing import join, kept, made_once, uses_kept

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))


def pytest_configure(config: pytest.Config) -> None:
    """Share the tests with other processes, if there are some (tools/pytests.py).

    Under sanitizers (`make asan`), refuse to test another build than that one.
    """
    names = ("ROAST_EXPECT_SANITIZED", "ROAST_SANITIZED")
    expected = next((os.environ[name] for name in names if name in os.environ), None)
    if expected and not Path(_probe.__file__).is_relative_to(expected):
        pytest.exit(f"{_probe.__file__} is not below {expected}", returncode=3)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # of what a shell starts in the background; some tests press Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)
    join(config)


def pytest_collection_finish() -> None:
    """What coffea made when it was imported is there to stay: many tests collect
    garbage, and looking through half a million objects again takes a while."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Other files have this process to themselves."""
    if not uses_kept(item):
        kept.close()


def pytest_sessionfinish() -> None:
    kept.close()


def pytest_unconfigure() -> None:
    """Libraries that look for leaks at the end shall find none."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def fresh_monitor(request: pytest.FixtureRequest) -> Iterator[None]:
    """Default settings, an empty outbox, and no error of the monitor by the end."""
    _probe.configure(enabled=True, exact_peak=False)
    _probe.configure(byte_source=byte_source)  # which is given up after some errors
    _probe.take_records()
    before = _probe.status()["monitor_errors"]
    yield
    status = _probe.status()
    if "monitor_errors" not in request.fixturenames:
        assert status["monitor_errors"] == before, status["first_error"]


@pytest.fixture(autouse=True)
def nothing_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Blocks that a test enters restore everything and count what is lost."""
    with_all_chunks = "unmeasured" not in request.fixturenames
    with none_left(lambda: request.node.funcargs.get("tmp_path"), with_all_chunks):
        yield


@pytest.fixture
def unmeasured() -> None:
    """Requested by tests with chunks that are not measured, by design."""


@pytest.fixture
def monitor_errors() -> Callable[[], int]:
    """Requested for by tests in which the monitor errs: how often since their start."""
    before = _probe.status()["monitor_errors"]
    return lambda: _probe.status()["monitor_errors"] - before


@pytest.fixture
def by_value() -> Iterator[None]:
    """cloudpickle takes our package by value, as users of 0.1.2 ask it to."""
    cloudpickle.register_pickle_by_value(roastcoffea)
    yield
    cloudpickle.unregister_pickle_by_value(roastcoffea)


@pytest.fixture(scope="session")
def nano_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with a thousand branches: three trees, an RNTuple and a parquet file."""
    import make_samples

    def fill(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("LD_PRELOAD", "PYTHONMALLOC"):  # slow, and none of it is ours
                patch.delenv(name, raising=False)
            make_samples.write_samples(folder, "all", events=1000, files=1)

    return made_once(tmp_path_factory, "nano", fill)


@pytest.fixture(scope="session")
def real_folder() -> Path:
    """Real NanoAOD files, where the machine has some."""
    folder = os.environ.get("ROAST_SAMPLES")
    if not folder:
        pytest.skip("ROAST_SAMPLES does not name a folder with real NanoAOD files")
    return Path(folder)


@pytest.fixture(scope="session")
def tiny_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree with a handful of branches: quick to open, for tests of many runs."""
    path = tmp_path_factory.mktemp("tiny") / "tiny.root"
    rng = np.random.default_rng(1)
    counts = rng.poisson(3, 3000)
    with uproot.recreate(path) as root:
        names = ("run", "luminosityBlock", "event")
        types = {"nHit": "int32", "Hit_value": "var * float32"}
        types |= dict.fromkeys(names, "uint32")
        tree = root.mktree("Events", types, counter_name=lambda name: "nHit")
        for part in np.split(counts, 3):
            values = ak.unflatten(rng.random(part.sum(), np.float32), part)
            columns = dict.fromkeys(names, np.ones(len(part), np.uint32))
            tree.extend(columns | {"nHit": part.astype(np.int32), "Hit_value": values})
    return path
