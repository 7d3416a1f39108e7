# SPDX-License-Identifier: BSD-3-Clause
"""GPUs of runs on this machine and of commands, with a library in place of that of
NVIDIA's driver (tests/stubs/nvml.c), which the tests of C use too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import roastcoffea
from cli_program import ENVIRONMENT, program
from support import ROOT

STUB = ROOT / "tests" / "stubs" / "nvml.c"
GIB = 1 << 30
MEASURED = """
import sys, time
import roastcoffea

with roastcoffea.monitor(worker_tracking_interval=0.05) as run:
    while len(run.samples("gpu_memory")) < 2:
        time.sleep(0.01)
run.save(sys.argv[1])
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """In which the library is found."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.fail("no C compiler; the Debian package gcc has one")
    folder = tmp_path_factory.mktemp("driver")
    library = folder / "libnvidia-ml.so.1"
    words = ["-shared", "-fPIC", "-D_GNU_SOURCE", STUB, "-o", library]
    subprocess.run([compiler, *words], check=True)
    return ENVIRONMENT | {"LD_LIBRARY_PATH": str(folder), "PATH": os.environ["PATH"]}


def sees_processes() -> bool:
    """Not in most containers: a driver has other process numbers there."""
    return os.readlink("/proc/self/ns/pid") == "pid:[4026531836]"


def metrics(path: Path) -> dict[str, Any]:
    words = [program(), "report", "-f", "json", str(path)]
    done = subprocess.run(words, capture_output=True, check=True, env=ENVIRONMENT)
    found: dict[str, Any] = json.loads(done.stdout)["metrics"]
    return found


def check(path: Path) -> roastcoffea.Run:
    """What every run with these GPUs has, after it was saved."""
    values = {name: each["value"] for name, each in metrics(path).items()}
    assert values["num_gpus"] == 2
    assert values["gpu_utilization_avg_percent"] == 50
    assert values["gpu_utilization_max_percent"] == 60
    assert values["gpu_memory_peak_bytes"] == 2 * GIB
    assert values["gpu_memory_utilization_max_percent"] == 12.5
    assert values["gpu_power_avg_watts"] == 250
    own = values["gpu_process_memory_peak_bytes"]
    assert own == (384 << 20 if sees_processes() else None)
    run = roastcoffea.open_run(path)
    used = run.samples("gpu_memory")
    by_gpu = dict(zip(used["worker"], used["value"], strict=True))
    assert by_gpu == {"gpu-0": GIB, "gpu-1": 2 * GIB}
    assert run.provenance["gpu.1"] == "Stub 1"
    return run


def test_a_command(environment: dict[str, str], tmp_path: Path) -> None:
    words = [program(), "run", "-o", tmp_path, "--", "sleep", "0.3"]
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, check=True
    )
    shown = [line.split() for line in done.stderr.splitlines()]
    assert ["GPUs", "2"] in shown
    assert ["Utilization", "50.0", "%", "(max", "60.0", "%)"] in shown
    assert ["Power", "250", "W", "(peak", "250", "W)"] in shown
    (path,) = tmp_path.glob("*.roast")
    check(path)


def test_a_run_on_this_machine(environment: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "run.roast"
    subprocess.run([sys.executable, "-c", MEASURED, path], env=environment, check=True)
    run = check(path)
    assert run.tracking_data["gpu_power"].keys() == {"gpu-0", "gpu-1"}
    assert "gpu-0" not in run.tracking_data["worker_memory"]
    prometheus = run.to_prometheus()
    assert "\nroast_num_gpus 2" in prometheus
    assert "\nroast_gpu_power_avg_watts 250" in prometheus
    assert "\nroast_gpu_utilization_avg_ratio 0.5" in prometheus
    nameless = run._core.anonymised()
    assert nameless.notes("provenance")["gpu.0"] == "Stub 0"
    assert {*nameless.samples("gpu_memory")["worker"]} == {"gpu-0", "gpu-1"}


def test_without_a_driver_there_is_a_reason(tmp_path: Path) -> None:
    words = [program(), "run", "-q", "-o", tmp_path, "--", "true"]
    subprocess.run(words, env=ENVIRONMENT | {"PATH": os.environ["PATH"]}, check=True)
    (path,) = tmp_path.glob("*.roast")
    found = metrics(path)["num_gpus"]
    if found["value"] is not None:
        pytest.skip("this machine has GPUs")
    assert "NVIDIA driver" in found["why"]
