# SPDX-License-Identifier: BSD-3-Clause
"""Opening runs: what is refused, what cannot be added, and what to run again."""

from __future__ import annotations

import os
import sqlite3

import pytest

import roastcoffea
from collector_helpers import EVENTS, Plain, fileset_of, make_runner
from roastcoffea import FormatError, Run, _core, _probe
from saved_run_samples import differing, facts, measured


@pytest.fixture(scope="module")
def small(tiny_file):
    return measured(tiny_file)


def test_opened_run_takes_nothing(small, tmp_path):
    opened = roastcoffea.open_run(small.save(tmp_path / "x"))
    output = {"__roastcoffea_metrics__": [{"num_events": 1}]}
    for add in (
        lambda: opened.set_coffea_report({"entries": 1}),
        lambda: opened.extract_metrics_from_output(output),
        lambda: opened.set_chunk_metrics([{"num_events": 1}]),
        lambda: opened.record_chunk_metrics({"num_events": 1}),
        lambda: opened.record_section_metrics({"section_name": "x"}),
    ):
        with pytest.raises(RuntimeError, match="opened from a file: nothing can be"):
            add()
    assert output == {"__roastcoffea_metrics__": [{"num_events": 1}]}
    assert differing(facts(small), facts(opened)) == []


def test_text_of_a_file_is_escaped_in_a_repr(tmp_path):
    core = _core.Run(0, 10**18)
    core.set_note("run", "processor", "\x1b[2J\u202eevil\r\né")
    core.finish(1)
    run = roastcoffea.open_run(Run(core).save(tmp_path / "x"))
    assert repr(run) == r"<roastcoffea.Run \x1b[2J\u202eevil\r\né, finished>"


ODD = [
    *("5", '"x"', "null", '["x", 5, {}]', "[" * 3000, '{"a": [1, {}]}', "[1e400]"),
    '[{"name": [1], "duration": "3 s"}, {"name": {}, "duration": 1, "type": []}]',
    '[{"name": "n", "type": "memory", "mem_delta_mb": "x", "duration": %s}]'
    % ("9" * 400),
    '[{"file": [1], "entry_start": {}, "entry_stop": 1, "t_start": "x", "t_end": 2}]',
    '{"worker_memory": 5, "chunk_info": {"a": 1}, "labels": [], "total_events": "x"}',
]
DOCUMENTS = ["sections 0", "records 0", "custom_metrics", "tracking_data"]
DOCUMENTS += ["span_metrics", "config", "imported_metrics"]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_any_document_in_a_file_can_be_read(text, tmp_path):
    """Nothing that a stranger wrote into it raises, also while it is saved again."""
    core = _core.Run(0, 10**18)
    core.add_frames(_probe.frame_of({"num_events": 5, "duration": 1.0}, 1), True)
    for name in DOCUMENTS:
        core.set_note("document", name, text)
    core.finish(10**9)
    opened = roastcoffea.open_run(Run(core).save(tmp_path / "x"))
    assert dict(opened.get_metrics())["total_events"] == 5
    assert len(opened.chunk_metrics) == 1
    assert isinstance(opened.section_metrics, list)
    assert str(opened)
    assert opened.save_measurement(tmp_path, "again").is_dir()


def test_damaged_rows_are_reported_when_they_are_read(small, tmp_path):
    path = small.save(tmp_path / "x.roast")
    with sqlite3.connect(path) as other:
        other.execute("UPDATE journal SET data=zeroblob(30) WHERE block=2")
    opened = roastcoffea.open_run(path)
    assert opened.metrics["total_events"] == small.metrics["total_events"]
    with pytest.warns(UserWarning, match="damaged: .* left out .*roast check"):
        assert len(opened.chunks) == 0
    assert opened.partial
    assert opened.chunk_metrics == []  # once is enough


@pytest.mark.parametrize("path", ["gone", "gone.roast-live", "no/such"])
def test_missing_file_is_an_error(path, tmp_path):
    with pytest.raises(FileNotFoundError, match=path):
        roastcoffea.open_run(tmp_path / path)


def test_folder_without_a_run_is_an_error(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"neither run\.roast nor metrics\.json"
    ):
        roastcoffea.open_run(tmp_path)


def test_empty_path_is_an_error():
    with pytest.raises(ValueError, match="the path is empty"):
        roastcoffea.open_run("")


def test_folder_of_runs_gives_the_one_that_began_last(small, tiny_file, tmp_path):
    runs = [measured(tiny_file, output_dir=tmp_path) for _ in range(2)]
    os.utime(runs[0].measurement_path / "run.roast")  # copied later, say
    opened = roastcoffea.open_run(tmp_path)
    assert opened.id == runs[1].id
    assert opened.path == runs[1].measurement_path


def test_run_that_was_saved_before_its_end_is_unfinished(tiny_file, tmp_path):
    with roastcoffea.monitor() as run:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
        opened = roastcoffea.open_run(run.save(tmp_path / "x.roast"))
        assert "STILL RUNNING" in str(run)
    assert "UNFINISHED" in str(opened)
    assert "3 chunks done" in str(opened)
    assert opened.partial
    assert opened.info["partial"]
    assert not opened.info["ended"]


def test_missing_live_file_error_names_the_finished_run(tiny_file, tmp_path):
    with roastcoffea.monitor(tmp_path, measurement_name="x"):
        pass
    with pytest.raises(FileNotFoundError, match=f"has ended: open {tmp_path / 'x'}"):
        roastcoffea.open_run(tmp_path / "x.roast-live")


NOT_RUNS = {
    "empty": b"",
    "text": b"hello\n" * 100,
    "sqlite": None,
    "short sqlite": b"SQLite format 3\0",
    "frames": b"\xcf\x13\x00\x54\x57\xa5\x6b" * 20,
}


@pytest.mark.parametrize("content", NOT_RUNS.values(), ids=NOT_RUNS)
def test_file_that_is_no_run_is_refused(content, tmp_path):
    path = tmp_path / "x.roast"
    if content is None:
        with sqlite3.connect(path) as other:
            other.execute("create table run (a)")
        other.close()
    else:
        path.write_bytes(content)
    with pytest.raises(FormatError, match=r"x\.roast") as refused:
        roastcoffea.open_run(path)
    assert refused.value.code in ("BAD_DATA", "TRUNCATED")


def test_cut_file_is_refused_or_marked_partial(small, tmp_path):
    whole = small.save(tmp_path / "x.roast").read_bytes()
    for size in range(0, len(whole), len(whole) // 37):
        (tmp_path / "cut").write_bytes(whole[:size])
        try:
            cut = roastcoffea.open_run(tmp_path / "cut")
            reported = [cut.get_metrics(), cut.chunk_metrics, cut.tracking_data]
        except roastcoffea.RoastError:
            continue
        assert cut.partial, reported


def test_opening_does_not_change_the_file_nor_need_to_write(small, tmp_path):
    path = small.save(tmp_path / "x.roast")
    before = path.read_bytes()
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        opened = roastcoffea.open_run(path)
        facts(opened)
    finally:
        tmp_path.chmod(0o755)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# ---- what failed -------------------------------------------------------------------


def test_what_failed_can_be_run_again(tiny_file, tmp_path):
    """A file of three fails and the Runner raises: all of it is run again."""
    import shutil

    good, bad = tmp_path / "good.root", tmp_path / "bad.root"
    shutil.copy(tiny_file, good)
    bad.write_bytes(b"no file of ROOT")
    files = {
        "ttbar": {"files": {str(good): "Events"}, "metadata": {"xsec": (1.5, "pb")}},
        "other": {"files": {str(bad): "Events", str(tiny_file): "Events"}},
    }
    files["other"]["metadata"] = {"year": 2018}
    with pytest.raises(Exception, match=r"bad\.root"), roastcoffea.monitor() as run:
        make_runner()(files, processor_instance=Plain())
    opened = roastcoffea.open_run(run.save(tmp_path / "x.roast"))
    again = opened.failed_fileset()
    assert again == run.failed_fileset()
    assert again["other"]["metadata"] == {"year": 2018}
    assert {name: set(entry["files"]) for name, entry in again.items()} == {
        "ttbar": {str(good)},  # its histograms were lost
        "other": {str(bad), str(tiny_file)},
    }
    shutil.copy(tiny_file, bad)
    with roastcoffea.monitor() as rerun:
        output = make_runner()(again, processor_instance=Plain())
    datasets = [*again.values()]
    assert output["n"] == EVENTS * sum(len(entry["files"]) for entry in datasets)
    assert rerun.failed_fileset() == {}


def test_only_what_failed_is_run_again(tiny_file, tmp_path):
    """With skipbadfiles the others are done."""
    import shutil

    bad = tmp_path / "bad.root"
    bad.write_bytes(b"no file of ROOT")
    files = fileset_of(tiny_file, bad)
    with roastcoffea.monitor() as run:
        make_runner(skipbadfiles=(Exception,))(files, processor_instance=Plain())
    again = run.failed_fileset()
    assert [*again["ttbar"]["files"]] == [str(bad)]
    shutil.copy(tiny_file, bad)
    output = make_runner()(again, processor_instance=Plain())
    assert output["n"] == EVENTS


class StopsAtSecond(Plain):
    """Fails from the second chunk on."""

    def process(self, events):
        if events.metadata["entrystart"] > 0:
            raise ValueError("mine")
        return super().process(events)


def files_of(fileset):
    return {file for entry in fileset.values() for file in entry["files"]}


def test_everything_is_run_again_when_the_runner_raised(tiny_file, tmp_path):
    """The first chunks ended well, but their results were lost."""
    import shutil

    other = shutil.copy(tiny_file, tmp_path / "other.root")
    fileset = fileset_of(tiny_file) | {"late": {"files": {str(other): "Events"}}}
    with pytest.raises(Exception, match="mine"), roastcoffea.monitor() as run:
        make_runner()(fileset, processor_instance=StopsAtSecond())
    assert run.get_metrics()["num_successful_chunks"] == 1
    assert files_of(run.failed_fileset()) == {str(tiny_file), str(other)}


def test_only_the_call_without_an_output_is_run_again(tiny_file, tmp_path):
    """Only what the call that gave no output was given."""
    import shutil

    other = shutil.copy(tiny_file, tmp_path / "other.root")
    with roastcoffea.monitor() as run:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
        assert run.failed_fileset() == {}
        with pytest.raises(Exception, match="mine"):
            make_runner()(fileset_of(other), processor_instance=StopsAtSecond())
    assert files_of(run.failed_fileset()) == {str(other)}
    assert len(run.failed_items()) == 3


def test_nothing_is_run_again_when_the_block_raised_after_the_output_came(tiny_file):
    def run_and_fail():
        make_runner(maxchunks=1)(fileset_of(tiny_file), processor_instance=Plain())
        raise RuntimeError("of the user")

    with pytest.raises(RuntimeError, match="user"), roastcoffea.monitor() as run:
        run_and_fail()
    assert run.failed_fileset() == {}
    assert run.get_metrics()["partial"] is True


def test_nothing_failed_is_nothing_to_run(small):
    assert small.failed_fileset() == {}


def test_core_refuses_what_it_does_not_know(small):
    with pytest.raises(KeyError, match="nonsense"):
        small._core.set_note("nonsense", "a", "b")
    with pytest.raises(KeyError, match="nonsense"):
        small._core.notes("nonsense")
    with pytest.raises((KeyError, ValueError), match="nonsense"):
        small.table("nonsense")
    with pytest.raises(_core.StoreError):
        _core.open_run("/no/such/file")
