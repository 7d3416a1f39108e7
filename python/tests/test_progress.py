# SPDX-License-Identifier: BSD-3-Clause
"""The live line: it appears, says what happens, ends with the block, disturbs nothing.

Tests wait for lines, never for a time to pass.
"""

from __future__ import annotations

import io
import re
import threading

import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema

import roastcoffea
from roastcoffea import _core
from roastcoffea import progress as progress_module
from roastcoffea.progress import LiveLine

PATIENCE_S = 60.0
LINE = re.compile(r"[0-9.]+ (ns|us|ms|s|min) \| (\d+)( of \d+)? chunks? done")
LEFT = re.compile(
    r"\| 1 of 3 chunks done \| [0-9.]+ (us|ms|s|min) left at this rate \|"
)


class Stream(io.StringIO):
    """A stream that reports when it was written to."""

    def __init__(self, terminal=False):
        super().__init__()
        self.terminal = terminal
        self.writes = threading.Semaphore(0)

    def isatty(self):
        return self.terminal

    def write(self, text):
        written = super().write(text)
        self.writes.release()
        return written

    def wait_for_a_line(self):
        """Returns after a line that was begun after the call."""
        while self.writes.acquire(blocking=False):
            pass
        for _ in range(2):  # the first may have been on its way
            assert self.writes.acquire(timeout=PATIENCE_S), "no line came"


class Broken(Stream):
    """A stream whose reader is gone."""

    def write(self, text):
        self.writes.release()
        raise BrokenPipeError("gone")


class Analysis(processor.ProcessorABC):
    """Waits in every chunk until there was a line about it."""

    def __init__(self, stream=None):
        self.stream = stream

    def process(self, events):
        if self.stream:
            self.stream.wait_for_a_line()
        return {"events": len(events.event)}

    def postprocess(self, accumulator):
        return accumulator


def runner():
    return processor.Runner(
        processor.IterativeExecutor(status=False),
        schema=BaseSchema,
        chunksize=1000,
        processor_compression=None,  # a stream cannot be pickled
    )


def fileset(tiny_file):
    return {"ttbar": {"files": {str(tiny_file): "Events"}}}


def run(tiny_file, analysis):
    return runner()(fileset(tiny_file), processor_instance=analysis)


def follow(stream, tiny_file, analysis):
    """A collector whose line goes to a stream, and the output of the run."""
    collector = roastcoffea.monitor(progress=True)
    collector._line = LiveLine(stream, every_s=0.001)
    with collector:
        output = run(tiny_file, analysis)
    return collector, output


def lines_of(stream):
    return stream.getvalue().splitlines()


def follower_threads():
    return [t for t in threading.enumerate() if t.name == "roastcoffea-line"]


def test_lines_follow_the_run(tiny_file):
    stream = Stream()
    collector, output = follow(stream, tiny_file, Analysis(stream))
    done = [int(LINE.match(line)[2]) for line in lines_of(stream)]
    assert done == sorted(done)
    assert {0, 1, 2, 3} == set(done)
    assert done[-1] == 3
    assert any("1 running" in line for line in lines_of(stream))
    assert any(LEFT.search(line) for line in lines_of(stream))
    assert "3 of 3 chunks done |" in lines_of(stream)[-1]
    assert "left" not in lines_of(stream)[-1]
    assert output["events"] == 3000
    assert collector.get_metrics()["num_attempts"] == 3


def test_total_grows_with_each_call(tiny_file):
    stream = Stream()
    collector = roastcoffea.monitor(progress=True)
    collector._line = LiveLine(stream, every_s=PATIENCE_S)
    with collector:
        run(tiny_file, Analysis())
        items = list(runner().preprocess(fileset(tiny_file)))
        runner()(items[:2], processor_instance=Analysis())
    assert "5 of 5 chunks done" in lines_of(stream)[-1]


def test_line_fits_a_terminal_and_is_written_over(tiny_file):
    stream = Stream(terminal=True)
    follow(stream, tiny_file, Analysis(stream))
    *rewritten, last = stream.getvalue().split("\r")
    assert len(rewritten) >= 3
    for line in rewritten:
        assert line.endswith("\033[K")
        assert len(line.removesuffix("\033[K")) < 120
        assert "\n" not in line
    assert last.endswith("\033[K\n")


def test_nothing_is_written_after_the_block(tiny_file):
    stream = Stream()
    follow(stream, tiny_file, Analysis(stream))
    assert follower_threads() == []
    assert stream.getvalue().endswith("\n")


def test_last_line_comes_even_in_a_short_run():
    stream = Stream()
    line = LiveLine(stream, every_s=PATIENCE_S)
    collector = roastcoffea.monitor()
    with collector:
        line.start(collector._recorder)
        line.stop()
    assert len(lines_of(stream)) == 1
    assert follower_threads() == []


def test_line_is_written_when_the_body_fails():
    stream = Stream()
    collector = roastcoffea.monitor(progress=True)
    collector._line = LiveLine(stream, every_s=PATIENCE_S)
    with pytest.raises(ValueError, match="mine"), collector:
        raise ValueError("mine")
    assert len(lines_of(stream)) == 1
    assert follower_threads() == []


def test_collector_can_be_entered_again(tiny_file):
    stream = Stream()
    collector, _ = follow(stream, tiny_file, Analysis())
    before = len(lines_of(stream))
    with collector:
        pass
    assert len(lines_of(stream)) > before
    assert LINE.match(lines_of(stream)[-1])[2] == "0"


def test_stream_that_breaks_costs_the_line_alone(tiny_file):
    stream = Broken()
    collector, output = follow(stream, tiny_file, Analysis())
    assert output["events"] == 3000
    assert follower_threads() == []
    metrics = collector.get_metrics()
    assert metrics["num_attempts"] == 3
    assert metrics["monitor_errors"] == 1
    assert "live line" in metrics["monitor_first_error"]


def test_line_goes_to_standard_error(tiny_file, capsys):
    with roastcoffea.monitor(progress=True):
        run(tiny_file, Analysis())
    printed = capsys.readouterr()
    assert LINE.match(printed.err.splitlines()[-1])[2] == "3"
    assert LINE.search(printed.out) is None


def test_no_line_without_progress(tiny_file, capsys):
    with roastcoffea.monitor():
        assert follower_threads() == []
        run(tiny_file, Analysis())
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_line_of_any_time_is_one_line(seconds):
    collector = roastcoffea.monitor()
    with collector:
        line = _core.live_line(collector.run._core, seconds)
    assert "0 chunks done" in line
    assert line.isprintable()
    assert len(line) < 120


# ---- files that take long to write ---------------------------------------------------


@pytest.mark.parametrize("on_terminal", [True, False])
def test_a_file_that_takes_long_is_shown_on_a_terminal(on_terminal, monkeypatch):
    stream = Stream(on_terminal)
    monkeypatch.setattr(progress_module.sys, "stderr", stream)
    monkeypatch.setattr(progress_module, "SHOWN_AFTER_S", -1.0)
    assert [*progress_module.shown(["a" * 10**6, "b"], "x.json")] == ["a" * 10**6, "b"]
    shown = "x.json, 1 MB written" in stream.getvalue()
    assert shown == on_terminal
    assert not stream.getvalue() or stream.getvalue().endswith("\n")
