# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of programs: `dask scheduler` and `dask worker`, each a process of its own,
as they stand on a farm; with TLS where it is requested for, in any environment.

What the programs say is in their folder, one file for each.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from distributed import Client, Security

from clusters import await_until

HERE = Path(__file__).parent
SECONDS = 60.0


class Programs:
    """A scheduler, and workers as they are added; ended with the block."""

    def __init__(
        self,
        folder: Path,
        *path: str,
        python: str | Path = sys.executable,
        security: Security | None = None,
        scheduler_options: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self.scheduler_options = scheduler_options
        self.python = str(python)
        self.security = security
        self.file = folder / "scheduler.json"
        self._environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Programs:
        protocol = "tls" if self.security else "tcp"
        options = ("--port=0", f"--protocol={protocol}", *self.scheduler_options)
        self._start("scheduler", *options)
        await_until(self.file.exists, SECONDS)
        return self

    def __exit__(self, *exc: object) -> None:
        scheduler, *workers = self._started
        stop(workers)  # while they can still say goodbye
        stop([scheduler])

    def add_worker(self, *options: str) -> None:
        self._start("worker", "--nthreads=1", *options)

    def _start(self, kind: str, *options: str) -> None:
        command = [self.python, "-P", "-m", "dask", kind, "--no-dashboard"]
        command += ["--scheduler-file", str(self.file), *options, *self._tls(kind)]
        log = self.folder / f"{kind}-{len(self._started)}.log"
        with log.open("wb") as output:
            program = subprocess.Popen(
                command,
                env=self._environment,
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._started.append(program)

    def _tls(self, kind: str) -> list[str]:
        if self.security is None:
            return []
        options = self.security.get_tls_config_for_role(kind)
        return [
            f"--tls-ca-file={options['ca_file']}",
            f"--tls-cert={options['cert']}",
            f"--tls-key={options['key']}",
        ]

    @contextlib.contextmanager
    def client(self, workers: int) -> Iterator[Client]:
        """A client, as soon as so many workers are there."""
        file = str(self.file)
        with Client(scheduler_file=file, security=self.security) as client:
            client.wait_for_workers(workers, timeout=SECONDS)
            yield client


def stop(programs: list[subprocess.Popen[bytes]]) -> None:
    for program in programs:
        program.terminate()
    for program in programs:
        try:
            program.wait(SECONDS)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()


def our_path() -> list[str]:
    """Where an interpreter finds all that this one has, and the tests."""
    return [str(HERE), *sys.path]


def make_security(folder: Path) -> Security:
    """A certificate of one's own for everybody; without it no connection is taken."""
    openssl = shutil.which("openssl")
    if not openssl:
        pytest.skip("no openssl here to make a certificate with")
    certificate, key = str(folder / "certificate.pem"), str(folder / "key.pem")
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    roles = ("scheduler", "worker", "client")
    return Security(
        tls_ca_file=certificate,
        require_encryption=True,
        **{f"tls_{role}_cert": certificate for role in roles},
        **{f"tls_{role}_key": key for role in roles},
    )
