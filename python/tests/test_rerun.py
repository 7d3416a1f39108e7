# SPDX-License-Identifier: BSD-3-Clause
"""Output and rerun together have every entry once, whatever went wrong."""

from __future__ import annotations

import _thread
import json
import os
import shutil
import signal
import subprocess
import threading
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path

import awkward as ak
import loky
import numpy as np
import pytest
import uproot
from coffea import processor
from coffea.nanoevents import BaseSchema
from coffea.processor import Runner, accumulate
from coffea.processor.executor import WorkItem

import roastcoffea
from cli_program import ENVIRONMENT, program
from clusters import on_dask, shared_client
from collector_helpers import iterative, make_runner, open_pool, processes, threads
from roastcoffea import _core
from roastcoffea.coffea.plan import Plan, keeps_output
from roastcoffea.coffea.rerun import items_of

FILES = ("a", "b", "c")
SIZE = 1000  # of a chunk; a file has 3000 entries
XSEC = {"ttbar": 831.76, "data": 1.0}


class Counting(processor.ProcessorABC):
    """What an analysis gives, with the ranges that it saw, and its user's metadata."""

    def process(self, events):
        meta = events.metadata
        where = f"{meta['dataset']} {Path(meta['filename']).stem} {meta['treename']}"
        return {
            "n": len(events),
            "sum": float(
                ak.sum(ak.values_astype(events.Hit_value, "float64"), axis=None)
            ),
            "weighted": len(events) * meta["xsec"],
            "entries": Counter(
                f"{where} {entry}"
                for entry in range(meta["entrystart"], meta["entrystop"], 500)
            ),
        }

    def postprocess(self, accumulator):
        return accumulator


class Faulty(Counting):
    """Raises in some chunks: {(file, first entry)}."""

    def __init__(self, *bad, error=OSError):
        self.bad = bad
        self.error = error

    def process(self, events):
        meta = events.metadata
        if (Path(meta["filename"]).stem, meta["entrystart"]) in self.bad:
            raise self.error("mine")
        return super().process(events)


class Fatal(Faulty):
    """Kills its process there."""

    def process(self, events):
        meta = events.metadata
        if (Path(meta["filename"]).stem, meta["entrystart"]) in self.bad:
            os.kill(os.getpid(), signal.SIGKILL)
        return Counting.process(self, events)


class Waiting(Counting):
    """Waits in its first chunk, until ``go`` exists."""

    def __init__(self, folder):
        self.folder = str(folder)

    def process(self, events):
        Path(self.folder, "here").touch()
        while not Path(self.folder, "go").exists():
            threading.Event().wait(0.01)
        return super().process(events)


class Normalised(Faulty):
    """Its outputs cannot be added after postprocess()."""

    def postprocess(self, accumulator):
        return accumulator | {"mean": accumulator["sum"] / accumulator["n"]}


# ---- runs ------------------------------------------


@pytest.fixture(scope="module")
def folder(tiny_file, tmp_path_factory):
    place = tmp_path_factory.mktemp("rerun")
    for name in FILES:
        shutil.copy(tiny_file, place / f"{name}.root")
    return place


@pytest.fixture(scope="module")
def fileset(folder):
    """A file in two datasets, and one alone."""
    a, b, c = (str(folder / f"{name}.root") for name in FILES)
    data = {"ttbar": {a: "Events", b: "Events"}, "data": {b: "Events", c: "Events"}}
    return {
        name: {
            "files": files,
            "metadata": {"xsec": XSEC[name], "pair": (1, 2), "tags": ["x", None]},
            "preload": ["Hit_value", "nHit"],
        }
        for name, files in data.items()
    }


@pytest.fixture(scope="module")
def truth(fileset):
    return make_runner(iterative())(fileset, Counting())


pool = pytest.fixture(open_pool, scope="module")
client = pytest.fixture(shared_client, scope="module")


@pytest.fixture(params=["iterative", "threads", "processes", "dask"])
def executor(request):
    retries = {"retries": 0}
    if request.param == "processes":
        return processes(request.getfixturevalue("pool"), **retries)
    if request.param == "dask":
        return on_dask(request.getfixturevalue("client"), **retries)
    return {"iterative": iterative, "threads": threads}[request.param](**retries)


def runner_of(executor, **options):
    options = {"schema": BaseSchema, "chunksize": SIZE} | options
    return Runner(executor, **options)


def check(truth, *outputs):
    """Every entry once, integers equal, sums within 1e-12."""
    total = accumulate([dict(output) for output in outputs])
    assert total["entries"] == truth["entries"]
    assert set(truth["entries"].values()) == {1}
    assert total["n"] == truth["n"]
    for name in ("sum", "weighted"):
        assert total[name] == pytest.approx(truth[name], rel=1e-12)


def planned(executor, fileset):
    return list(runner_of(executor).preprocess(fileset))


def same(items, others):
    """WorkItems compare without metadata and preload."""
    assert items == others
    for item, other in zip(items, others, strict=True):
        assert item.usermeta == other.usermeta
        assert item.preload == other.preload


# ---- chunks that raise ------------------------------------------


def test_skipped_chunks_and_output_are_the_truth(executor, fileset, truth):
    runner = runner_of(executor, skipbadfiles=True)
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # coffea's: skipping
        output = runner(fileset, Faulty(("a", 1000), ("b", 2000)))
    items = run.failed_items()
    same(
        sorted(items, key=repr),
        sorted(
            (
                item
                for item in planned(iterative(), fileset)
                if (Path(item.filename).stem, item.entrystart)
                in (("a", 1000), ("b", 2000))
            ),
            key=repr,
        ),
    )
    with pytest.raises(ValueError, match=r"in the result in part: .*failed_items\(\)"):
        run.failed_fileset()
    with roastcoffea.monitor() as again:
        rerun = runner(items, Counting())
    check(truth, output, rerun)
    assert again.failed_items() == []
    assert again.failed_fileset() == {}


def test_whole_files_and_output_are_the_truth(fileset, truth):
    """Items and files are two ways to the same."""
    runner = runner_of(iterative(retries=0), skipbadfiles=True)
    bad = [("c", start) for start in range(0, 3000, SIZE)]
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = runner(fileset, Faulty(*bad))
    files = run.failed_fileset()
    assert [*files] == ["data"]
    assert [Path(file).stem for file in files["data"]["files"]] == ["c"]
    assert files["data"]["metadata"] == fileset["data"]["metadata"]
    check(truth, output, runner(files, Counting()))
    check(truth, output, runner(run.failed_items(), Counting()))


def test_rerun_alone_is_the_truth_where_the_call_raised(executor, fileset, truth):
    runner = runner_of(executor)
    with pytest.raises(Exception, match="mine"), roastcoffea.monitor() as run:
        runner(fileset, Faulty(("b", 1000), error=ValueError))
    items = run.failed_items()
    same(items, planned(iterative(), fileset))
    check(truth, runner(items, Counting()))
    assert run.failed_fileset().keys() == fileset.keys()


def test_output_that_came_with_an_exception(fileset, truth):
    """A recoverable executor, and Err instead of raising."""
    executor = threads(recoverable=True, retries=0)
    options = {"skipbadfiles": (Exception,), "use_result_type": True}
    with roastcoffea.monitor() as run:
        result = runner_of(executor, **options)(fileset, Faulty(("a", 0)))
    assert result.value is not None
    rerun = runner_of(executor)(run.failed_items(), Counting())
    check(truth, result.value, rerun)


# ---- missing files ------------------------------------------


@pytest.fixture
def with_gone(fileset, folder, tiny_file, tmp_path):
    """A fileset with a file that does not exist yet, how to bring it, and the truth."""
    gone = tmp_path / "gone.root"
    files = {name: dict(entry) for name, entry in fileset.items()}
    files["data"]["files"] = fileset["data"]["files"] | {str(gone): "Events"}

    def bring():
        shutil.copy(tiny_file, gone)
        return make_runner(iterative())(files, Counting())

    return files, bring


def test_missing_file_that_was_skipped(executor, with_gone):
    files, bring = with_gone
    runner = runner_of(executor, skipbadfiles=True)
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = runner(files, Counting())
    with pytest.raises(ValueError, match=r"1 file failed in preproc.*failed_fileset"):
        run.failed_items()
    found = run.failed_fileset()
    assert [Path(file).stem for file in found["data"]["files"]] == ["gone"]
    truth = bring()
    check(truth, output, runner(found, Counting()))


def test_missing_file_beside_skipped_chunks(with_gone, tmp_path):
    """Items and files without items are disjoint."""
    files, bring = with_gone
    runner = runner_of(iterative(retries=0), skipbadfiles=True)
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = runner(files, Faulty(("b", 1000)))
    (finding,) = (f for f in run.get_metrics()["findings"] if f["id"] == "failures")
    both = "run failed_items() and failed_fileset(without_items=True)"
    assert both in finding["advice"]
    with pytest.warns(UserWarning, match=r"failed_fileset\(without_items=True\)"):
        items = run.failed_items()
    with pytest.raises(ValueError, match=r"failed_items\(\), and failed_fileset\(with"):
        run.failed_fileset()
    found = run.failed_fileset(without_items=True)
    truth = bring()
    check(truth, output, runner(items, Counting()), runner(found, Counting()))
    written = write_failed(run, tmp_path)
    with pytest.warns(UserWarning, match="1 file failed in preprocessing"):
        assert roastcoffea.load_items(written) == items
    check(
        truth,
        output,
        runner(items, Counting()),
        runner(json.loads(written.read_text())["fileset"], Counting()),
    )


def test_call_that_ended_in_preprocessing(executor, with_gone):
    files, bring = with_gone
    runner = runner_of(executor)
    with pytest.raises(OSError, match="gone"), roastcoffea.monitor() as run:
        runner(files, Counting())
    with pytest.raises(ValueError, match=r"no items: failed_fileset\(\)"):
        run.failed_items()
    found = run.failed_fileset()
    truth = bring()
    check(truth, runner(found, Counting()))


def test_maxchunks_leaves_no_file_to_run_again(with_gone):
    """Files behind the last chunk were not wanted."""
    files, _ = with_gone
    runner = runner_of(iterative(retries=0), maxchunks=2, skipbadfiles=True)
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner(files, Counting())
    assert run.failed_items() == []
    assert run.failed_fileset() == {}


# ---- processes that die, and Ctrl-C ------------------------------------------


def test_killed_worker_of_a_pool(fileset, truth):
    with loky.ProcessPoolExecutor(max_workers=2) as pool:
        runner = runner_of(processes(pool, retries=0))
        with pytest.raises(Exception, match="terminated"), roastcoffea.monitor() as run:
            runner(fileset, Fatal(("b", 1000)))
    items = run.failed_items()
    same(items, planned(iterative(), fileset))
    check(truth, runner_of(iterative())(items, Counting()))


@pytest.mark.parametrize("kind", ["iterative", "threads", "processes", "dask"])
def test_ctrl_c(kind, fileset, truth, tmp_path, request):
    """Nothing of an interrupted call is in a result."""
    pool = ProcessPoolExecutor
    made = {
        "iterative": iterative,
        "threads": threads,
        "processes": lambda: processes(pool),
    }
    executor = (
        made[kind]() if kind in made else on_dask(request.getfixturevalue("client"))
    )
    runner = runner_of(executor)

    def interrupt():
        while not (tmp_path / "here").exists():
            threading.Event().wait(0.01)
        if kind in ("threads", "processes"):  # the pool waits for what began
            (tmp_path / "go").touch()
        _thread.interrupt_main()

    other = threading.Thread(target=interrupt)
    other.start()
    with suppress(KeyboardInterrupt), roastcoffea.monitor() as run:
        runner(fileset, Waiting(tmp_path))
        pytest.fail("not interrupted")
    (tmp_path / "go").touch()
    other.join()
    items = run.failed_items()
    same(items, planned(iterative(), fileset))
    check(truth, runner(items, Counting()))


# ---- files and programs ------------------------------------------


def write_failed(run, folder):
    """What ``roast failed RUN`` writes."""
    run.save(folder / "x.roast")
    with open(folder / "items.json", "wb") as out:
        command = [program(), "failed", str(folder / "x.roast")]
        subprocess.run(command, env=ENVIRONMENT, stdout=out, check=True, timeout=60)
    return folder / "items.json"


def test_opened_run_and_program_give_the_same_items(fileset, truth, tmp_path):
    runner = runner_of(iterative(retries=0), skipbadfiles=True)
    with roastcoffea.monitor(tmp_path / "runs") as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = runner(fileset, Faulty(("a", 0), ("b", 1000)))
    items = run.failed_items()
    same(roastcoffea.open_run(run.measurement_path).failed_items(), items)
    same(roastcoffea.load_items(write_failed(run, tmp_path)), items)
    assert all(type(item) is WorkItem for item in items)
    check(truth, output, runner(items, Counting()))


def test_file_without_items_is_refused(tmp_path):
    for text in ("[]", "{}", '{"items": 1}'):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(ValueError, match=r"x\.json has no items: `roast failed"):
            roastcoffea.load_items(tmp_path / "x.json")


def test_metadata_that_no_file_holds_is_not_guessed(folder, tmp_path):
    """Here the items have it; elsewhere they are refused."""
    weight = np.float32(0.1)
    files = {
        "a": {"files": {str(folder / "a.root"): "Events"}, "metadata": {"xsec": weight}}
    }
    with pytest.raises(Exception, match="mine"), roastcoffea.monitor() as run:
        runner_of(iterative(retries=0))(files, Faulty(("a", 0)))
    assert all(item.usermeta["xsec"] is weight for item in run.failed_items())
    opened = roastcoffea.open_run(run.save(tmp_path / "y.roast"))
    for ask in (opened.failed_items, opened.failed_fileset):
        with pytest.raises(ValueError, match=r"metadata of 'a' cannot be restored"):
            ask()
    assert run.failed_fileset()["a"]["metadata"]["xsec"] is weight


# ---- calls ------------------------------------------


def test_several_calls_are_apart(fileset, truth):
    runner = runner_of(iterative(retries=0), skipbadfiles=True)
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = runner(fileset, Counting())
        second = runner(fileset, Faulty(("a", 0)))
        assert len(run.failed_items()) == 1  # the one call that misses items
        third = runner(fileset, Faulty(("c", 0), ("c", 1000)))
    for ask in (run.failed_items, run.failed_fileset):
        with pytest.raises(ValueError, match=r"calls 2 and 3 .* choose one, call=2"):
            ask()
    check(truth, whole)
    assert run.failed_items(call=1) == []
    check(truth, second, runner(run.failed_items(call=2), Counting()))
    check(truth, third, runner(run.failed_items(call=3), Counting()))
    with pytest.raises(ValueError, match="no call 4 of the Runner, but 3"):
        run.failed_items(call=4)
    with pytest.raises(ValueError, match="numbered from 1"):
        run.failed_items(call=0)


def test_rerun_in_the_same_block(fileset, truth):
    """What was run again is not handed out, and added, a second time."""
    runner = runner_of(iterative(retries=0), skipbadfiles=True)
    outputs = []
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs.append(runner(fileset, Faulty(("a", 1000), ("b", 2000))))
        assert len(run.failed_items()) == 3
        outputs.append(runner(run.failed_items(), Faulty(("b", 2000))))
        with pytest.raises(Exception, match="mine"):
            runner(run.failed_items(), Faulty(("b", 2000), error=ValueError))
        while items := run.failed_items():
            outputs.append(runner((item for item in items), Faulty()))
    assert len(outputs) == 3
    check(truth, *outputs)


def test_other_processor_over_the_same_items_is_no_rerun(fileset, truth):
    runner = runner_of(iterative(retries=0), skipbadfiles=True)
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = runner(fileset, Faulty(("a", 0)))
        runner(run.failed_items(), Normalised())
        check(truth, output, runner(run.failed_items(), Counting()))
    assert len(run.failed_items()) == 1


def test_files_that_were_run_again_in_the_same_block(with_gone):
    files, bring = with_gone
    runner = runner_of(iterative(retries=0))
    with roastcoffea.monitor() as run:
        with pytest.raises(OSError, match="gone"):
            runner(files, Counting())
        truth = bring()  # a call of its own
        check(truth, runner(run.failed_fileset(), Counting()))
        assert run.failed_fileset() == {}
        assert run.failed_items() == []


@pytest.mark.parametrize("form", [list, iter])
def test_items_that_were_given(form, fileset, truth):
    """A list, or a generator of preprocess()."""
    runner = runner_of(iterative(retries=0), skipbadfiles=True)
    items = planned(iterative(), fileset)
    given = items if form is list else (item for item in items)
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = runner(given, Faulty(("a", 0), ("a", 1000), ("a", 2000)))
    check(truth, output, runner(run.failed_items(), Counting()))
    with pytest.raises(ValueError, match=r"not for whole files \(items\): use failed_"):
        run.failed_fileset()


class Splitting(processor.IterativeExecutor):
    """Halves each item, as TaskVine does, and loses a half."""

    def __call__(self, items, function, accumulator):
        if self.function_name == "get_metadata":
            return super().__call__(items, function, accumulator)
        halves = []
        for item in items:
            middle = item.entrystart + 500
            for start, stop in ((item.entrystart, middle), (middle, item.entrystop)):
                fields = (item.dataset, item.filename, item.treename, start, stop)
                rest = (item.fileuuid, item.usermeta, item.preload)
                halves.append(WorkItem(*fields, *rest))
        return super().__call__(halves[:3] + halves[4:], function, accumulator)


def test_items_that_were_split(fileset, truth):
    with roastcoffea.monitor() as run:
        output = runner_of(Splitting(status=False))(fileset, Counting())
    (item,) = run.failed_items()
    assert (item.entrystart, item.entrystop) == (1500, 2000)
    check(truth, output, runner_of(iterative())([item], Counting()))


def test_trees_of_one_file(tmp_path):
    path = tmp_path / "trees.root"
    values = {"Hit_value": np.arange(3000.0)}
    with uproot.recreate(path) as root:
        for name in ("Events", "Others"):
            root.mktree(name, values).extend(values)
    files = {
        "one": {"files": {str(path): "Events"}, "metadata": {"xsec": 1}},
        "two": {"files": {str(path): "Others"}, "metadata": {"xsec": 2}},
    }
    runner = runner_of(iterative(retries=0), skipbadfiles=True)
    truth = runner(files, Counting())
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = runner(files, Faulty(("trees", 1000)))
    items = run.failed_items()
    assert [item.treename for item in items] == ["Events", "Others"]
    check(truth, output, runner(items, Counting()))


def test_parquet(tmp_path):
    ak.to_parquet(ak.Array({"Hit_value": np.arange(3000.0)}), tmp_path / "a.parquet")
    files = {"one": {"files": [str(tmp_path / "a.parquet")], "metadata": {"xsec": 1}}}
    options = {"format": "parquet", "skipbadfiles": True}
    runner = runner_of(iterative(retries=0), **options)
    truth = runner(files, Counting(), treename="Events")
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = runner(files, Faulty(("a", 1000)), treename="Events")
    (item,) = run.failed_items()
    check(truth, output, runner([item], Counting()))


def test_run_without_a_runner_has_no_items():
    with roastcoffea.monitor() as run:
        run.record_chunk_metrics({"num_events": 1})
    with pytest.raises(ValueError, match="no call of coffea's Runner"):
        run.failed_items()
    with roastcoffea.monitor() as empty:
        pass
    assert empty.failed_items() == []


# ---- postprocess ------------------------------------------


def test_outputs_after_postprocess_are_not_added(fileset, truth, tmp_path):
    """Both functions, the advice and the file say so; running everything is right."""
    analysis = Normalised(*(("c", start) for start in (0, 1000, 2000)))
    runner = runner_of(iterative(retries=0), skipbadfiles=True)
    with roastcoffea.monitor() as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = runner(fileset, analysis)
    text = r"postprocess\(\) of Normalised .* must not be added .* Run everything again"
    with pytest.warns(UserWarning, match=text):
        items = run.failed_items()
    with pytest.warns(UserWarning, match=text):
        assert [*run.failed_fileset()] == ["data"]
    with pytest.warns(UserWarning, match=text):
        roastcoffea.load_items(write_failed(run, tmp_path))
    (finding,) = (f for f in run.get_metrics()["findings"] if f["id"] == "failures")
    assert "run everything again (postprocess() may change" in finding["advice"]
    assert "or everything" not in finding["advice"]
    mean = truth["sum"] / truth["n"]
    added = accumulate([dict(output), dict(runner(items, Normalised()))])
    assert added["mean"] == pytest.approx(2 * mean, rel=0.1)  # what must not be done
    anew = runner(fileset, Normalised())
    check({k: v for k, v in truth.items() if k != "mean"}, anew)
    assert anew["mean"] == pytest.approx(mean, rel=1e-12)


def test_nothing_is_said_of_postprocess_where_there_is_no_result(fileset):
    with pytest.raises(Exception, match="mine"), roastcoffea.monitor() as run:
        runner_of(iterative(retries=0))(fileset, Normalised(("c", 0)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(run.failed_items()) == 12
    (finding,) = (f for f in run.get_metrics()["findings"] if f["id"] == "failures")
    assert finding["advice"].endswith("fix that and run failed_items()")


def processor_with(function):
    return type("Analysis", (), {"postprocess": function})()


def identity(self, accumulator):
    return accumulator


def nothing(self, accumulator):
    """Of the base class."""


def changed(self, accumulator):
    accumulator["n"] /= 2


def other(self, accumulator):
    return self


@pytest.mark.parametrize(
    ("analysis", "kept"),
    [
        (processor_with(identity), True),
        (processor_with(nothing), True),
        (processor_with(lambda self, a: None), True),
        (processor_with(staticmethod(lambda a: a)), True),
        (processor_with(7), True),  # not called
        (len, True),
        (processor_with(changed), False),
        (processor_with(other), False),
        (processor_with(lambda self, a: dict(a)), False),
        (processor_with(staticmethod(len)), False),
    ],
)
def test_postprocess_that_keeps_the_output(analysis, kept):
    assert keeps_output(analysis) is kept


def test_names_with_secrets_are_restored_here_and_not_written():
    url = "root://me:pw@host//a.root?token=abc"
    item = WorkItem("d", url, "t", 0, 10, b"\1", {"token": "abc", "x": (1.5, None)})
    plan, run = Plan(), _core.Run(1, 10**18, "here")
    run.set_note("call", "1 call", "processor\tA")
    run.set_note("call", "1 items", plan.items_text([item]))
    text = run.failed_items(0)
    assert "pw" not in text
    assert "abc" not in text
    same(items_of(json.loads(text), plan.originals, 1), [item])
    with pytest.raises(ValueError, match="cannot be restored"):
        items_of(json.loads(text), {}, 1)


def test_result_that_our_error_hides_is_not_run_again(fileset, monkeypatch):
    def fail(*_):
        raise RuntimeError("ours")

    monkeypatch.setattr(Plan, "result_text", fail)
    with roastcoffea.monitor() as run:
        output = runner_of(iterative())(fileset, Counting())
    assert output["n"] > 0
    for ask in (run.failed_items, run.failed_fileset):
        with pytest.raises(ValueError, match=r"items of call 1 .* are not known"):
            ask()


# ---- texts for C ------------------------------------------


def test_stretches_of_items():
    def item(start, stop, name="f"):
        return WorkItem("d", name, "t", start, stop, b"\1\2", {}, None)

    plan = Plan()
    items = [item(0, 10), item(10, 20), item(0, 0, "g"), item(20, 25), item(20, 25)]
    text = plan.items_text(items)
    assert [row for row in text.split("\n") if row.startswith("items")] == [
        "items\t0 10 2 20 5 1 20 5 1",
        "items\t0 0 1",
    ]
    assert plan.result_text({items[1], items[2]}) == "in\t0\t10 10 1\nin\t1\t0 0 1"
    assert plan.result_text(None) == "records"
