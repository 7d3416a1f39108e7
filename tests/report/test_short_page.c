/* SPDX-License-Identifier: BSD-3-Clause */
/* test_short_page.c - the page of at most 70 lines: what is on it when everything that a
 * run can have is there and long. */
#include <stdio.h>

#include "tables_by_hand.h"

enum { MOST_LINES = 70, FINDINGS = 12, ROWS = 40 };

static struct roast_metric_values values;
static struct roast_heading heading;
static struct roast_page_input shown = {.values = &values, .heading = &heading};

static const char *const titles[] = {
    "\nThroughput Metrics\n",
    "\nEvent Processing Metrics\n",
    "\nResource Utilization\n",
    "\nTiming Breakdown\n",
    "\nFine Metrics (from Dask Spans)\n",
    "\nChunk Metrics\n",
};

/* "ab ab ab ... " of a length: words that can be broken between lines. */
static const char *words(size_t size)
{
    static char texts[8][2048];
    static size_t next;
    char *text = texts[next++ % COUNT_OF(texts)];

    assert_true(size < sizeof(texts[0]));
    for (size_t i = 0; i < size; i++)
        text[i] = "some words "[i % 11];
    text[size] = '\0';
    return text;
}

/* Every column of a table, in `rows` rows. */
static void fill_table(enum roast_table_id id, size_t rows)
{
    static struct roast_cell cells[ROWS * 64];
    static const char *names[64];
    size_t count = roast__table_listed(id);
    const struct hand_table table = {.name = roast_table_name(id),
                                     .columns = names,
                                     .column_count = count,
                                     .cells = cells,
                                     .row_count = rows};

    assert_true(count <= COUNT_OF(names) && rows <= ROWS);
    for (size_t i = 0; i < count; i++)
        names[i] = roast__table_info(id, i).name;
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < count; i++) {
            enum roast_dtype type = roast__table_info(id, i).type;
            cells[row * count + i] =
                type == ROAST_DTYPE_TEXT     ? cell_text(words(300 + row))
                : type == ROAST_DTYPE_DOUBLE ? cell_number(1.25 + (double)row)
                : type == ROAST_DTYPE_BOOL   ? cell_bool(false)
                                             : cell_count(1 + row);
        }
    }
    show_tables(&shown, &table, 1);
}

static void fill_findings(size_t rows, size_t evidence, size_t advice)
{
    static const char *const columns[] = {"title", "evidence", "advice", "saving",
                                          "overlaps"};
    static struct roast_cell cells[FINDINGS * COUNT_OF(columns)];
    static char texts[FINDINGS][64];
    const struct hand_table table = {.name = "findings",
                                     .columns = columns,
                                     .column_count = COUNT_OF(columns),
                                     .cells = cells,
                                     .row_count = rows};

    for (size_t row = 0; row < rows; row++) {
        struct roast_cell *cell = &cells[row * COUNT_OF(columns)];
        (void)snprintf(texts[row], sizeof(texts[row]), "Cause number %zu", row + 1);
        cell[0] = cell_text(texts[row]);
        cell[1] = cell_text(words(evidence));
        cell[2] = cell_text(words(advice));
        cell[3] = cell_text("about 12.0 s");
        cell[4] = cell_text("other");
    }
    show_tables(&shown, &table, 1);
}

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    set_nothing(&values);
    set_typical(&values, WORKFLOW | WORKERS | CHUNKS | OWN_CLOCKS);
    heading = (struct roast_heading){.name = roast_str_of("TtbarProcessor"),
                                     .executor = roast_str_of("Dask, 16 workers"),
                                     .started = roast_str_of("2026-11-15 14:02 UTC"),
                                     .state = roast_str_of("finished"),
                                     .full_by = "full=True"};
    memset(shown.tables, 0, sizeof(shown.tables));
    return 0;
}

static size_t lines_of(const char *text)
{
    size_t lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Everything that a run can have, with long texts. */
static void fill_everything(void)
{
    for (int i = 0; i < ROAST_METRIC_COUNT; i++)
        set_metric(&values, (enum roast_metric)i, 12345.678 + i);
    values.known[ROAST_METRIC_command_cpu_seconds] = false; /* it has no other table */
    for (int id = 0; id < ROAST_TABLE_COUNT; id++) {
        bool is_row = roast_table_shape((enum roast_table_id)id) == ROAST_SHAPE_SINGLE;
        if (roast__table_listed((enum roast_table_id)id) <= 64)
            fill_table((enum roast_table_id)id, is_row ? 1 : ROWS);
    }
    heading.name = heading.executor = heading.labels = roast_str_of(words(120));
    heading.state = roast_str_of("failed: OSError: no such file");
    heading.first_error = roast_str_of(words(319));
    heading.remarks = roast_str_of("one remark\nanother\na third one");
}

static void test_everything_at_once(void **state)
{
    (void)state;
    fill_everything();
    fill_findings(FINDINGS, 190, 220);
    struct roast_page page = make_page(roast__report_text, &shown);
    check_page_fits(&page);
    if (lines_of(page.text) > MOST_LINES)
        fail_msg("%zu lines:\n%s", lines_of(page.text), page.text);
    for (size_t i = 0; i < COUNT_OF(titles); i++)
        assert_non_null(strstr(page.text, titles[i]));
    assert_non_null(strstr(page.text, "\n  1 Cause number 1: some words"));
    assert_non_null(strstr(page.text, "; saves about 12.0 s"));
    assert_non_null(strstr(page.text, " more: full=True\n"));
    assert_non_null(strstr(page.text, "\nfull=True shows everything: more rows, "));
    roast_page_release(&page);
    heading.full_by = NULL;
    page = make_page(roast__report_text, &shown);
    check_page_fits(&page);
    assert_null(strstr(page.text, " more\n\n"));
    assert_non_null(strstr(page.text, "\n  12 Cause number 12: some words"));
    assert_non_null(strstr(page.text, "\nHOT LINES   by sampling\n"));
    roast_page_release(&page);
}

/* Findings have what the others leave: three whole ones, and the titles of others. */
static void test_findings_take_the_room_that_is_left(void **state)
{
    (void)state;
    fill_findings(FINDINGS, 100, 100);
    struct roast_page page = make_page(roast__report_text, &shown);
    assert_true(lines_of(page.text) <= MOST_LINES);
    assert_non_null(strstr(page.text, "\n  3 Cause number 3: "));
    assert_null(strstr(page.text, "\n  4 Cause"));
    assert_non_null(strstr(page.text, "\n  and: Cause number 4, Cause number 5, Cause "
                                      "number 6, 6 more: full=True\n"));
    roast_page_release(&page);
}

/* Sections that fit are shown, the others are named. */
static void test_sections_that_do_not_fit_are_named(void **state)
{
    (void)state;
    fill_table(ROAST_TABLE_section_totals, ROWS);
    fill_table(ROAST_TABLE_datasets, ROWS);
    fill_findings(3, 500, 500);
    struct roast_page page = make_page(roast__report_text, &shown);
    assert_true(lines_of(page.text) <= MOST_LINES);
    assert_non_null(strstr(page.text, "\nSections\n"));
    assert_non_null(strstr(page.text, "\n  35 more: full=True\n"));
    assert_null(strstr(page.text, "\nDatasets\n"));
    assert_non_null(strstr(page.text, "\nfull=True shows everything: more rows, "
                                      "Datasets, Memory of sections\n"));
    roast_page_release(&page);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    fill_findings(5, 100, 100);
    fill_table(ROAST_TABLE_datasets, 8);
    heading.remarks = roast_str_of("one remark\nanother");
    check_memory_sweep(roast__report_text, &shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_everything_at_once, setup),
        cmocka_unit_test_setup(test_findings_take_the_room_that_is_left, setup),
        cmocka_unit_test_setup(test_sections_that_do_not_fit_are_named, setup),
        cmocka_unit_test_setup(test_failing_allocations, setup),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
