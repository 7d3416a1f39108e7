# SPDX-License-Identifier: BSD-3-Clause
"""A server of files on the loopback that answers late or not at all, and notes when."""

from __future__ import annotations

import contextlib
import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ladder_clocks import runqueue_s


class SlowServer(http.server.ThreadingHTTPServer):
    """Serves a folder; every request takes ``delay_s`` longer than it must."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.delay_s = 0.0
        self.status = 0  # of all answers, unless it is 0
        self.intervals: list[tuple[float, float]] = []
        self.queued_s = 0.0  # waited for a core

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def busy_s(self, begin_s: float, end_s: float) -> float:
        """How long at least one request was being answered in that time."""
        total, reached = 0.0, begin_s
        for first, last in sorted(self.intervals):
            first, last = max(first, reached), min(last, end_s)
            if last > first:
                total, reached = total + last - first, last
        return total

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        begin_s, queued_s = time.perf_counter(), runqueue_s()
        time.sleep(self.delay_s)
        try:
            yield
        finally:
            self.intervals.append((begin_s, time.perf_counter()))
            self.queued_s += runqueue_s() - queued_s

    def handle_error(self, *args: Any) -> None:
        """Clients go away."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one piece, and
    disable_nagle_algorithm = True  # it is sent at once
    server: SlowServer

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        with self.server.noted():
            content = (self.server.folder / self.path.lstrip("/")).read_bytes()
            first, last = self.requested(len(content))
            part = content[first : last + 1]
            status = self.server.status or (206 if len(part) < len(content) else 200)
            if status >= 400:
                part = b""
            self.send_response(status)
            if status == 206:
                self.send_header(
                    "Content-Range", f"bytes {first}-{last}/{len(content)}"
                )
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(part)
            self.wfile.flush()

    def requested(self, size: int) -> tuple[int, int]:
        """The first and last byte; all, unless there is one range."""
        kind, _, text = self.headers.get("Range", "").partition("=")
        if kind != "bytes" or "," in text:
            return 0, size - 1
        first, _, last = text.partition("-")
        return int(first), min(int(last), size - 1) if last else size - 1

    def log_message(self, *args: Any) -> None:
        pass


def serve(folder: Path) -> Iterator[SlowServer]:
    """For a fixture."""
    with SlowServer(folder) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
