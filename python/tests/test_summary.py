# SPDX-License-Identifier: BSD-3-Clause
"""What a run says of itself: the page, the tables, the card, the first lines.

One run on a real file is looked at from all sides. Its names are hostile: they must not
widen the page, reach a terminal as commands, or be obeyed by a browser.
"""

from __future__ import annotations

import html.parser
import math
import re

import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema

import roastcoffea
from roastcoffea import _core, track_metrics, track_time
from roastcoffea.export import reporter

TITLES = [
    "Throughput Metrics",
    "Event Processing Metrics",
    "Resource Utilization",
    "Timing Breakdown",
    "Fine Metrics (own clocks)",
    "Chunk Metrics",
]
TABLES = (
    reporter.format_throughput_table,
    reporter.format_event_processing_table,
    reporter.format_resources_table,
    reporter.format_timing_table,
    reporter.format_fine_metrics_table,
    reporter.format_chunk_metrics_table,
)
# label on the page: name of the metric, and what one of its units is on the page
SHOWN = {
    "Data Rate": ("data_rate_gbps", 1e9),
    "Total Bytes Read": ("total_bytes_read", 1),
    "Total Events": ("total_events", 1),
    "Event Rate (Elapsed Time)": ("event_rate_wall_khz", 1e3),
    "Event Rate (in process())": ("event_rate_agg_khz", 1e3),
    "Event Rate (Core-Averaged)": ("event_rate_core_hz", 1),
    "Workers (Time-Averaged)": ("time_avg_workers", 1),
    "Speedup Factor": ("speedup_factor", 1),
    "Peak Memory (per worker)": ("peak_memory_bytes", 1),
    "Elapsed Time": ("wall_time", 1),
    "Total Time in process()": ("total_cpu_time", 1),
    "Number of Chunks": ("num_chunks", 1),
    "Processor CPU Time": ("processor_cpu_time_seconds", 1),
    "Total Chunks": ("num_chunks", 1),
    "Mean Chunk Time": ("chunk_duration_mean", 1),
    "Peak Memory in a Chunk": ("chunk_mem_peak_max_mb", 2**20),
    "Mean Events/Chunk": ("chunk_events_mean", 1),
    "Mean Time/Event": ("time_per_event_mean_us", 1e-6),
}
UNITS = {"": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60, "x": 1}
UNITS |= {"k": 1e3, "M": 1e6, "%": 1}
PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "m": 1e-3}
BASES = ("B", "B/s", "bit/s", "Hz", "Hz/core")
UNITS |= {prefix + base: size for prefix, size in PREFIXES.items() for base in BASES}

SCRIPT = "<script>alert(1)</script>"
DATASETS = (f'{SCRIPT}&"', "\x1b[31mred\x1b[0m " + "wide" * 50)
SECTIONS = ("[bold]pt > 30[/bold]", "<b onclick='x'>" + "λ" * 100)


class AnalysisWithANameThatAloneIsNearlyAsLongAsALineOfTheTerminal(
    processor.ProcessorABC
):
    @track_metrics
    def process(self, events):
        for name in SECTIONS:
            with track_time(self, name):
                size = len(events.event)
        return {"events": size}

    def postprocess(self, accumulator):
        return accumulator


@pytest.fixture(scope="module")
def collector(tiny_file):
    runner = processor.Runner(
        processor.IterativeExecutor(status=False),
        schema=BaseSchema,
        savemetrics=True,
        chunksize=1000,
    )
    files = {name: {"files": {str(tiny_file): "Events"}} for name in DATASETS}
    labels = {"site": "T2_XX", "note": "<i>" + "long" * 60}
    analysis = AnalysisWithANameThatAloneIsNearlyAsLongAsALineOfTheTerminal()
    with roastcoffea.MetricsCollector(runner.executor, labels=labels) as collector:
        runner(files, processor_instance=analysis)
    return collector


@pytest.fixture
def page(collector, capsys):
    capsys.readouterr()
    collector.print_summary(full=True)
    return capsys.readouterr().out


def rows_of(page):
    """[(label, value)] of the six tables of a page, one table after the other."""
    lines = page.splitlines()
    rows = []
    start = lines.index(TITLES[0])
    for line in lines[start : lines.index("", start)]:
        if line[:1] == " ":
            cells = iter(re.split(r" {2,}", line.strip()))
            rows += zip(cells, cells, strict=True)
    return rows


def number_of(value):
    """A value on the page without its unit: "1.37 Mbit/s (171 kB/s)" is 1.37e6."""
    number, unit = re.match(r"([-0-9.]+) ?([A-Za-z/%]*)", value).groups()
    return float(number) * UNITS[unit]


# ---- the page ----------------------------------------------------------------------


def test_page_has_the_six_tables_in_order(page):
    lines = page.splitlines()
    assert [line for line in lines if line in TITLES] == TITLES


def test_page_begins_with_how_it_went(collector, page):
    metrics = collector.get_metrics()
    head = page.split("\n\n")[0]
    assert head.startswith("roastcoffea | ")
    assert "Iterative, 1 worker" in head
    assert "6000 events | 6/6 chunks | 0 retried, 0 failed" in head
    finished = re.search(r"^FINISHED in (.*?) \|", head, re.MULTILINE)
    assert number_of(finished[1]) == pytest.approx(metrics["wall_time"], rel=0.01)
    assert re.search(r"^WALL  ", head, re.MULTILINE)


@pytest.mark.parametrize("label", SHOWN)
def test_number_on_the_page_is_the_metric(collector, page, label):
    name, scale = SHOWN[label]
    values = [value for shown, value in rows_of(page) if shown == label]
    expected = collector.get_metrics()[name] * scale
    assert values, f"{label} is not on the page"
    assert number_of(values[0]) == pytest.approx(expected, rel=0.006)


def test_numbers_have_three_digits_at_every_scale(page):
    for label, value in rows_of(page):
        number = re.match(r"-?([0-9.]+)", value)[1]  # memory may shrink
        digits = number.replace(".", "").lstrip("0")
        whole = re.fullmatch(r"\d+", value)  # counts are shown as they are
        assert whole or digits in ("", "1") or len(digits) == 3, f"{label}: {value}"


def test_rates_and_times_agree_with_each_other(collector):
    metrics = collector.get_metrics()
    rate = metrics["total_events"] / metrics["wall_time"] / 1e3
    assert metrics["event_rate_wall_khz"] == pytest.approx(rate)
    assert sum(metrics["wall_account"].values()) == pytest.approx(metrics["wall_time"])


def test_page_lists_sections_and_datasets(page):
    sections = page.split("\nSections\n")[1].splitlines()
    (line,) = (line for line in sections if SECTIONS[0] in line)
    assert line.split()[-7] == "6"  # calls: twice three chunks
    datasets = page.split("\nDatasets\n")[1].splitlines()
    assert [line.split()[-6:-4] for line in datasets[1:3]] == [["3", "3000"]] * 2


def test_short_page_has_the_first_screen_and_the_tables(collector, page, capsys):
    collector.print_summary()
    short = capsys.readouterr().out
    lines = short.splitlines()
    assert len(lines) <= 70
    assert [line for line in lines if line in TITLES] == TITLES
    assert short.startswith(str(collector.run).rstrip("\n"))
    assert set(rows_of(short)) < set(rows_of(page))
    assert lines[-1].startswith("full=True shows everything: more rows")


def test_page_shows_labels(page):
    assert "site=T2_XX" in page
    assert "note=<i>long" in page


def test_page_fits_80_columns_and_holds_no_commands(page):
    assert max(map(len, page.splitlines())) <= 80
    unprintable = {char for char in page if not char.isprintable()}
    assert unprintable == {"\n"}


# ---- rich tables -------------------------------------------------------------------


def test_rich_tables_show_the_rows_of_the_page(collector, page):
    shown = []
    for number, make in enumerate(TABLES):
        table = make(collector.get_metrics())
        assert table.title == _core.table_titles()[number]
        columns = [list(column.cells) for column in table.columns]
        shown += [(label.strip(), value) for label, value in zip(*columns, strict=True)]
    assert sorted(shown) == sorted(rows_of(page))


def test_rich_tables_take_saved_metrics_too(collector, tmp_path):
    folder = collector.save_measurement(tmp_path)
    loaded, _, _ = roastcoffea.load_measurement(folder)
    for make in TABLES:
        live, saved = make(collector.get_metrics()), make(loaded)
        assert [list(column.cells) for column in live.columns] == [
            list(column.cells) for column in saved.columns
        ]


# ---- the card ----------------------------------------------------------------------


class Card(html.parser.HTMLParser):
    """Tags, attributes and text of a card; fails where tags do not match."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text = [], set(), set(), ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_card_is_closed_and_runs_nothing(collector):
    card = Card(collector._repr_html_())
    allowed = {"div", "pre", "details", "summary", "table", "tr", "td", "th"}
    assert card.tags <= allowed
    assert card.attributes <= {"style", "open"}


def test_card_shows_hostile_names_as_text(collector):
    text = collector._repr_html_()
    assert SCRIPT not in text
    assert "<i>" not in text
    card = Card(text)
    assert "note=<i>long" in card.text
    assert SECTIONS[0] in card.text
    assert "<script>" in card.text
    assert "\x1b" not in card.text


def test_card_has_all_that_the_page_has(collector, page):
    card = Card(collector._repr_html_())
    for label, value in rows_of(page):
        assert label in card.text
        assert value in card.text
    assert all(title in card.text for title in TITLES)


# ---- the first lines ---------------------------------------------------------------


def test_printed_run_is_the_first_lines_of_the_page(collector, page):
    assert str(collector.run) == str(collector)
    assert collector.run._repr_html_() == collector._repr_html_()
    assert page.startswith(str(collector.run).rstrip("\n"))
    assert len(str(collector.run).splitlines()) < 12


def test_collector_that_was_never_entered_shows_itself():
    unused = roastcoffea.MetricsCollector(None)
    assert "MetricsCollector" in str(unused)
    assert "MetricsCollector" in Card(unused._repr_html_()).text
    with pytest.raises(RuntimeError, match="Timing not available"):
        unused.print_summary()


def test_run_that_goes_on_is_live(capsys):
    with roastcoffea.monitor() as going:
        going.print_summary()
    assert "STILL RUNNING" in capsys.readouterr().out.upper()


def test_failure_is_in_the_first_lines(capsys):
    collector = roastcoffea.monitor()
    with pytest.raises(OSError, match="no route"), collector:
        raise OSError("no route to https://user:secret@host.example/file")
    first = str(collector)
    assert "FAILED" in first
    assert "no route to" in first
    assert "secret" not in first
    assert max(map(len, first.splitlines())) <= 80


def test_page_of_a_block_without_a_run_has_no_numbers_it_cannot_know(capsys):
    with roastcoffea.monitor() as nothing:
        pass
    nothing.print_summary()
    page = capsys.readouterr().out
    assert re.search(r"^  Total Events +- ", page, re.MULTILINE)
    metrics = nothing.get_metrics()
    assert "total_events" not in metrics
    assert "total_events" in metrics["unavailable"]
    assert math.isnan(metrics["processor_cpu_time_seconds"])
