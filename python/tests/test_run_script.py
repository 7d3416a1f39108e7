# SPDX-License-Identifier: BSD-3-Clause
"""``python -m roastcoffea run SCRIPT``: the script cannot tell, the user sees a page.

Scripts run in interpreters of their own, from a folder that is not theirs. What a plain
``python SCRIPT`` prints is what they have to print.
"""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import textwrap

import pytest

import roastcoffea
from roastcoffea import __main__ as program

FACTS = """
    import atexit, os, sys
    import beside

    def late():
        print("late", beside.NAME, Marker.__module__)

    class Marker:
        pass

    def annotated(x: int): pass

    atexit.register(late)
    print([sys.argv, __name__, __file__, sys.path[0], os.getcwd(), __doc__])
    print(annotated.__annotations__, sys.modules["__main__"].Marker is Marker)
    print(sorted(name for name in globals() if name in ("io", "argparse", "monitor")))
"""

ANALYSIS = """
    import sys
    from coffea import processor
    from coffea.nanoevents import BaseSchema


    class Analysis(processor.ProcessorABC):
        def process(self, events):
            return {"events": len(events.event)}

        def postprocess(self, accumulator):
            return accumulator


    if __name__ == "__main__":
        executor = {
            "iterative": processor.IterativeExecutor(status=False),
            "futures": processor.FuturesExecutor(workers=2, status=False),
        }[sys.argv[2]]
        runner = processor.Runner(executor, schema=BaseSchema, chunksize=1000)
        files = {"ttbar": {"files": {sys.argv[1]: "Events"}}}
        print(runner(files, processor_instance=Analysis()))
"""

ENDINGS = """
    import sys, time
    print("begun", flush=True)
    if sys.argv[1] == "exit":
        sys.exit(3)
    if sys.argv[1] == "raise":
        raise ValueError("mine")
    while sys.argv[1] == "wait":
        time.sleep(0.01)  # CPython may miss a signal until it next takes the GIL
"""

NOTHING = "roastcoffea: no coffea run was seen in endings.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Scripts, beside a module that they import."""
    folder = tmp_path_factory.mktemp("scripts")
    texts = {"facts": FACTS, "analysis": ANALYSIS, "endings": ENDINGS}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    (folder / "beside.py").write_text("NAME = 'beside'\n")
    return folder


def python(*arguments, cwd):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=cwd,
        env=os.environ | {"TERM": "dumb"},
    )
    return done.returncode, done.stdout, done.stderr


def roast(*arguments, cwd):
    return python("-m", "roastcoffea", "run", *arguments, cwd=cwd)


# ---- what the script sees ----------------------------------------------------------


def test_script_sees_what_python_gives_it(folder):
    arguments = [f"{folder.name}/facts.py", "-q", "--output-dir", "x", "--", "a b"]
    plain = python(*arguments, cwd=folder.parent)
    status, printed, errors = roast(*arguments, cwd=folder.parent)
    assert (status, printed) == plain[:2]
    seen = ast.literal_eval(printed.splitlines()[0])
    assert seen[0] == arguments
    assert seen[1] == "__main__"
    assert seen[2] == str(folder / "facts.py")
    assert errors == f"roastcoffea: no coffea run was seen in {arguments[0]}\n"
    assert not (folder.parent / "x").exists()


# ---- what the user gets ------------------------------------------------------------


@pytest.fixture(scope="module", params=["iterative", "futures"])
def measured(request, folder, tiny_file, tmp_path_factory):
    """A run of the analysis on one executor: what it printed, and its measurement."""
    cwd = tmp_path_factory.mktemp("cwd")
    options = ["-o", "runs", "-l", "site=T2_XX", "-l", "note=a=b", "-i", "0.2"]
    script = [folder / "analysis.py", tiny_file, request.param]
    status, printed, errors = roast(*options, *script, cwd=cwd)
    assert status == 0, errors
    (saved,) = (cwd / "runs").iterdir()
    return request.param, printed, errors, saved


def test_output_of_the_script_is_untouched(measured, folder, tiny_file, tmp_path):
    executor, printed, _, _ = measured
    assert printed.splitlines()[-1] == "{'events': 3000}"
    assert "roast" not in printed
    if executor == "iterative":
        script = [folder / "analysis.py", tiny_file, executor]
        _, plain, _ = python(*script, cwd=tmp_path)
        assert printed.splitlines()[-1] == plain.splitlines()[-1]


def test_summary_is_on_standard_error(measured):
    executor, _, errors, saved = measured
    workers = {"iterative": "Iterative, 1 worker", "futures": "Futures, 2 workers"}
    head = errors.split("\n\n")[0]
    assert "roastcoffea | Analysis | " in head
    assert workers[executor] in head
    assert "site=T2_XX, note=a=b" in head
    assert "FINISHED" in head
    assert "Timing Breakdown" in errors
    assert errors.splitlines()[-1].endswith(f"{saved.parent.name}/{saved.name}")


def test_measurement_is_written_to_the_given_folder(measured):
    executor, _, _, saved = measured
    metrics, t0, t1 = roastcoffea.load_measurement(saved)
    assert t0 < t1
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert metrics["labels"] == {"site": "T2_XX", "note": "a=b"}
    assert metrics["num_attempts"] == 3
    assert metrics["num_failed_attempts"] == 0
    assert metrics["peak_workers"] == {"iterative": 1, "futures": 2}[executor]
    assert metrics["partial"] is False
    assert metrics["tracking_data"]["worker_counts"]


# ---- how it ends -------------------------------------------------------------------


def test_exit_code_of_the_script_is_kept(folder):
    status, printed, errors = roast("endings.py", "exit", cwd=folder)
    assert (status, printed) == (3, "begun\n")
    assert errors == f"{NOTHING}\n"


def test_exception_of_the_script_ends_as_in_python(folder):
    status, printed, errors = roast("endings.py", "raise", cwd=folder)
    assert (status, printed) == (1, "begun\n")
    lines = errors.splitlines()
    assert lines[-1] == "ValueError: mine"
    assert f'File "{folder / "endings.py"}", line 7, in <module>' in lines[-3].strip()
    assert errors.startswith(f"{NOTHING}\n")


def test_ctrl_c_ends_the_script_as_in_python(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "roastcoffea", "run", "endings.py", "wait"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == -signal.SIGINT
    assert errors.startswith(f"{NOTHING}\n")
    assert errors.splitlines()[-1] == "KeyboardInterrupt"


def test_quiet_prints_nothing(folder):
    status, printed, errors = roast("-q", "endings.py", "exit", cwd=folder)
    assert (status, printed, errors) == (3, "begun\n", "")


# ---- misuse ------------------------------------------------------------------------


def test_missing_script_is_one_line_and_code_2(tmp_path):
    status, printed, errors = roast("nowhere.py", cwd=tmp_path)
    assert (status, printed) == (2, "")
    assert errors == (
        "python -m roastcoffea: error: nowhere.py: No such file or directory\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        "run",
        "run --unknown x.py",
        "run -i 0 x.py",
        "run -i nan x.py",
        "run -l site x.py",
        "run -l =T2 x.py",
        f"run -l {'a' * 257}=T2 x.py",
        "run .",
    ],
)
def test_misuse_ends_with_code_2_and_no_traceback(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["python -m roastcoffea", *arguments.split()])
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "error:" in printed.err.splitlines()[-1]
