# SPDX-License-Identifier: BSD-3-Clause
"""A hook is no other thing than what it stands for: in tables, to weak references, with
its attributes, and when it comes back to its place."""

from __future__ import annotations

import weakref

import uproot
from coffea.nanoevents import NanoEventsFactory

from hook_checks import in_place
from roastcoffea import _probe
from roastcoffea.coffea import hook_list


def hook_on(original):
    return _probe.hook(hook_list.NUMBER["open"], hook_list.PLAIN, original)


def test_functions_are_found_in_tables_hooked_or_not():
    submit = uproot.source.futures.TrivialExecutor().submit
    before = {uproot.open: 1, submit: 2, NanoEventsFactory.from_root: 3}
    with in_place():
        keys = (uproot.open, submit.__self__.submit, NanoEventsFactory.from_root)
        assert [before[key] for key in keys] == [1, 2, 3]
        assert uproot.open != uproot.create
        during = dict(zip(keys, (1, 2, 3), strict=True))
    assert during == before


def test_hooks_can_be_referred_to_weakly():
    """As tables of callbacks do."""
    executor = uproot.source.futures.TrivialExecutor()
    with in_place():
        table = weakref.WeakKeyDictionary({uproot.open: "open"})
        method = weakref.WeakMethod(executor.submit)
        assert table[uproot.open] == "open"
        assert method() == executor.submit
    gone = []
    hook = hook_on(len)
    refs = [weakref.ref(hook), weakref.ref(hook, gone.append)]
    del hook
    assert gone == refs[1:]
    assert refs[0]() is None


def test_attributes_are_those_of_what_it_stands_for():
    def function():
        """Not ours."""

    hook = hook_on(function)
    hook.defaults = {"timeout": 3}
    assert function.defaults is hook.defaults
    del hook.defaults
    assert not hasattr(function, "defaults")
    module, doc = "".join(["__mod", "ule__"]), "".join(["__d", "oc__"])  # not interned
    assert (getattr(hook, module), getattr(hook, doc)) == (__name__, "Not ours.")


def test_a_hook_that_was_put_back_is_no_original(monkeypatch):
    """As code that replaces uproot.open inside process() for too long."""
    original = uproot.open
    with in_place():
        kept = uproot.open
    monkeypatch.setattr(uproot, "open", kept)
    with in_place():
        assert uproot.open.original is original
    assert uproot.open is original
