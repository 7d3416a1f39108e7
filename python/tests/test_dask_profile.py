# SPDX-License-Identifier: BSD-3-Clause
"""What is made of Dask's profile: the functions of the user's in which seconds went."""

from __future__ import annotations

import json
import linecache

import pytest

from roastcoffea.dask import profile
from roastcoffea.dask.profile import (
    MOST_ROWS,
    HotLine,
    HotPlaces,
    is_users,
    our_files,
)

LIBRARY = "/env/lib/python3.11/site-packages/coffea/processor/executor.py"
ANALYSIS = "/home/me/analysis.py"


def call(name, count, *children, file=ANALYSIS, first=10, line=12):
    """A node of the tree, as distributed.profile makes it."""
    return {
        "count": count,
        "identifier": f"{name};{file};{first}",
        "description": {
            "filename": file,
            "name": name,
            "line_number": line,
            "line": f"line {line}\n",
        },
        "children": {child["identifier"]: child for child in children},
    }


def root(*children):
    counts = sum(child["count"] for child in children)
    return call("root", counts, *children, file="")


def sent(*trees, weight=1.0):
    """What a worker sends."""
    found = HotPlaces((), our_files())
    for tree in trees:
        found.add(tree, weight)
    return json.dumps(found.rows())


def hot_lines(tree, interval_s):
    return profile.hot_lines({"rows": [sent(tree)], "weight": 1}, interval_s)


def seconds(tree):
    return {
        row.function: (row.seconds, row.self_seconds) for row in hot_lines(tree, 0.5)
    }


def test_a_sample_is_of_the_innermost_function_of_the_user():
    numpy = call("add", 0, file="/env/lib/python3.11/site-packages/numpy/core.py")
    select = call("select", 4, numpy, first=30)
    process = call("process", 4, select)
    tree = root(call("work", 4, process, file=LIBRARY))
    assert seconds(tree) == {"process": (2.0, 0.0), "select": (2.0, 2.0)}


def test_the_last_call_of_a_sample_is_counted_though_dask_does_not():
    process = call("process", 0)
    tree = root(call("work", 6, process, file=LIBRARY))
    assert seconds(tree) == {"process": (3.0, 3.0)}


def test_the_rest_goes_to_calls_that_were_never_another():
    loop = call("loop", 0, first=50)
    read = call("read", 3, call("open", 0, file=LIBRARY), first=40)
    process = call("process", 10, loop, read)
    tree = root(call("work", 10, process, file=LIBRARY))
    found = seconds(tree)
    assert found["loop"] == (3.5, 3.5)
    assert found["read"] == (1.5, 1.5)
    assert found["process"] == (5.0, 0.0)


def test_a_function_that_calls_itself_is_counted_once():
    inner = call("walk", 0)
    tree = root(call("work", 4, call("walk", 4, inner), file=LIBRARY))
    assert seconds(tree) == {"walk": (2.0, 2.0)}


def test_a_row_is_where_its_function_begins():
    (row,) = hot_lines(root(call("work", 2, call("f", 0), file=LIBRARY)), 1.0)
    assert (row.file, row.line, row.text) == (ANALYSIS, 10, None)
    tree = root(call("work", 2, call("f", 0, line=10), file=LIBRARY))
    assert hot_lines(tree, 1.0)[0].text == "line 10"


def test_the_text_of_a_row_is_read_where_its_file_is(tmp_path):
    file = tmp_path / "analysis.py"
    file.write_text("import numpy\n\n    def process(self, events):\n")
    tree = root(call("process", 2, call("f", 0, file=LIBRARY), file=str(file), first=3))
    seen_by_worker = sent(tree)
    file.unlink()
    linecache.clearcache()
    for rows in (seen_by_worker, sent(tree)):
        (row,) = profile.hot_lines({"rows": [rows], "weight": 1}, 1.0)
        expected = "def process(self, events):" if rows == seen_by_worker else None
        assert row.text == expected
    file.write_text("\n\ndef process(events):\n")  # the client has it
    assert hot_lines(tree, 1.0)[0].text == "def process(events):"
    nowhere = root(call("process", 2, file="/no\0file.py"))
    assert hot_lines(nowhere, 1.0)[0].text is None


def test_the_hottest_are_kept():
    calls = [call(f"f{i}", i + 1, call("deep", 0, file=LIBRARY)) for i in range(30)]
    found = hot_lines(root(*calls), 1.0)
    assert len(found) == MOST_ROWS
    assert [row.function for row in found[:2]] == ["f29", "f28"]


@pytest.mark.parametrize(
    ("file", "users"),
    [
        (ANALYSIS, True),
        ("<ipython-input-3-abc>", True),
        ("/tmp/ipykernel_12/345.py", True),
        ("C:\\me\\analysis.py", True),
        ("/home/me/roastcoffea/analysis.py", True),
        ("<string>", False),
        ("<frozen importlib._bootstrap>", False),
        ("", False),
        (LIBRARY, False),
        ("/usr/lib/python3/dist-packages/yaml/__init__.py", False),
        ("/usr/lib/python3.11/threading.py", False),
        ("/env/lib/python3.11/site-packages/mine/ana.py", False),
        ("/src/python/roastcoffea/decorator.py", False),
        ("/x/_roastcoffea_0_2_abcdef01/decorator.py", False),
    ],
)
def test_whose_a_file_is(file, users):
    assert is_users(file, (), our_files()) is users


def test_an_installed_analysis_is_the_users():
    file = "/env/lib/python3.11/site-packages/mine/ana.py"
    assert is_users(file, {"mine"})


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"count": "many", "children": [1, 2]},
        {"count": -1, "children": {"a": None, "b": {"description": "no"}}},
        root(call("f", 10**30)) | {"description": None},
    ],
)
def test_a_tree_that_makes_no_sense_gives_nothing_or_little(tree):
    assert len(hot_lines(tree, 0.01)) <= 1


def test_seconds_and_workers_are_added_up():
    def tree(count):
        return root(call("work", count, call("f", 0), file=LIBRARY))

    first, second = sent(tree(3), tree(1), weight=2), sent(tree(2))
    rows = profile.hot_lines({"rows": [first, second], "weight": 1.5}, 0.1)
    place = (ANALYSIS, 10, "f", None)
    assert rows == [HotLine(*place, pytest.approx(1.5), pytest.approx(1.5))]
    assert profile.hot_lines({}, 0.1) == []


def test_names_that_are_no_utf8_can_be_sent():
    (row,) = hot_lines(root(call("f", 1, file="/home/\udcff.py")), 1.0)
    assert row.file == "/home/?.py"


def test_a_deep_profile_is_no_harm():
    deep = call("f", 1)
    for _ in range(5000):
        deep = call("f", 1, deep)
    (row,) = hot_lines(deep, 1.0)
    assert (row.seconds, row.self_seconds) == (1.0, 1.0)


def test_the_last_text_of_a_line_does_not_hide_the_first():
    named, unnamed = call("f", 1, line=10), call("f", 1)
    rows = [sent(root(unnamed)), sent(root(named))]
    (row,) = profile.hot_lines({"rows": rows, "weight": 1}, 1.0)
    assert row.text == "line 10"
