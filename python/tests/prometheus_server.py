# SPDX-License-Identifier: BSD-3-Clause
"""A real Prometheus, and a small HTTP server with one file for it to scrape."""

from __future__ import annotations

import contextlib
import http.server
import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: run
  static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""
DEADLINE_S = 60
OWN_LABELS = ("__name__", "instance", "job")

needs_prometheus = pytest.mark.skipif(
    not (shutil.which("promtool") and shutil.which("prometheus")),
    reason="the Debian package prometheus is not installed",
)


class Prometheus:
    """``with Prometheus(config, folder)``: with this text as its configuration."""

    def __init__(self, config: str, folder: Path) -> None:
        self._config = config
        self._folder = folder
        self._url = ""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Prometheus:
        config = self._folder / "prometheus.yml"
        config.write_text(self._config)
        port = _free_port()
        self._url = f"http://127.0.0.1:{port}/api/v1/query?query="
        log = open(self._folder / "prometheus.log", "wb")
        with log:
            self._process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={config}",
                    f"--storage.tsdb.path={self._folder / 'tsdb'}",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                stdout=log,
                stderr=log,
            )
        return self

    def __exit__(self, *error: object) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()

    def series(self, query: str) -> dict[Any, float]:
        """{(name, labels): value}, as soon as there is any."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            if found := self._ask(query):
                return {_key(x["metric"]): float(x["value"][1]) for x in found}
            time.sleep(0.1)
        log = (self._folder / "prometheus.log").read_text(errors="replace")
        raise TimeoutError(f"no data: {query}: {log[-2000:]}")

    def _ask(self, query: str) -> list[dict[str, Any]]:
        with contextlib.suppress(OSError):  # it is not up yet
            url = self._url + urllib.parse.quote(query)
            with urllib.request.urlopen(url, timeout=10) as answer:
                found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
                return found
        return []


@contextlib.contextmanager
def scraping_file(path: Path, content_type: str, folder: Path) -> Iterator[Prometheus]:
    """A Prometheus that scrapes a file."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = path.read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *words: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with Prometheus(CONFIG.format(port=server.server_port), folder) as made:
                yield made
        finally:
            server.shutdown()


def _key(labels: dict[str, str]) -> Any:
    own = {k: v for k, v in labels.items() if k not in OWN_LABELS}
    return labels.get("__name__", ""), tuple(sorted(own.items()))


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
