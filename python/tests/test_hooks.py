# SPDX-License-Identifier: BSD-3-Clause
"""Hooks come with the first chunk and go with the run: whatever happens, what was there
is there again, the identical object."""

from __future__ import annotations

import os
import shutil

import pytest
import uproot

import roastcoffea
from collector_helpers import (
    CHUNKS,
    Failing,
    fileset_of,
    iterative,
    make_runner,
    open_pool,
    processes,
    threads,
)
from hook_checks import (
    Looking,
    Originals,
    fresh_hooks,
    hooked_objects,
    in_place,
    is_hook,
)
from roastcoffea import _probe
from roastcoffea.coffea import hooks
from support import run_python, waiting

renewed = pytest.fixture(name="renewed")(fresh_hooks)
pool = pytest.fixture(scope="module", name="pool")(open_pool)
EXECUTORS = {"iterative": iterative, "threads": threads}


def analysis():
    return Looking(["Hit_value", "event"])


@pytest.fixture
def originals():
    """Checked once more at the end of every test that asks for it."""
    originals = Originals()
    yield originals
    originals.check()


# ---- they come and go -------------------------------------------------------------


@pytest.mark.parametrize("executor", EXECUTORS)
def test_hooks_are_there_for_chunks_and_gone_after_the_run(
    tiny_file, originals, executor
):
    runner = make_runner(EXECUTORS[executor]())
    with roastcoffea.monitor() as run:
        out = runner(fileset_of(tiny_file), analysis())
        originals.check()
    places = len(originals.before) - 1  # packing is later
    assert out["hooks"] == CHUNKS * places
    assert out["collected"] == CHUNKS * (len(originals.callbacks) + 1)
    assert all(chunk["hook_calls"] > 0 for chunk in run.chunk_metrics)


def test_hooks_go_in_the_processes_of_a_pool_too(tiny_file, originals, pool):
    with roastcoffea.monitor():
        out = make_runner(processes(pool))(fileset_of(tiny_file), analysis())
    assert out["hooks"] > 0
    jobs = [pool.submit(any_hook) for _ in range(4)]
    assert not any(job.result() for job in jobs)


def test_hooks_stay_between_chunks_until_the_run_ends(tiny_file, originals, renewed):
    with roastcoffea.monitor() as run:
        out = make_runner(iterative())(fileset_of(tiny_file), analysis())
        originals.check()
    assert out["hooks"] == CHUNKS * (len(originals.before) - 1)
    assert hooks._hooks.times_placed == 1 < CHUNKS
    assert all(chunk["hook_calls"] > 0 for chunk in run.chunk_metrics)


def test_hooks_that_come_and_go_too_often_stay(renewed):
    """In a process that is not notified when a run ends."""
    looking = hooks.Hooks(())
    for _ in range(hooks.MOST_PLACED):
        assert not looking.in_place
        looking.arm(1)
        looking.disarm(1)
    assert looking.in_place
    looking.clear()


def test_hooks_of_a_chunk_that_begins_when_the_run_is_over_go_with_it(renewed):
    """Queued chunks of a run that raised: the hooks are not cleared twice."""
    runs = {"mark"}
    looking = hooks.Hooks([runs])
    looking.arm(1)
    looking.disarm(1)
    assert looking.in_place
    runs.clear()
    looking.clear()
    looking.arm(2)
    assert looking.in_place
    looking.disarm(2)
    assert not looking.in_place


def test_hooks_that_stay_are_found_again_and_those_that_lost_their_place(renewed):
    looking = hooks.Hooks([{"mark"}])
    looking.arm(1)
    looking.disarm(1)
    assert looking.in_place
    owner, attribute, original, _ = looking.found[0]
    looking.arm(2)
    assert looking.times_placed == 1
    looking.disarm(2)
    setattr(owner, attribute, original)  # by other code
    looking.arm(3)
    assert is_hook(vars(owner)[attribute])
    looking.disarm(3)
    looking.clear()
    assert vars(owner)[attribute] is original


def any_hook():
    return any(map(is_hook, hooked_objects().values()))


def test_entering_a_block_hooks_nothing(originals):
    with roastcoffea.monitor():
        originals.check()


def test_importing_us_changes_nothing_of_others():
    """Every name in the modules that we hook is what it was."""
    script = """
        import gc, sys
        import coffea.nanoevents, coffea.processor, pyarrow.parquet, uproot
        import _frozen_importlib

        def everything():
            roots = ("uproot", "coffea", "awkward", "pyarrow", "_frozen_importlib")
            modules = [m for n, m in sys.modules.items() if n.split(".")[0] in roots]
            spaces = [vars(m) for m in modules]
            spaces += [vars(v) for s in spaces for v in s.values() if type(v) is type]
            return {(i, k): id(v) for i, s in enumerate(spaces) for k, v in s.items()}

        before, callbacks = everything(), list(gc.callbacks)
        import roastcoffea
        with roastcoffea.monitor():
            pass
        from roastcoffea.coffea import hooks
        after = everything()
        same = [after[key] == value for key, value in before.items()]
        print(len(same) > 1000, all(same), gc.callbacks == callbacks)
    """
    assert run_python(script).split() == ["True", "True", "True"]


# ---- whatever happens -------------------------------------------------------------


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_hooks_go_when_process_raises(tiny_file, originals, executor, error):
    runner = make_runner(EXECUTORS[executor](retries=0))
    with pytest.raises((error, Exception)), roastcoffea.monitor():
        runner(fileset_of(tiny_file), Failing(error("no")))


class Removing(Looking):
    """Removes its file: the next chunk cannot open it."""

    def __init__(self, path):
        super().__init__()
        self.path = path

    def process(self, events):
        out = super().process(events)
        os.unlink(self.path)
        return out


def test_hooks_go_when_a_file_is_gone(tiny_file, tmp_path, originals):
    path = shutil.copy(tiny_file, tmp_path / "gone.root")
    with (
        pytest.raises(Exception, match="Failed to open"),
        roastcoffea.monitor() as run,
    ):
        make_runner()(fileset_of(path), Removing(path))
    originals.check()
    assert run.get_metrics()["num_failed_chunks"] == 1


@pytest.mark.parametrize("name", ["ladder_setup", "ladder_arm"])
def test_hooks_go_when_a_ctrl_c_comes_while_they_are_placed(
    tiny_file, originals, renewed, name
):
    def interrupted(*args):
        raise KeyboardInterrupt

    with renewed.context() as patch, roastcoffea.monitor():
        patch.setattr(_probe, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            make_runner()(fileset_of(tiny_file), analysis())
    originals.check()
    with roastcoffea.monitor():
        out = make_runner()(fileset_of(tiny_file), analysis())
    assert out["hooks"] > 0


def test_a_hook_that_cannot_be_placed_takes_all_others_away(
    tiny_file, originals, renewed
):
    def refused(*place):
        raise RuntimeError("not today")

    renewed.setattr(hooks, "find", refused)
    with roastcoffea.monitor() as run:
        out = make_runner()(fileset_of(tiny_file), analysis())
    assert out["hooks"] == 0
    (missing,) = run.get_metrics()["hooks_missing"]
    assert missing["hook"] == "cost"


class Replacing(Looking):
    """Puts its own function where a hook is."""

    def process(self, events):
        uproot.open = shutil.copy
        return super().process(events)


def test_what_process_puts_in_a_place_stays_there(tiny_file, monkeypatch):
    original = uproot.open
    monkeypatch.setattr(uproot, "open", original)  # put back at the end
    with roastcoffea.monitor():
        make_runner(maxchunks=1)(fileset_of(tiny_file), Replacing())
    assert uproot.open is shutil.copy


# ---- without us -------------------------------------------------------------------


def test_an_unmonitored_run_meets_no_hook_and_leaves_no_record(tiny_file, originals):
    runner, files = make_runner(), fileset_of(tiny_file)
    with roastcoffea.monitor() as run:
        hooked = runner(files, analysis())
    records = len(run.chunk_metrics)
    plain = runner(files, analysis())
    assert plain["hooks"] == 0 < hooked["hooks"]
    assert plain["collected"] == CHUNKS * len(originals.callbacks)
    assert plain["Hit_value"] == hooked["Hit_value"]
    assert waiting() == []
    assert len(run.chunk_metrics) == records == CHUNKS
    assert not {key for key in plain if key.startswith("__roast")}


def test_hooks_pass_through_where_no_chunk_runs(tiny_file):
    """Another thread, a notebook's cell: the same as ever, and no record."""
    with uproot.open(tiny_file) as root:
        expected = root["Events"].arrays(["Hit_value", "event"])
    with in_place():
        assert is_hook(vars(uproot)["open"])
        with uproot.open(tiny_file) as root:
            found = root["Events"].arrays(["Hit_value", "event"])
    assert found.tolist() == expected.tolist()
    assert waiting() == []


def test_switched_off_everything_is_left_alone(tiny_file):
    script = """
        import sys
        import roastcoffea
        from collector_helpers import fileset_of, make_runner
        from hook_checks import Looking, Originals

        originals = Originals()
        with roastcoffea.monitor() as run:
            out = make_runner()(fileset_of(sys.argv[1]), Looking())
        originals.check()
        print(out["hooks"], len(run.chunk_metrics))
    """
    out = run_python(script, tiny_file, ROASTCOFFEA="off")
    assert out.split()[-2:] == ["0", "0"]
