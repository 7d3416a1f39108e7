# SPDX-License-Identifier: BSD-3-Clause
"""The same as test_interrupts.py on Dask; the cluster is as it was, too."""

from __future__ import annotations

import pytest

from clusters import Surrounded, dask_runner, shared_client
from interrupts import Block, interrupt_at_random

long = (pytest.mark.long, pytest.mark.timeout(4 * 3600))  # on a busy machine
often = pytest.mark.parametrize("times", [pytest.param(200, marks=long)])
client = pytest.fixture(scope="module")(shared_client)


@pytest.mark.parametrize("every", [100, pytest.param(1, marks=long)])
def test_any_line_on_dask(every, client, tiny_file, tmp_path):
    block = Block(dask_runner(client), tiny_file, tmp_path)
    around = Surrounded(client)
    assert block.interrupt_lines(every) == []
    around.check()


@often
def test_any_time_on_dask(times, client, tiny_file, tmp_path):
    block = Block(dask_runner(client), tiny_file, tmp_path)
    around = Surrounded(client)
    assert interrupt_at_random(block, times) == []
    around.check()
