# SPDX-License-Identifier: BSD-3-Clause
"""What is made of Dask's profile: the functions of the user's in which seconds went."""

from __future__ import annotations

import msgpack
import pytest

from roastcoffea.dask.profile_tree import MOST_NODES, add_tree, prune
from roastcoffea.dask.profiled import MOST_ROWS, hot_lines, is_users

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


def seconds(tree, **options):
    return {
        row.function: (row.seconds, row.self_seconds)
        for row in hot_lines(tree, 0.5, **options)
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
    assert (row.file, row.line, row.text) == (ANALYSIS, 10, "")
    tree = root(call("work", 2, call("f", 0, line=10), file=LIBRARY))
    assert hot_lines(tree, 1.0)[0].text == "line 10"


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
    assert is_users(file) is users


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


def test_of_equal_branches_some_stay():
    tree = root(*(call(f"f{i}", 1, call("g", 0)) for i in range(MOST_NODES + 100)))
    prune(tree)
    kept = tree["children"].values()
    assert len(kept) + sum(len(child["children"]) for child in kept) == MOST_NODES


def test_a_chain_of_equal_branches_stays_from_its_root():
    chain = call("f9", 1)
    for i in reversed(range(9)):
        chain = call(f"f{i}", 1, chain)
    tree = root(chain)
    prune(tree, most=4)
    names, node = [], tree
    while node["children"]:
        (node,) = node["children"].values()
        names.append(node["description"]["name"])
    assert names == ["f0", "f1", "f2", "f3"]


def test_names_that_are_no_utf8_can_be_sent():
    total = {}
    add_tree(total, root(call("f", 1, file="/home/\udcff.py")))
    (child,) = total["children"].values()
    assert child["description"]["filename"] == "/home/?.py"
    assert msgpack.packb(total)
