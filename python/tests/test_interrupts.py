# SPDX-License-Identifier: BSD-3-Clause
"""A Ctrl-C, or what a handler of the user's raises, at any line of our code: it reaches
the user, everything is restored, nothing is lost, and the next run is complete."""

from __future__ import annotations

import pytest

from collector_helpers import iterative, make_runner, open_pool, processes, threads
from interrupts import Block, interrupt_at_random

long = pytest.mark.long
pool = pytest.fixture(scope="module")(open_pool)


def runner_of(executor):
    return make_runner(executor, savemetrics=True)


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=long)])
def test_any_line_on_iterative(every, tiny_file, tmp_path):
    block = Block(runner_of(iterative(retries=0)), tiny_file, tmp_path)
    assert block.interrupt_lines(every) == []


@pytest.mark.usefixtures("unmeasured")  # a repeated step may count a result twice
@pytest.mark.parametrize("every", [40, pytest.param(1, marks=long)])
def test_exception_at_any_line(every, tiny_file, tmp_path):
    block = Block(runner_of(iterative(retries=0)), tiny_file, tmp_path)
    assert block.raise_at_lines(every) == []


@pytest.mark.parametrize("every", [100, pytest.param(1, marks=long)])
def test_any_line_on_threads(every, tiny_file, tmp_path):
    block = Block(runner_of(threads(retries=0)), tiny_file, tmp_path)
    assert block.interrupt_lines(every) == []


@pytest.mark.parametrize("every", [100, pytest.param(1, marks=long)])
def test_any_line_on_processes(every, pool, tiny_file, tmp_path):
    block = Block(runner_of(processes(pool, retries=0)), tiny_file, tmp_path)
    assert block.interrupt_lines(every) == []


@long
def test_any_time(tiny_file, tmp_path):
    block = Block(runner_of(iterative(retries=0)), tiny_file, tmp_path)
    assert interrupt_at_random(block, 200) == []


@long
def test_any_time_on_processes(pool, tiny_file, tmp_path):
    block = Block(runner_of(processes(pool, retries=0)), tiny_file, tmp_path)
    assert interrupt_at_random(block, 200) == []
