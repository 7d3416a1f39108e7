# SPDX-License-Identifier: BSD-3-Clause
"""What tab completion shows on a run and on a collector: what users need, no more."""

from __future__ import annotations

import inspect

import pytest

import roastcoffea

TABLES = """
    activities branches calls chunk_branches chunk_sections chunks critical_path
    datasets endpoints
    failures file_branches files findings hosts hot_lines losses read_sizes
    sections tasks timeline workers
""".split()
ADDITIONS = """
    extract_metrics_from_output record_chunk_metrics record_section_metrics
    set_chunk_metrics set_coffea_report
""".split()
RESULTS = """
    chunk_metrics export get_metrics measurement_path metrics print_summary run save
    save_measurement section_metrics span_metrics t_end t_start to_prometheus
    tracking_data
""".split()
OLD_NAMES = """
    aggregator coffea_report custom_metrics metrics_backend processor_name span_info
""".split()
OF_A_RUN = """
    custom_metrics failed_fileset failed_items failure fileset id info labels partial
    path provenance samples state table to_pandas
""".split()
ARGUMENTS = """
    backend client labels measurement_name output_dir processor_instance track_workers
    worker_tracking_interval
""".split()


def public(thing):
    return [name for name in dir(thing) if not name.startswith("_")]


@pytest.fixture(scope="module")
def collector():
    with roastcoffea.MetricsCollector() as collector:
        pass
    return collector


def test_names_of_a_run(collector, tmp_path):
    expected = sorted([*TABLES, *ADDITIONS, *RESULTS, *OF_A_RUN])
    assert public(collector.run) == expected
    saved = collector.save(tmp_path / "x.roast")
    assert public(roastcoffea.open_run(saved)) == expected


def test_names_of_a_collector(collector):
    expected = sorted([*ARGUMENTS, *ADDITIONS, *RESULTS, *OLD_NAMES])
    assert public(roastcoffea.MetricsCollector()) == expected
    assert public(collector) == expected


def test_names_of_the_metrics_are_those_of_a_dict(collector):
    assert public(collector.get_metrics()) == public({})


@pytest.mark.parametrize("name", [*ADDITIONS, *RESULTS])
def test_names_of_a_collector_are_described_as_those_of_its_run(name):
    ours = inspect.getattr_static(roastcoffea.MetricsCollector, name)
    theirs = inspect.getattr_static(roastcoffea.Run, name)
    assert ours.__doc__
    if name != "run":
        assert ours.__doc__ == theirs.__doc__
    if callable(ours):
        assert inspect.signature(ours) == inspect.signature(theirs)
