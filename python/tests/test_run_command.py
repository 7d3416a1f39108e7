# SPDX-License-Identifier: BSD-3-Clause
"""``roast run -- COMMAND``: the command cannot tell, its numbers agree with those of
``/usr/bin/time -v``, of its control group and of the command itself, and Python is
turned into Python that is measured."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import termios
import textwrap
import time
from pathlib import Path

import pytest

import roastcoffea
from cli_program import ENVIRONMENT, program

TIME = "/usr/bin/time"
WALL = "Elapsed (wall clock) time (h:mm:ss or m:ss)"
GIB = 1 << 30
CGROUPS = Path("/sys/fs/cgroup")

# A fork storm, an orphan that is waited for by a file, a killed child, 8 GiB of I/O and
# 96 MiB of memory.
STORM = """
    spin() { i=0; while [ $i -lt $1 ]; do i=$((i+1)); done; }
    n=0; while [ $n -lt 300 ]; do /bin/true; n=$((n+1)); done
    { sh -c 'kill -9 $$'; } 2>killed.txt
    dd if=/dev/zero of=/dev/null bs=1M count=8192 2>dd.txt
    dd if=/dev/zero of=/dev/null bs=96M count=1 2>dd.txt
    spin 2000000
"""
ORPHAN = """
    (sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; echo >done' &)
    while [ ! -e done ]; do sleep 0.02; done
"""


def command_line(*words, options=()):
    return [program(), "run", *options, "--", *map(str, words)]


def run(*words, options=(), cwd, **more):
    """Its exit code, and what it wrote to both streams."""
    done = subprocess.run(
        command_line(*words, options=options),
        cwd=cwd,
        env=ENVIRONMENT | {"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=240,
        **more,
    )
    return done.returncode, done.stdout, done.stderr


def report(path):
    """The report of a run as JSON."""
    words = [program(), "report", "-f", "json", str(path)]
    return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)


def values(path):
    return {name: x["value"] for name, x in report(path)["metrics"].items()}


def file_in(folder):
    (path,) = folder.glob("*.roast*")
    return path


# ---- the numbers -------------------------------------------------------------------


@pytest.fixture(scope="module")
def storm(tmp_path_factory):
    """What ``time -v`` says of the storm, and the metrics of the same processes."""
    if not os.path.exists(TIME):
        pytest.fail("no /usr/bin/time; the Debian package time has it")
    folder = tmp_path_factory.mktemp("storm")
    words = [TIME, "-v", "-o", "time.txt", "sh", "-c", textwrap.dedent(STORM)]
    code, out, errors = run(
        *words, options=["-o", "runs", "-l", "site=T2_XX"], cwd=folder
    )
    assert (code, out) == (0, ""), errors
    assert "Killed" in (folder / "killed.txt").read_text()
    found = re.findall(r"^\t(.*): (\S+)$", (folder / "time.txt").read_text(), re.M)
    return dict(found), values(file_in(folder / "runs")), errors, folder


def test_cpu_time_is_that_of_time(storm):
    theirs, ours, *_ = storm
    user, system = (
        float(theirs[f"{name} time (seconds)"]) for name in ("User", "System")
    )
    # time counts in units of 10 ms, and not itself
    assert ours["command_cpu_seconds"] == pytest.approx(user + system, rel=0.02)
    assert ours["command_system_seconds"] == pytest.approx(system, rel=0.02, abs=0.02)


def test_wall_time_is_that_of_time(storm):
    theirs, ours, *_ = storm
    minutes, seconds = theirs[WALL].split(":")
    elapsed = 60 * int(minutes) + float(seconds)
    assert ours["wall_time"] == pytest.approx(elapsed, rel=0.02, abs=0.05)


def test_memory_of_the_largest_process_is_that_of_time(storm):
    theirs, ours, *_ = storm
    kib = int(theirs["Maximum resident set size (kbytes)"])
    assert ours["command_peak_process_bytes"] == kib * 1024 > 96 << 20
    assert ours["peak_memory_bytes"] >= ours["command_peak_process_bytes"]


def test_bytes_are_those_that_dd_moved(storm):
    *_, folder = storm
    ours = storm[1]
    assert "bytes" in (folder / "dd.txt").read_text()
    moved = 8 * GIB + (96 << 20)
    assert moved <= ours["command_read_bytes"] < 1.02 * moved
    assert moved <= ours["command_written_bytes"] < 1.02 * moved
    assert ours["command_storage_written_bytes"] < moved / 2


def test_what_it_has_not_has_a_reason(storm):
    *_, folder = storm
    metrics = report(file_in(folder / "runs"))["metrics"]
    assert all(x["value"] is not None or x["why"] for x in metrics.values())
    assert metrics["num_chunks"]["why"] == "a command was run, no coffea analysis"
    assert metrics["command_exit_code"]["value"] == 0
    pss, rss = metrics["command_peak_pss_bytes"], metrics["peak_memory_bytes"]
    assert pss["value"] is None or pss["value"] > 0
    assert metrics["command_monitor_seconds"]["value"] > 0
    assert rss["value"] > 0


def test_batch_job_and_site_are_kept_as_for_coffea(tmp_path):
    kept = {"SLURM_JOB_ID": "77", "GLIDEIN_CMSSite": "T2_XX"}
    secret = {"AWS_SECRET_ACCESS_KEY": "a", "USER": "alice", "HOSTNAME": "node1"}
    words = command_line("true", options=["-q", "-o", "runs"])
    before = {"PATH": os.environ["PATH"]}
    subprocess.run(words, cwd=tmp_path, env=before | kept | secret, check=True)
    facts = roastcoffea.open_run(file_in(tmp_path / "runs")).provenance
    found = {k: v for k, v in facts.items() if k.startswith("environment.")}
    assert found == {f"environment.{name}": text for name, text in kept.items()}


def test_summary_is_the_report_and_the_file_is_whole(storm):
    _, _, errors, folder = storm
    path = file_in(folder / "runs")
    page, last = errors.rsplit("written to ", 1)
    assert last == f"runs/{path.name}\n"
    shown = subprocess.run(
        [program(), "report", "--full", path], capture_output=True, text=True
    ).stdout
    assert page == shown
    assert shown.splitlines()[0].startswith("roastcoffea | time | ")
    assert "command" in shown.splitlines()[0]
    assert "site=T2_XX" in shown.split("\n\n")[0]
    assert "FINISHED in" in shown
    titles = [x for x in shown.splitlines() if x and not x.startswith(" ")]
    assert "Command" in titles
    assert "Chunk Metrics" not in titles
    assert "Not available" not in shown
    assert "WALL" not in shown
    check = subprocess.run([program(), "check", path], capture_output=True, text=True)
    assert check.stdout == f"{path}: ok\n"
    opened = roastcoffea.open_run(path)
    assert opened.metrics["command_exit_code"] == 0
    assert opened.provenance["command"].startswith(f"{TIME} -v -o time.txt sh -c '")


@pytest.fixture
def group(tmp_path):
    """A control group of the test, and a reading of its CPU seconds."""
    v2 = (CGROUPS / "cgroup.procs").exists()
    folder = (CGROUPS if v2 else CGROUPS / "cpuacct") / f"roast-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")

    def seconds():
        if v2:
            text = (folder / "cpu.stat").read_text()
            return int(re.search(r"usage_usec (\d+)", text)[1]) / 1e6
        return int((folder / "cpuacct.usage").read_text()) / 1e9

    yield folder, seconds
    with contextlib.suppress(OSError):  # a process of it may still end
        folder.rmdir()


def test_cpu_time_is_that_of_the_control_group(group, tmp_path):
    folder, seconds = group
    enter = f"echo $$ >{folder}/cgroup.procs\n"
    script = enter + textwrap.dedent(ORPHAN) + textwrap.dedent(STORM)
    code, _, errors = run(
        "sh", "-c", script, options=["-q", "-o", "runs"], cwd=tmp_path
    )
    assert (code, errors) == (0, "")
    ours = values(file_in(tmp_path / "runs"))
    assert ours["command_cpu_seconds"] == pytest.approx(seconds(), rel=0.02)


def test_an_orphan_counts_when_it_has_ended(tmp_path):
    script = textwrap.dedent(ORPHAN) + "times >times.txt\n"
    code, _, errors = run(
        "sh", "-c", script, options=["-q", "-o", "runs"], cwd=tmp_path
    )
    assert (code, errors) == (0, "")
    known = (tmp_path / "times.txt").read_text()  # of all but the orphan
    minutes = re.findall(r"(\d+)m([\d.]+)s", known)
    without = sum(60 * int(m) + float(s) for m, s in minutes)
    assert values(file_in(tmp_path / "runs"))["command_cpu_seconds"] > 1.5 * without


def test_a_process_that_goes_on_is_mentioned_and_not_waited_for(tmp_path):
    script = "sleep 1000 >/dev/null 2>&1 & echo $!"
    code, out, errors = run("sh", "-c", script, options=["-o", "runs"], cwd=tmp_path)
    try:
        assert code == 0
        assert "1 process that it started still ran when it had ended" in errors
    finally:
        os.kill(int(out), signal.SIGKILL)


# ---- the end -----------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 3, 255])
def test_exit_code_is_that_of_the_command(code, tmp_path):
    status, out, errors = run("sh", "-c", f"exit {code}", cwd=tmp_path)
    assert (status, out) == (code, "")
    assert ("FINISHED" in errors) == (code == 0)
    assert ("FAILED" in errors and f"exit code {code}" in errors) == (code != 0)


@pytest.mark.parametrize("name", ["KILL", "TERM", "INT", "SEGV"])
def test_a_signal_that_ends_the_command_ends_roast(name, tmp_path):
    number = signal.Signals[f"SIG{name}"]
    options = ["-o", "runs"]
    status, _, errors = run(
        "sh", "-c", f"kill -{name} $$", options=options, cwd=tmp_path
    )
    assert status == -number
    assert f"signal {number.value} ended it: " in errors
    found = values(file_in(tmp_path / "runs"))
    assert found["command_exit_code"] == 128 + number


def heed_hangups():
    """Under nohup they are ignored, and a shell cannot change that."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@contextlib.contextmanager
def started(*words, cwd, **more):
    process = subprocess.Popen(
        command_line(*words, options=["-o", "runs", "-i", "0.05"]),
        cwd=cwd,
        env=ENVIRONMENT | {"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_hangups,
        **more,
    )
    try:
        assert process.stdout.readline() == "begun\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1"])
def test_a_signal_to_roast_is_passed_on(name, tmp_path):
    script = f"trap 'echo got; exit 5' {name}; echo begun; while :; do sleep 0.02; done"
    with started("sh", "-c", script, cwd=tmp_path) as process:
        process.send_signal(signal.Signals[f"SIG{name}"])
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (5, "got\n"), errors
    assert file_in(tmp_path / "runs").suffix == ".roast"


def test_a_killed_roast_leaves_what_it_measured(tmp_path):
    script = "echo begun; read line; echo went on"
    with started("sh", "-c", script, cwd=tmp_path, stdin=subprocess.PIPE) as process:
        path = file_in(tmp_path / "runs")
        assert path.suffix == ".roast-live"
        while values(path)["command_peak_processes"] is None:  # until it is written
            time.sleep(0.02)
        process.kill()
        out, _ = process.communicate("x\n", timeout=60)
    assert out == "went on\n"  # the command did not notice
    page = subprocess.run([program(), "report", path], capture_output=True, text=True)
    assert "UNFINISHED after" in page.stdout
    assert "CPU Time" in page.stdout


# ---- what the command sees ---------------------------------------------------------


def ignore_two_signals():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])


@pytest.mark.parametrize("before", [None, ignore_two_signals])
def test_the_command_inherits_what_roast_was_given(before, tmp_path):
    words = ["sh", "-c", "grep ^Sig /proc/self/status | grep -v Q; ls /proc/self/fd"]
    plain = subprocess.run(
        words,
        capture_output=True,
        text=True,
        preexec_fn=before,
        restore_signals=False,
    )
    code, out, errors = run(
        *words,
        options=["-q", "-o", "runs"],
        cwd=tmp_path,
        preexec_fn=before,
        restore_signals=False,
    )
    assert (code, out, errors) == (0, plain.stdout, "")


class Terminal:
    """An interactive shell at a terminal of its own."""

    def __init__(self, folder):
        self.master, slave = os.openpty()
        folder.joinpath("bin").mkdir()
        folder.joinpath("bin", "roast").symlink_to(program())
        path = f"{folder}/bin:{os.environ['PATH']}"
        self.shell = subprocess.Popen(
            ["sh", "-i"],
            cwd=folder,
            env=ENVIRONMENT | {"PATH": path, "PS1": "", "ENV": ""},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.text = ""

    def send(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, pattern):
        """What matched; everything up to it is taken."""
        while not (found := re.search(pattern, self.text)):
            self.text += os.read(self.master, 4096).decode()
        self.text = self.text[found.end() :]
        return found

    def close(self):
        self.shell.kill()
        self.shell.wait()
        os.close(self.master)


@pytest.fixture
def terminal(tmp_path):
    terminal = Terminal(tmp_path)
    yield terminal
    terminal.close()


COUNTER = """
    n=0; trap 'n=$((n+1)); echo "int $n"' INT; trap 'echo "end $n"; exit 7' USR1
    echo "begun $PPID"; while :; do sleep 0.02; done
"""


def test_ctrl_c_reaches_the_command_once(terminal, tmp_path):
    (tmp_path / "counter.sh").write_text(COUNTER)
    terminal.send("roast run -q -o runs -- sh counter.sh; echo code $?\n")
    roast = int(terminal.wait_for(r"begun (\d+)\r")[1])
    terminal.send("\x03")
    terminal.wait_for(r"int 1\r")
    os.kill(roast, signal.SIGUSR1)  # comes behind a second one, if there were any
    assert terminal.wait_for(r"end (\d)\r")[1] == "1"
    assert terminal.wait_for(r"code (\d+)\r")[1] == "7"
    assert values(file_in(tmp_path / "runs"))["command_exit_code"] == 7


def test_ctrl_z_stops_and_fg_continues(terminal, tmp_path):
    (tmp_path / "counter.sh").write_text(COUNTER)
    terminal.send("roast run -q -o runs -- sh counter.sh; echo code $?\n")
    roast = int(terminal.wait_for(r"begun (\d+)\r")[1])
    terminal.send("\x1a")
    terminal.wait_for(r"code \d+\r")  # the shell has the terminal again
    state = Path(f"/proc/{roast}/stat").read_text().rsplit(")", 1)[1].split()[0]
    assert state == "T"
    terminal.send("fg; echo code $?\n")
    terminal.wait_for(r"roast run")
    os.kill(roast, signal.SIGUSR1)
    assert terminal.wait_for(r"end (\d)\r")[1] == "0"
    assert terminal.wait_for(r"code (\d+)\r")[1] == "7"


def test_a_closed_standard_error_changes_nothing(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command_line("sh", "-c", "exit 3", options=["-o", "runs"]),
        cwd=tmp_path,
        env=ENVIRONMENT | {"PATH": os.environ["PATH"]},
        stderr=writer,
        timeout=60,
    )
    os.close(writer)
    assert done.returncode == 3
    assert file_in(tmp_path / "runs").suffix == ".roast"


def test_a_full_disk_costs_the_file_alone(tmp_path):
    script = "ulimit -f 1; exec roast run -o runs -- sh -c 'echo done; exit 3'"
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=tmp_path,
        env=ENVIRONMENT | {"PATH": f"{Path(program()).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (3, "done\n"), done.stderr
    assert not list((tmp_path / "runs").glob("*.roast"))


# ---- Python ------------------------------------------------------------------------

FACTS = """
    import os, sys
    def f(): pass
    main = sys.modules["__main__"]
    print([sys.argv[1:], __name__, main.f is f, sys.path[0], os.getcwd()])
    print(sys.flags.dev_mode, os.path.basename(sys.argv[0]), __spec__ and __spec__.name)
    sys.exit(4)
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("python")
    text = textwrap.dedent(FACTS)
    (folder / "facts.py").write_text(text)
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(text)
    return folder, text


@pytest.mark.parametrize(
    "words",
    [
        ["facts.py", "-q", "--", "a b"],
        ["-X", "dev", "-W", "ignore", "facts.py", "-c"],
        ["-m", "facts", "x"],
        ["-Bm", "package", "x"],
        ["-c", None, "x", "-m"],
    ],
    ids=lambda words: words[0],
)
def test_python_is_measured_and_sees_what_it_saw(words, scripts, tmp_path):
    folder, text = scripts
    words = [sys.executable, *(text if word is None else word for word in words)]
    plain = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    status, out, errors = run(
        *words, options=["-q", "-o", tmp_path, "-l", "a=b"], cwd=folder
    )
    assert (status, out) == (plain.returncode, plain.stdout) == (4, plain.stdout)
    assert errors == ""
    (measured,) = tmp_path.iterdir()
    metrics, *_ = roastcoffea.load_measurement(measured)
    assert metrics["labels"] == {"a": "b"}
    assert metrics["tree_cpu_seconds"] > 0
    assert "command_cpu_seconds" in metrics["unavailable"]


def test_python_is_known_by_its_name(scripts, tmp_path):
    folder, _ = scripts
    link = tmp_path / "other-name"
    link.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    link.chmod(0o755)
    status, out, _ = run(link, "-c", "print(1)", options=["-q"], cwd=folder)
    assert (status, out) == (0, "1\n")  # a script of sh: any program
    named = tmp_path / "python3.99"
    link.rename(named)
    options = ["-q", "-o", tmp_path / "runs"]
    status, out, _ = run(named, "facts.py", options=options, cwd=folder)
    assert status == 4
    assert [x.is_dir() for x in (tmp_path / "runs").iterdir()] == [True]


def test_python_without_our_package_is_any_program(tmp_path):
    words = [sys.executable, "-SEuc", "print('text')"]
    status, out, errors = run(*words, options=["-o", "runs"], cwd=tmp_path)
    assert (status, out) == (0, "text\n")
    version = roastcoffea.__version__
    first = f"it has no roastcoffea {version}: measured as any other program"
    assert errors.splitlines()[0] == f"roast: {sys.executable}: {first}"
    assert "FINISHED" in errors
    assert file_in(tmp_path / "runs").is_file()


@pytest.mark.parametrize("words", [["--version"], ["-h"], ["-"], ["-c"]])
def test_python_that_runs_no_script_is_any_program(words, tmp_path):
    words = [sys.executable, *words]
    plain = subprocess.run(
        words, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    found = run(*words, options=["-q"], cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert found == (plain.returncode, plain.stdout, plain.stderr)


def test_a_module_that_does_not_exist_ends_as_in_python(tmp_path):
    status, out, errors = run(
        sys.executable, "-m", "no.such", options=["-q"], cwd=tmp_path
    )
    assert (status, out) == (1, "")
    assert errors.endswith("error: No module named 'no'\n")


def test_the_module_runs_commands_too(tmp_path):
    shutil.copy(shutil.which("true"), tmp_path / "mine")
    words = [
        sys.executable,
        "-m",
        "roastcoffea",
        "run",
        "-q",
        "--",
        "sh",
        "-c",
        "exit 3",
    ]
    assert subprocess.run(words, cwd=tmp_path).returncode == 3
    words = [
        sys.executable,
        "-m",
        "roastcoffea",
        "run",
        "-q",
        "-o",
        "runs",
        "--",
        "./mine",
    ]
    assert subprocess.run(words, cwd=tmp_path).returncode == 0
    assert values(file_in(tmp_path / "runs"))["command_exit_code"] == 0
