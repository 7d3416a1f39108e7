# SPDX-License-Identifier: BSD-3-Clause
"""Where the numbers come from: recorded early and correctly, with nothing private."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from types import SimpleNamespace

import pytest

import roastcoffea
from collector_helpers import Plain, fileset_of, iterative, make_runner, threads
from roastcoffea import _probe, provenance
from roastcoffea.coffea import fileset
from roastcoffea.run_recorder import RunRecorder
from support import run_python

SECRET = "s3cr3t"


def facts_of(tiny_file, runner=None):
    with roastcoffea.monitor() as run:
        (runner or make_runner())(fileset_of(tiny_file), processor_instance=Plain())
    return run.provenance


# ---- versions, host, command -------------------------------------------------------


def test_versions_are_those_of_what_is_installed(tiny_file):
    facts = facts_of(tiny_file)
    for name in provenance.PACKAGES:
        assert facts[f"version.{name}"] == importlib.metadata.version(name)
    assert facts["version.roastcoffea"] == roastcoffea.__version__
    assert facts["version.python"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["host"] == os.uname().nodename
    assert facts["platform"].startswith("Linux ")


def test_package_that_is_not_installed_is_not_named(monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGES", ("no-such-package", "numpy"))
    assert set(provenance.versions(provenance.PACKAGES)) == {"version.numpy"}


def test_finding_versions_imports_nothing():
    script = """
        import sys
        from roastcoffea import provenance

        facts = provenance.at_begin() | provenance.at_end()
        assert "version.coffea" in facts and "version.dask" in facts, facts
        assert not {"coffea", "dask", "pyarrow", "uproot"} & set(sys.modules)
    """
    run_python(script)


def test_facts_are_there_before_the_block_ends(tiny_file):
    """A process that is killed has reported them already."""
    with roastcoffea.monitor() as run:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
        facts = run._core.notes("provenance")
    reported = (
        *("version.coffea", "version.python", "host", "command", "folder"),
        "fileset_sha256",
    )
    assert set(reported) <= set(facts)
    assert facts["runner.chunksize"] == "1000"


COMMANDS = {
    "long option": ["a.py", "--token", SECRET, "-n", "3"],
    "option with =": ["a.py", f"--password={SECRET}"],
    "blanks in it": ["a.py", f"--password=x {SECRET}", "--api-key", f"x {SECRET}"],
    "header": ["a.py", "-H", f"Authorization: Bearer {SECRET}"],
    "bearer": ["a.py", f"Bearer {SECRET}"],
    "variable": ["a.py", f"BEARER_TOKEN={SECRET}"],
    "url": ["a.py", f"root://me:{SECRET}@host//a.root?authz={SECRET}"],
    "json": ["a.py", f'{{"access_token": "{SECRET}"}}'],
    "quotes": ["a.py", "--secret", f"it's {SECRET}"],
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_command_keeps_no_secret(arguments):
    reported = provenance.command(arguments)
    assert SECRET not in reported
    assert reported.startswith("a.py ")
    assert "***" in reported or "root://***@host//a.root" in reported


def test_harmless_command_is_kept():
    arguments = ["run me.py", "--events", "10", "-o", "a=b", "x:y"]
    assert provenance.command(arguments) == "'run me.py' --events 10 -o a=b x:y"


def test_option_behind_an_option_of_secrets_is_no_secret():
    assert provenance.command(["a", "--no-token", "-v"]) == "a --no-token -v"


def test_home_is_not_recorded(monkeypatch):
    monkeypatch.setenv("HOME", "/home/alice")
    given = [
        "/home/alice/x/a.py",
        "--to=/home/alice",
        "/home/alicette",
        "/a/home/alice",
    ]
    reported = provenance.command(given)
    assert reported == "~/x/a.py --to=~ /home/alicette /a/home/alice"


def test_command_of_any_bytes_is_recorded():
    assert provenance.command(["\udcff", "a\0b"])


# ---- environment -------------------------------------------------------------------


def environment_facts(monkeypatch, **variables):
    for name in (*(name for name, _ in _probe.environment()), provenance.POD):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    facts = provenance.at_begin()
    return {k: v for k, v in facts.items() if k.startswith("environment.")}


def test_of_the_environment_only_ids_are_recorded(monkeypatch):
    reported = environment_facts(
        monkeypatch,
        SLURM_JOB_ID="77",
        GLIDEIN_CMSSite="T2_XX",
        AWS_SECRET_ACCESS_KEY=SECRET,
        USER="alice",
    )
    assert reported == {
        "environment.SLURM_JOB_ID": "77",
        "environment.GLIDEIN_CMSSite": "T2_XX",
    }


def test_host_name_is_recorded_in_a_pod(monkeypatch):
    assert environment_facts(monkeypatch, HOSTNAME="pod-1") == {}
    reported = environment_facts(
        monkeypatch, HOSTNAME="pod-1", KUBERNETES_SERVICE_HOST="10.0.0.1"
    )
    assert reported == {"environment.HOSTNAME": "pod-1"}


# ---- settings ----------------------------------------------------------------------


def test_settings_of_runner_and_executor_are_recorded(tiny_file):
    runner = make_runner(threads(retries=2, compression=None), maxchunks=2)
    facts = facts_of(tiny_file, runner)
    assert facts["executor"] == "FuturesExecutor"
    assert facts["executor.workers"] == facts["executor.retries"] == "2"
    assert facts["executor.pool"] == "ThreadPoolExecutor"
    assert facts["runner.chunksize"] == "1000"
    assert facts["runner.maxchunks"] == "2"
    assert facts["runner.schema"] == "BaseSchema"
    assert "executor.status" not in facts
    assert facts["worker_tracking"] == "1.0 s"


def test_setting_that_names_a_secret_is_not_recorded(tiny_file):
    import dataclasses

    @dataclasses.dataclass
    class Executor(type(iterative())):
        password: str = SECRET

    facts = facts_of(tiny_file, make_runner(Executor(status=False)))
    assert facts["executor.password"] == "***"
    assert SECRET not in str(facts)


# ---- fileset -----------------------------------------------------------------------


def hash_of(files, treename=None):
    return fileset.hash_of(fileset.encoded(fileset.plain_fileset(files, treename)))


def test_hash_is_of_the_files_and_not_of_how_they_are_written():
    files = {"a": {"files": {"1.root": "E", "2.root": "E"}}, "b": ["3.root"]}
    turned = {
        "b": {"files": ["3.root"], "treename": "E"},
        "a": {"files": ["2.root", "1.root"]},
    }
    assert hash_of(files, "E") == hash_of(turned, "E")
    assert hash_of(files, "E") != hash_of(files, "F")
    assert hash_of(files, "E") != hash_of(files | {"b": ["4.root"]}, "E")


def test_hash_does_not_depend_on_credentials():
    def files(token):
        url = f"root://me:{token}@host//a.root?authz={token}"
        return {"a": {"files": {url: "E"}, "metadata": {"token": token}}}

    assert hash_of(files("x")) == hash_of(files("y"))


@pytest.mark.parametrize("is_spec", [False, True])
def test_names_that_were_given_are_known(is_spec):
    url = "root://me:x@host//a.root?authz=y"
    entry = {"files": {url: {"object_path": "E"}, "b.root": {"object_path": "E"}}}
    if is_spec:  # as coffea's DatasetSpec
        entry = SimpleNamespace(model_dump=lambda entry=entry: entry)
    plain = fileset.plain_fileset({"a": entry})
    stored = fileset.stored_name(url)
    assert stored != url
    assert plain == {"a": {"files": {stored: "E", "b.root": "E"}}}
    again = fileset.sign(plain, fileset.signed({"a": entry}))
    assert again == {"a": {"files": {url: "E", "b.root": "E"}}}


def test_work_items_are_a_fileset_too():
    item = SimpleNamespace(
        dataset="a", filename="1.root", treename="E", usermeta={"x": 1}
    )
    plain = {"a": {"files": {"1.root": "E"}, "metadata": {"x": 1}}}
    assert fileset.plain_fileset([item, item]) == plain
    assert fileset.plain_fileset(x for x in [item]) == {}  # it is read once


@pytest.mark.parametrize("odd", [None, 7, "files.json", {"a": 7}, {"a": "x"}, [1]])
def test_odd_filesets_give_nothing(odd):
    assert fileset.plain_fileset(odd) == {}


def test_fileset_is_kept_as_it_was_given(tiny_file):
    files = fileset_of(tiny_file)
    files["ttbar"]["metadata"] = {"xsec": 831.76, "pair": (1, 2)}
    with roastcoffea.monitor() as run:
        make_runner()(files, processor_instance=Plain())
        make_runner()(
            {"other": [str(tiny_file)]},
            processor_instance=Plain(),
            treename="Events",
        )
    other = {"other": {"files": {str(tiny_file): "Events"}}}
    assert run.fileset == files | other


def test_large_fileset_keeps_its_hash_alone():
    many = {"a": [f"/store/{'x' * 1000}/{i}.root" for i in range(13_000)]}
    recorder = RunRecorder()
    recorder.take_fileset(1, many, "Events")
    assert recorder.core.note("call", "1 given") is None
    assert recorder.core.notes("provenance")["fileset_sha256"] == hash_of(
        many, "Events"
    )
