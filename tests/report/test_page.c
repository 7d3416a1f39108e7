/* SPDX-License-Identifier: BSD-3-Clause */
/* test_page.c - whole pages: golden texts, an empty run, hostile names, no memory.
 *
 * The golden files are what users see; a change there is a change for them. */
#include <math.h>
#include <stdio.h>

#include "golden.h"
#include "tables_by_hand.h"

enum { HUGE_BYTES = 1024 * 1024 };

static struct roast_metric_values values;

static const char *const wall_columns[] = {
    "wait_first_worker", "client", "preprocess", "chunks", "tail", "merge"};
static const char *const failure_columns[] = {
    "dataset", "file",       "entry_start",   "entry_stop", "attempt",
    "status",  "error_type", "error_message", "resolved"};
static const char *const section_columns[] = {"name", "count", "total", "self",
                                              "share"};
static const char *const dataset_columns[] = {"dataset", "num_chunks", "total_events",
                                              "total_duration", "events_per_second"};
static const char *const loss_columns[] = {"name", "count", "meaning"};

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    set_nothing(&values);
    return 0;
}

static void check_text(const struct roast_page_input *shown, const char *golden)
{
    struct roast_page page = make_page(roast__report_text, shown);

    check_page_fits(&page);
    check_golden(golden, str_from(page.text, page.size_bytes));
    roast_page_release(&page);
}

static struct roast_heading heading_of(const char *state)
{
    return (struct roast_heading){
        .name = roast_str_of("TtbarProcessor"),
        .executor = roast_str_of("Futures, 2 workers"),
        .state = roast_str_of(state),
        .started = roast_str_of("2025-11-15 14:02 UTC"),
    };
}

static void test_a_successful_run(void **state)
{
    const struct roast_cell wall[] = {cell_number(0),   cell_number(4),
                                      cell_number(5.1), cell_number(44.9),
                                      cell_number(7.6), cell_number(0.4)};
    const struct roast_cell sections[] = {
        cell_text("jets"),  cell_count(1240),  cell_number(20.1), cell_number(20.1),
        cell_number(0.184), cell_text("fill"), cell_count(2480),  cell_number(61),
        cell_number(61),    cell_number(0.559)};
    const struct hand_table tables[] = {
        TABLE("wall_account", wall_columns, wall),
        TABLE("section_totals", section_columns, sections)};
    const struct roast_heading heading = heading_of("finished");
    struct roast_page_input shown = {.values = &values, .heading = &heading};

    (void)state;
    set_typical(&values, WORKFLOW | WORKERS | CHUNKS | OWN_CLOCKS);
    show_tables(&shown, tables, COUNT_OF(tables));
    check_text(&shown, "report_good.txt");
    struct roast_page page = make_page(roast__report_headline, &shown);
    check_golden("report_headline.txt", str_from(page.text, page.size_bytes));
    roast_page_release(&page);
    page = make_page(roast__report_card, &shown);
    check_golden("report_card.txt", str_from(page.text, page.size_bytes));
    roast_page_release(&page);
}

/* Fifteen failures; every second one was resolved. */
static size_t fill_failures(struct roast_cell *cells)
{
    enum { ROWS = 15 };
    size_t n = 0;

    for (uint64_t i = 0; i < ROWS; i++) {
        bool lost = i == 2;
        struct roast_cell absent = {.type = ROAST_CELL_ABSENT};
        cells[n++] = cell_text("TTbar");
        cells[n++] = cell_text("root://eos.example.org//store/mc/2018/TTbar/NANOAODSIM/"
                               "0A1B2C3D.root");
        cells[n++] = cell_count(i * 100000);
        cells[n++] = cell_count((i + 1) * 100000);
        cells[n++] = cell_count(1 + i % 2);
        cells[n++] = cell_text(lost ? "lost" : "failed");
        cells[n++] = lost ? absent : cell_text("OSError");
        cells[n++] =
            lost ? absent : cell_text("XRootD error: [ERROR] Server responded");
        cells[n++] = cell_bool(i % 2 == 1);
    }
    return ROWS;
}

static void test_a_failed_run(void **state)
{
    struct roast_cell failures[15 * COUNT_OF(failure_columns)];
    const struct roast_cell datasets[] = {
        cell_text("data"),   cell_count(3),
        cell_count(300000),  cell_number(1.5),
        cell_number(200000), cell_text("TTbar"),
        cell_count(0),       cell_count(0),
        cell_number(0),      {.type = ROAST_CELL_ABSENT}};
    const struct roast_cell losses[] = {
        cell_text("frames_damaged"),
        cell_count(3),
        cell_text("pieces of frames that could not be read"),
        cell_text("text_cut"),
        cell_count(0),
        cell_text("nothing"),
        cell_text("a_new_loss"),
        cell_count(7),
        cell_absent(),
        cell_text("intervals"),
        cell_count(1234567),
        cell_text("section intervals beyond the first 256, kept in the sums only")};
    const struct hand_table tables[] = {{.name = "failures",
                                         .columns = failure_columns,
                                         .column_count = COUNT_OF(failure_columns),
                                         .cells = failures,
                                         .row_count = fill_failures(failures)},
                                        TABLE("datasets", dataset_columns, datasets),
                                        TABLE("losses", loss_columns, losses)};
    struct roast_heading heading = heading_of("failed: OSError: XRootD error: [ERROR] "
                                              "Server responded with an error: [3011] "
                                              "No such file or directory");
    struct roast_page_input shown = {.values = &values, .heading = &heading};

    (void)state;
    heading.incomplete = true;
    heading.labels = roast_str_of("site=T2, user=me, campaign=a-rather-long-one");
    heading.first_error = roast_str_of(
        "output_dir: FileExistsError: /home/me/analysis/runs/monday exists:"
        " the run stays in /home/me/analysis/runs/monday.roast-live");
    SET(&values, wall_time, 4000);
    SET(&values, num_chunks, 20);
    SET(&values, num_chunks_processed, 3);
    SET(&values, num_attempts, 18);
    SET(&values, num_successful_chunks, 3);
    SET(&values, num_failed_chunks, 8);
    SET(&values, num_lost_attempts, 1);
    SET(&values, num_lost_chunks, 1);
    SET(&values, num_failed_files, 2);
    SET(&values, num_failed_attempts, 14);
    SET(&values, chunk_duration_mean, 0.5);
    SET(&values, monitor_errors, 2);
    show_tables(&shown, tables, COUNT_OF(tables));
    check_text(&shown, "report_bad.txt");
}

/* Four attempts at one chunk with the same error are one row; another error is another. */
static void test_failures_that_are_alike_are_one_row(void **state)
{
    struct roast_cell cells[6 * COUNT_OF(failure_columns)];
    const struct hand_table tables[] = {{.name = "failures",
                                         .columns = failure_columns,
                                         .column_count = COUNT_OF(failure_columns),
                                         .cells = cells,
                                         .row_count = 6}};
    struct roast_page_input shown = {.values = &values};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        const struct roast_cell row[COUNT_OF(failure_columns)] = {
            cell_text("ttbar"),
            cell_text("a.root"),
            cell_count(0),
            cell_count(10),
            cell_count(i + 1),
            cell_text("failed"),
            cell_text(i == 2 ? "KeyError" : "OSError"),
            cell_text("a message that is much too long for what is left of the line"),
            cell_bool(i == 5)};
        memcpy(cells + i * COUNT_OF(failure_columns), row, sizeof(row));
    }
    show_tables(&shown, tables, 1);
    struct roast_page page = make_page(roast__report_text, &shown);
    assert_non_null(strstr(page.text, "a.root  0-10     x 4  OSError: a message that"));
    assert_non_null(
        strstr(page.text, "a.root  0-10       3  KeyError: a message that"));
    assert_non_null(strstr(page.text, "a.root  0-10       6  OSError: a message that"));
    assert_non_null(strstr(page.text, "...\n"));
    assert_null(strstr(page.text, "more\n"));
    roast_page_release(&page);
}

static void test_an_empty_run(void **state)
{
    const struct roast_page_input shown = {.values = &values};

    (void)state;
    check_text(&shown, "report_empty.txt");
}

/* A run without reasons, tables without rows, a heading without texts. */
static void test_a_run_without_anything(void **state)
{
    static const struct hand_table tables[] = {
        {.name = "failures", .columns = failure_columns, .column_count = 1},
        {.name = "section_totals"},
        {.name = "datasets"},
        {.name = "losses"},
        {.name = "wall_account"}};
    static const struct roast_heading heading;
    struct roast_metric_values nothing = {.known = {false}};
    struct roast_page_input shown = {.values = &nothing, .heading = &heading};

    (void)state;
    show_tables(&shown, tables, COUNT_OF(tables));
    struct roast_page page = make_page(roast__report_headline, &shown);
    assert_string_equal(page.text, "roastcoffea\nnothing was measured\n");
    roast_page_release(&page);
    page = make_page(roast__report_text, &shown);
    check_page_fits(&page);
    roast_page_release(&page);
}

static void test_many_groups_are_ranked_and_counted(void **state)
{
    enum { GROUPS = 50 };
    static struct roast_cell cells[GROUPS * COUNT_OF(section_columns)];
    static char names[GROUPS][8];
    const struct hand_table table = TABLE("section_totals", section_columns, cells);
    const struct roast_heading brief = {.full_by = "--full"};
    struct roast_page_input shown = {.values = &values};

    (void)state;
    for (size_t i = 0; i < GROUPS; i++) {
        struct roast_cell *row = &cells[i * COUNT_OF(section_columns)];
        (void)snprintf(names[i], sizeof(names[i]), "s%zu", i);
        row[0] = cell_text(names[i]);
        row[1] = cell_count(1);
        row[2] = cell_number(i == 7 ? NAN : (double)(i / 2));
    }
    show_tables(&shown, &table, 1);
    struct roast_page page = make_page(roast__report_text, &shown);
    assert_null(strstr(page.text, " more"));
    const char *last_pair = strstr(page.text, "s48 ");
    assert_non_null(last_pair);
    assert_true(strstr(page.text, "s49 ") > last_pair); /* equal ones as they come */
    assert_non_null(strstr(page.text, "\n  s0 "));
    roast_page_release(&page);
    shown.heading = &brief;
    page = make_page(roast__report_text, &shown);
    assert_non_null(strstr(page.text, "\n  45 more: --full\n"));
    assert_non_null(strstr(page.text, "\n  s44 "));
    assert_null(strstr(page.text, "\n  s43 "));
    roast_page_release(&page);
}

/* The same hostile text in every field. */
static void check_hostile(struct roast_str text)
{
    struct roast_cell bad = {.type = ROAST_CELL_TEXT, .text = text};
    const struct roast_cell failures[] = {
        bad, bad, cell_count(0), cell_count(UINT64_MAX), cell_number(-1e300),
        bad, bad, bad,           cell_bool(false)};
    const struct roast_cell sections[] = {bad, cell_count(UINT64_MAX),
                                          cell_number(INFINITY), bad, cell_number(NAN)};
    const struct roast_cell datasets[] = {bad,
                                          cell_count(1),
                                          cell_number(-0.0),
                                          cell_number(1e300),
                                          bad,
                                          bad,
                                          bad,
                                          bad,
                                          bad,
                                          bad};
    const struct hand_table tables[] = {
        TABLE("failures", failure_columns, failures),
        TABLE("section_totals", section_columns, sections),
        TABLE("datasets", dataset_columns, datasets)};
    const struct roast_heading heading = {text, text, text, text,  text,
                                          text, text, true, false, NULL};
    struct roast_page_input shown = {.values = &values, .heading = &heading};

    show_tables(&shown, tables, COUNT_OF(tables));
    struct roast_page page = make_page(roast__report_text, &shown);
    check_page_fits(&page);
    assert_true(page.size_bytes < 16 * 1024);
    roast_page_release(&page);
    page = make_page(roast__report_card, &shown);
    assert_null(strstr(page.text, "<script"));
    assert_null(strchr(page.text, '\x1b'));
    assert_true(page.size_bytes < 32 * 1024);
    roast_page_release(&page);
}

static void test_hostile_names_do_no_harm(void **state)
{
    static const char *const texts[] = {
        "",
        "failed:",
        "x\x1b[2J\x1b]0;owned\a",
        "line\nbreak\r\n\t",
        "\xe2\x80\xae"
        "gpj.exe",
        "\xff\xfe\x80 broken \xc3",
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>'",
        "%s%n%99999999d",
        "\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
        "\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a\xe6"
        "\xb8"
        "\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char *tight = tight_copy(texts[i], strlen(texts[i]));
        check_hostile(str_from(tight, strlen(texts[i])));
        free(tight);
    }
    check_hostile(str_from("nul\0nul", 7));
    check_hostile((struct roast_str){NULL, 0});
}

static void test_huge_names_are_cut(void **state)
{
    static const char *const units[] = {"n", "\xe6\xb8\xac", "\xcc\x81", "\x1b", ": "};
    char *huge = malloc(HUGE_BYTES);

    (void)state;
    assert_non_null(huge);
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        size_t unit = strlen(units[i]);
        size_t size = HUGE_BYTES / unit * unit;
        for (size_t at = 0; at < size; at += unit)
            memcpy(huge + at, units[i], unit);
        check_hostile(str_from(huge, size));
    }
    free(huge);
}

static void test_markup_is_escaped_in_the_card(void **state)
{
    const struct roast_heading heading = {.name = roast_str_of("<b>&\"'")};
    const struct roast_page_input shown = {.values = &values, .heading = &heading};

    (void)state;
    struct roast_page page = make_page(roast__report_card, &shown);
    assert_non_null(strstr(page.text, "&lt;b&gt;&amp;&quot;&#39;"));
    assert_null(strstr(page.text, "<b>"));
    roast_page_release(&page);
}

static void test_failing_allocations_of_every_page(void **state)
{
    struct roast_cell failures[15 * COUNT_OF(failure_columns)];
    const struct roast_cell losses[] = {cell_text("frames_damaged"), cell_count(3),
                                        cell_text("pieces of frames")};
    const struct roast_cell sections[] = {cell_text("jets"), cell_count(1240),
                                          cell_number(20.1), cell_number(20.1),
                                          cell_number(0.184)};
    const struct hand_table tables[] = {
        {.name = "failures",
         .columns = failure_columns,
         .column_count = COUNT_OF(failure_columns),
         .cells = failures,
         .row_count = fill_failures(failures)},
        TABLE("losses", loss_columns, losses),
        TABLE("section_totals", section_columns, sections)};
    const struct roast_heading heading = heading_of("finished");
    struct roast_page_input shown = {.values = &values, .heading = &heading};

    (void)state;
    show_tables(&shown, tables, COUNT_OF(tables));
    check_memory_sweep(roast__report_headline, &shown);
    check_memory_sweep(roast__report_text, &shown);
    check_memory_sweep(roast__report_card, &shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_successful_run, setup),
        cmocka_unit_test_setup(test_a_failed_run, setup),
        cmocka_unit_test_setup(test_failures_that_are_alike_are_one_row, setup),
        cmocka_unit_test_setup(test_an_empty_run, setup),
        cmocka_unit_test_setup(test_a_run_without_anything, setup),
        cmocka_unit_test_setup(test_many_groups_are_ranked_and_counted, setup),
        cmocka_unit_test_setup(test_hostile_names_do_no_harm, setup),
        cmocka_unit_test_setup(test_huge_names_are_cut, setup),
        cmocka_unit_test_setup(test_markup_is_escaped_in_the_card, setup),
        cmocka_unit_test_setup(test_failing_allocations_of_every_page, setup),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
