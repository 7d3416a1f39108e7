# SPDX-License-Identifier: BSD-3-Clause
"""Bytes and sizes of the beginning of real files, against coffea and uproot, which are
requested directly. One run of each file is looked at by all tests: it takes seconds."""

from __future__ import annotations

import pytest
import uproot

from reads import SAMPLES, check_access, check_bytes, described, facts_of, sample_run


@pytest.mark.parametrize("name", SAMPLES)
def test_bytes_of_real_files_are_coffeas(real_folder, name):
    run = sample_run(real_folder, name)
    check_bytes(run)
    check_access(run)


@pytest.mark.parametrize("name", [n for n in SAMPLES if "rntuple" not in n])
def test_sizes_of_branches_of_real_files_are_uproots(real_folder, name):
    run = sample_run(real_folder, name)
    (first,) = (c for c in run.chunks if "branch_bytes" in c["file_metadata"])
    sizes = described(real_folder / name, SAMPLES[name][0])
    expected = {name: packed for name, (packed, _) in sizes.items()}
    assert first["file_metadata"]["branch_bytes"] == expected
    facts = facts_of(run, real_folder / name)
    assert facts["total_branches"] == len(sizes)
    assert facts["compressed_bytes"] == sum(expected.values())
    assert facts["uncompressed_bytes"] == sum(
        unpacked for _, unpacked in sizes.values()
    )


def test_a_real_ntuple_is_described(real_folder):
    name = "nano_dimuon_rntuple.root"
    facts = facts_of(sample_run(real_folder, name), real_folder / name)
    with uproot.open(real_folder / name) as root:
        assert facts["total_branches"] == len(root["Events"].keys(recursive=False))
        assert facts["num_entries"] == root["Events"].num_entries
    assert facts["kind"] == "rntuple"
