/* SPDX-License-Identifier: BSD-3-Clause */
/* test_path_section.c - the critical path and other numbers of workers on the full page. */
#include "tables_by_hand.h"

static const char *const path_columns[] = {"part", "count", "waited", "seconds"};
static const char *const worker_columns[] = {"workers", "wall_seconds",
                                             "longer_percent", "more_percent"};

/* Merges of tasks and of the client are one part; what has no time is not shown. */
static void test_what_set_the_wall_time(void **state)
{
    const struct roast_cell path[] = {
        cell_text("before"),  cell_count(1),  cell_number(0),    cell_number(2),
        cell_text("chunk"),   cell_count(10), cell_number(0.5),  cell_number(40),
        cell_text("foreign"), cell_count(1),  cell_number(0),    cell_number(3),
        cell_text("chunk"),   cell_count(1),  cell_number(0.25), cell_number(4.1),
        cell_text("reduce"),  cell_count(1),  cell_number(0),    cell_number(1),
        cell_text("merge"),   cell_count(1),  cell_number(0),    cell_number(2),
        cell_text("after"),   cell_count(1),  cell_number(0),    cell_number(1)};
    const struct roast_cell workers[] = {
        cell_count(4),  cell_number(62),    cell_number(3),   cell_number(-48.5),
        cell_count(16), cell_number(51.25), cell_number(-15), cell_number(70)};
    const struct hand_table tables[] = {
        TABLE("critical_path", path_columns, path),
        TABLE("other_workers", worker_columns, workers)};
    static const char expected[] =
        "\nCRITICAL PATH\n"
        "  44.1 s chunks (11) | 750 ms waiting | 3.00 s merging | 3.00 s your script\n"
        "  3.00 s other\n"
        "\nOTHER NUMBERS OF WORKERS\n"
        "  4 instead of 8 workers: at most about 62.0 s, 3.00 % longer; 48.5 % fewer\n"
        "    core-hours\n"
        "  16 instead of 8 workers: at least about 51.2 s, 15.0 % shorter, if storage "
        "and\n"
        "    network are as fast for all of them; 70.0 % more core-hours\n";
    struct roast_metric_values values = {.known = {false}};
    struct roast_heading heading = {.full_by = "full=True"};
    struct roast_page_input shown = {.values = &values};

    (void)state;
    show_tables(&shown, tables, COUNT_OF(tables));
    SET(&values, peak_workers, 8);
    struct roast_page page = make_page(roast__report_text, &shown);
    check_page_fits(&page);
    if (!strstr(page.text, expected))
        fail_msg("%s", page.text);
    roast_page_release(&page);
    shown.heading = &heading;
    page = make_page(roast__report_text, &shown);
    assert_null(strstr(page.text, "CRITICAL PATH"));
    assert_null(strstr(page.text, "instead of"));
    roast_page_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_set_the_wall_time),
    };

    return cmocka_run_group_tests_name("path_section", tests, NULL, NULL);
}
