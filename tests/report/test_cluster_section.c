/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cluster_section.c - lost workers, tasks, hot lines and checks on the page. */
#include <math.h>
#include <stdio.h>

#include "tables_by_hand.h"

static struct roast_metric_values values;

static const char *const lost_columns[] = {
    "worker",       "ended", "reason", "memory_bytes", "memory_limit_bytes",
    "seconds_lost", "chunks"};
static const char *const kind_columns[] = {"kind",   "count",   "seconds",
                                           "failed", "retried", "lost"};
static const char *const hot_columns[] = {"file", "line",    "function",
                                          "text", "seconds", "self_seconds"};

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    values = (struct roast_metric_values){.known = {false}};
    return 0;
}

static void test_a_cluster_in_trouble(void **state)
{
    const struct roast_cell lost[] = {
        cell_text("tcp://10.0.0.1:40001"),
        cell_text("killed for memory"),
        cell_text("its nanny ended it for its memory: 3950 MB resident"),
        cell_count(3900000000),
        cell_count(4000000000),
        cell_number(12.5),
        cell_text("ttbar root://host//a.root 0-100000"),
        cell_text("tcp://10.0.0.2:40001"),
        cell_text("unknown"),
        {.type = ROAST_CELL_ABSENT},
        {.type = ROAST_CELL_ABSENT},
        {.type = ROAST_CELL_ABSENT},
        cell_number(0),
        cell_text(""),
    };
    const struct roast_cell kinds[] = {
        cell_text("chunk"), cell_count(1240), cell_number(900.5),  cell_count(1),
        cell_count(2),      cell_count(4),    cell_text("reduce"), cell_count(66),
        cell_number(1.25),  cell_count(0),    cell_count(0),       cell_count(0)};
    const struct roast_cell hot[] = {cell_text("/home/me/analysis.py"),
                                     cell_count(12),
                                     cell_text("process"),
                                     cell_text("x = y"),
                                     cell_number(80),
                                     cell_number(2)};
    const struct hand_table tables[] = {TABLE("lost_workers", lost_columns, lost),
                                        TABLE("tasks_by_kind", kind_columns, kinds),
                                        TABLE("hottest_lines", hot_columns, hot)};
    struct roast_page_input shown = {.values = &values};

    (void)state;
    show_tables(&shown, tables, COUNT_OF(tables));
    SET(&values, dask_cpu_ratio, 0.9996);
    SET(&values, num_lost_workers, 2);
    struct roast_page page = make_page(roast__report_text, &shown);
    check_page_fits(&page);
    static const char expected[] =
        "\nLOST WORKERS\n"
        "  worker                ended              last memory         time lost\n"
        "  tcp://10.0.0.1:40001  killed for memory  3.90 GB of 4.00 GB     12.5 s\n"
        "  tcp://10.0.0.2:40001  unknown            -                         0 s\n"
        "  tcp://10.0.0.1:40001: its nanny ended it for its memory: 3950 MB resident\n"
        "    it held ttbar root://host//a.root 0-100000\n"
        "\nTASKS ON DASK\n"
        "  tasks   count    time  failed  lost\n"
        "  chunk    1240   900 s       3     4\n"
        "  reduce     66  1.25 s       0     0\n"
        "\nHOT LINES   by sampling\n"
        "  function                  time  in it alone\n"
        "  analysis.py:12 process  80.0 s       2.00 s\n";
    if (!strstr(page.text, expected))
        fail_msg("%s", page.text);
    assert_non_null(strstr(page.text, "1306 tasks, no coffea chunks"));
    roast_page_release(&page);
    page = make_page(roast__report_card, &shown);
    assert_non_null(strstr(page.text, "LOST WORKERS"));
    roast_page_release(&page);
    check_memory_sweep(roast__report_text, &shown);
}

/* Long and hostile texts, and more rows than are shown. */
static void test_hostile_texts(void **state)
{
    enum { ROWS = 8, BYTES = 3000 };
    static char text[BYTES + 1];
    static struct roast_cell lost[ROWS * COUNT_OF(lost_columns)];
    static struct roast_cell hot[ROWS * COUNT_OF(hot_columns)];
    const struct hand_table tables[] = {TABLE("lost_workers", lost_columns, lost),
                                        TABLE("hottest_lines", hot_columns, hot)};
    struct roast_page_input shown = {.values = &values};

    (void)state;
    for (int i = 0; i < BYTES; i++)
        text[i] = "\033[2J/\n\xff<a> "[i % 11];
    const struct roast_cell odd = cell_text(text);
    for (size_t i = 0; i < COUNT_OF(lost); i++)
        lost[i] = odd;
    for (size_t row = 0; row < ROWS; row++)
        lost[(row + 1) * COUNT_OF(lost_columns) - 1] = odd;
    for (size_t i = 0; i < COUNT_OF(hot); i++)
        hot[i] = odd;
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t k = 3; k < 6; k++)
            lost[row * COUNT_OF(lost_columns) + k] = cell_absent();
        hot[row * COUNT_OF(hot_columns) + 1] = cell_absent();
        hot[row * COUNT_OF(hot_columns) + 4] = cell_absent();
        hot[row * COUNT_OF(hot_columns) + 5] = cell_absent();
    }
    show_tables(&shown, tables, COUNT_OF(tables));
    struct roast_page page = make_page(roast__report_text, &shown);
    check_page_fits(&page);
    assert_null(strstr(page.text, " more"));
    roast_page_release(&page);
    page = make_page(roast__report_card, &shown);
    assert_null(strstr(page.text, "<a>"));
    roast_page_release(&page);
}

static void test_fine_metrics_say_where_they_are_from(void **state)
{
    (void)state;
    SET(&values, cpu_time_seconds, 3);
    SET(&values, processor_cpu_time_seconds, 3);
    assert_string_equal(roast_report_title_of(ROAST_REPORT_FINE, &values),
                        "Fine Metrics (own clocks)");
    SET(&values, overhead_cpu_time_seconds, 0);
    assert_string_equal(roast_report_title_of(ROAST_REPORT_FINE, &values),
                        "Fine Metrics (from Dask Spans)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_cluster_in_trouble, setup),
        cmocka_unit_test_setup(test_hostile_texts, setup),
        cmocka_unit_test_setup(test_fine_metrics_say_where_they_are_from, setup),
    };

    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
