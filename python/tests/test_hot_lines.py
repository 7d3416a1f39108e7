# SPDX-License-Identifier: BSD-3-Clause
"""Hot lines of runs on this machine: what is sampled, for whom, and that nothing else
changes."""

from __future__ import annotations

import _thread
import concurrent.futures
import inspect
import os
import signal
import threading
import time

import pytest
from coffea import processor

import roastcoffea
from collector_helpers import EVENTS, Plain, fileset_of, iterative, make_runner
from roastcoffea import _core, _probe
from roastcoffea.coffea import hot_lines
from support import measure as measure_chunk
from support import run_python

SPIN_S = 0.3  # 15 samples, if the machine is idle


def spin(seconds):
    """Returns after that much CPU time; all of it in one line."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))


def nothing(*_):
    pass


class Spinning(Plain):
    def process(self, events):
        spin(SPIN_S)
        return {"n": len(events)}


class Forking(Plain):
    """A child is forked and ends in the middle of each chunk."""

    def process(self, events):
        pid = os.fork()
        if pid == 0:
            spin(SPIN_S / 3)
            os._exit(7)
        spin(SPIN_S / 3)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 7
        return {"n": len(events)}


class Signalled(Plain):
    """A timer interrupts it 50 times in a second."""

    def process(self, events):
        seen = []
        before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        while len(seen) < 20:
            sum(range(1000))
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        return {"n": len(events)}


def measure(executor, analysis, tiny_file, **options):
    with roastcoffea.monitor(**options) as run:
        output = make_runner(executor)(fileset_of(tiny_file), analysis)
    assert output["n"] == EVENTS
    assert run.get_metrics()["monitor_errors"] == 0
    return run


def hottest(run):
    return {
        (row["function"], row["text"]): row for row in run.get_metrics()["hot_lines"]
    }


def threads(**options):
    return processor.FuturesExecutor(
        pool=concurrent.futures.ThreadPoolExecutor, status=False, **options
    )


def processes(**options):
    return processor.FuturesExecutor(status=False, **options)


@pytest.mark.parametrize("executor", [iterative, threads, processes])
def test_the_line_that_takes_the_time_is_the_hottest(executor, tiny_file):
    options = {} if executor is iterative else {"workers": 2}
    run = measure(executor(**options), Spinning(), tiny_file)
    found = hottest(run)
    inner = [row for (name, _), row in found.items() if name == "spin"]
    assert sum(row["self_seconds"] for row in inner) > 0
    outer = found["process", "spin(SPIN_S)"]
    assert outer["seconds"] >= max(row["seconds"] for row in inner)
    assert outer["file"] == __file__
    lines, first = inspect.getsourcelines(Spinning.process)
    assert outer["line"] == first + 1
    assert lines[1].strip() == outer["text"]
    # Nothing of the libraries, of ours, or of the script around the run. A process of a
    # pool imports this file and its helpers in a chunk.
    assert {os.path.dirname(row["file"]) for row in found.values()} == {
        os.path.dirname(__file__)
    }
    assert not any(name == "measure" for name, _ in found)
    assert "HOT LINES" in run._page("full")


def test_seconds_are_those_of_the_attempts(tiny_file):
    run = measure(iterative(), Spinning(), tiny_file)
    alone = sum(row["self_seconds"] for row in run.get_metrics()["hot_lines"])
    wall = run.get_metrics()["wall_time"]
    assert 0 < alone <= wall


def test_what_the_samples_cost_is_counted_with_the_next_chunk():
    """Here it takes long to find out what is user code."""
    asked = threading.Event()

    def is_users(file):
        if not asked.is_set():
            spin(SPIN_S)
        asked.set()
        return False

    measure_chunk(nothing)  # this thread measures
    _probe.hot_lines_stop()
    assert _probe.hot_lines_begin("run", None)
    arguments = is_users, lambda rows: None
    _thread.start_new_thread(_probe.hot_lines_sample, arguments)
    while not asked.is_set():
        spin(0.01)
    _probe.hot_lines_stop()
    _probe.hot_lines_end()
    assert measure_chunk(nothing)["monitor_time"] >= SPIN_S
    assert measure_chunk(nothing)["monitor_time"] < SPIN_S


def test_time_between_attempts_is_not_that_of_a_line():
    """The thread waits for the next attempt in the meantime."""
    gap_s = 0.8  # it ends after 1 s

    _probe.hot_lines_stop()
    _probe.hot_lines_take()
    begin = time.monotonic()
    assert _probe.hot_lines_begin("run", None)
    arguments = lambda file: True, lambda rows: sampled.extend(rows)
    sampled = []
    _thread.start_new_thread(_probe.hot_lines_sample, arguments)
    spin(0.1)
    _probe.hot_lines_end()
    threading.Event().wait(gap_s)
    assert not _probe.hot_lines_begin("run", None)
    spin(0.1)
    _probe.hot_lines_end()
    wall = time.monotonic() - begin
    _probe.hot_lines_stop()
    assert 0 < sum(row[5] for row in sampled) < wall - gap_s / 2


def test_thread_that_was_not_started_is_started_by_the_next_attempt():
    _probe.hot_lines_stop()
    assert _probe.hot_lines_begin("run", None)
    _probe.hot_lines_end()
    assert _probe.hot_lines_begin("run", None)
    _probe.hot_lines_end()


def test_package_of_a_later_analysis_is_user_code():
    file = "/x/lib/python3.11/site-packages/later/code.py"
    assert not hot_lines._is_users(file)
    hot_lines.begin(("run", 1, ()), ["later"], None)
    _probe.hot_lines_end()
    assert hot_lines._is_users(file)


def test_rows_before_a_damaged_line_are_kept(tmp_path):
    (tmp_path / hot_lines.FILE).write_text('[["a.py", 1, "f", 1.0, 0.5]]\n[["b.p')
    found = hot_lines.HotLines()
    with pytest.raises(ValueError, match="Unterminated"):
        found.add(hot_lines.read(str(tmp_path)))
    assert [row[:3] for row in found.hottest()] == [("a.py", 1, "f")]


def test_odd_names_of_files():
    """One that no file can have, and one that is not UTF-8."""
    found = hot_lines.HotLines()
    found.add([["a\0.py", 1, "f", 2.0, 0.5], ["b\udce9.py", 1, "g", 1.0, 0.5]])
    core = _core.Run(0, 0, "here")
    core.add_hot_lines(found.hottest())
    table = core.table("hot_lines")
    assert list(table["function"]) == ["f", "g"]
    assert list(table["text"]) == [None, None]


@pytest.mark.parametrize("how", ["option", "environment"])
def test_off(how, tiny_file, monkeypatch):
    options = {"hot_lines": False} if how == "option" else {}
    if how == "environment":
        monkeypatch.setenv("ROASTCOFFEA_HOT_LINES", "off")
    run = measure(iterative(), Spinning(), tiny_file, **options)
    assert run.get_metrics()["hot_lines"] == []


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("analysis", [Forking, Signalled])
def test_forks_and_signals_of_the_analysis(analysis, tiny_file):
    measure(iterative(), analysis(), tiny_file)  # not all are sampled on a busy machine


def test_an_interrupt_is_raised_where_it_arrives(tiny_file):
    """Ctrl-C while a line is sampled: the exception is the user's, the run goes on."""

    class Interrupted(Spinning):
        def process(self, events):
            threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
            spin(60)

    with pytest.raises(KeyboardInterrupt), roastcoffea.monitor() as run:
        make_runner(iterative())(fileset_of(tiny_file), Interrupted())
    assert run.get_metrics()["monitor_errors"] == 0
    measure(iterative(), Spinning(), tiny_file)


def test_the_interpreter_ends_while_lines_are_sampled(tiny_file):
    """The end comes inside a chunk."""
    program = f"""
import sys, time
sys.path[:0] = {[os.path.dirname(__file__)]!r}
import roastcoffea
from collector_helpers import Plain, fileset_of, iterative, make_runner

class Ending(Plain):
    def process(self, events):
        while time.thread_time() < ends:
            pass
        sys.exit()

with roastcoffea.monitor():
    ends = time.thread_time() + 0.2
    make_runner(iterative())(fileset_of({str(tiny_file)!r}), Ending())
"""
    run_python(program)


def test_a_second_interpreter_samples_its_own_threads():
    program = """
import sys, sysconfig
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
from roastcoffea import _core, _probe
from roastcoffea.coffea import hot_lines
code = f'''
import sys, _thread, importlib.util
spec = importlib.util.spec_from_file_location("_probe", {_probe.__file__!r})
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)
assert probe.hot_lines_begin("run", None)
rows = []
_thread.start_new_thread(
    probe.hot_lines_sample, (lambda file: True, rows.extend)
)
while not rows:
    rows += probe.hot_lines_take()
probe.hot_lines_end()
probe.hot_lines_stop()
assert rows[0][0] == "run"
'''
failed = ""
try:
    failed = str(interpreters.run_string(interpreters.create(), code) or "")
except Exception as error:
    failed = str(error)
if failed and "subinterpreters" not in failed:  # the extension may not load there
    sys.exit(failed)
"""
    run_python(program)
