/* SPDX-License-Identifier: BSD-3-Clause */
/* test_first_screen.c - the first screen: whether it finished, what failed, what took
 * the time, what to change first.
 *
 * The golden files are what users see; a change there is a change for them. The first
 * one is of a run with findings. */
#include "analyze/patients.h"
#include "golden.h"
#include "tables_by_hand.h"

enum { FINDINGS, BUDGET, CHECKS, TABLES };

static struct roast_metric_values values;
static struct hand_table tables[TABLES];
static struct roast_heading heading;
static struct roast_page_input shown = {.values = &values, .heading = &heading};

static const char *const finding_columns[] = {"id",     "title",  "evidence",
                                              "advice", "saving", "overlaps"};
static const char *const budget_columns[] = {
    "form", "compute", "fetch",   "interpret", "decompress",   "open",       "dispatch",
    "lost", "reduce",  "monitor", "idle_tail", "idle_starved", "unexplained"};
static const char *const check_columns[] = {"name", "difference_percent", "verdict"};

static struct roast_cell finding_cells[4 * COUNT_OF(finding_columns)];
static struct roast_cell budget_cells[COUNT_OF(budget_columns)];
static struct roast_cell check_cells[4 * COUNT_OF(check_columns)];

/* ---- a run, by hand ----------------------------------------------------------- */

static void put_finding(size_t row, const char *title, const char *evidence,
                        const char *advice, const char *saving)
{
    struct roast_cell *cells = &finding_cells[row * COUNT_OF(finding_columns)];

    cells[1] = cell_text(title);
    cells[2] = cell_text(evidence);
    cells[3] = cell_text(advice);
    cells[4] = saving ? cell_text(saving) : (struct roast_cell){0};
    cells[5] = cell_text(row < 2 ? "another" : "");
    tables[FINDINGS].row_count = row + 1;
}

static void put_check(size_t row, const char *name, double percent, const char *verdict)
{
    struct roast_cell *cells = &check_cells[row * COUNT_OF(check_columns)];

    cells[0] = cell_text(name);
    cells[1] = cell_number(percent);
    cells[2] = cell_text(verdict);
    tables[CHECKS].row_count = row + 1;
}

static void set(enum roast_metric metric, double value)
{
    values.known[metric] = true;
    values.value[metric] = value;
}

static int setup(void **state)
{
    static const double seconds[] = {930, 682, 494, 350, 280, 210, 80,
                                     60,  40,  1,   190, 134, 18};

    (void)state;
    test_heap_fail(0, false);
    set_nothing(&values);
    heading = (struct roast_heading){.name = roast_str_of("TtbarProcessor"),
                                     .executor = roast_str_of("Dask, 16 workers"),
                                     .started = roast_str_of("2026-11-15 14:02 UTC"),
                                     .state = roast_str_of("finished")};
    set(ROAST_METRIC_wall_time, 62);
    set(ROAST_METRIC_unexplained_percent, 18 / 3469.0 * 100);
    set(ROAST_METRIC_total_events, 12.4e6);
    set(ROAST_METRIC_num_chunks, 1240);
    set(ROAST_METRIC_num_chunks_processed, 1240);
    set(ROAST_METRIC_num_retried_chunks, 3);
    set(ROAST_METRIC_num_failed_chunks, 0);
    set(ROAST_METRIC_event_rate_wall_khz, 200);
    set(ROAST_METRIC_event_rate_core_hz, 3570);
    memset(finding_cells, 0, sizeof(finding_cells));
    memset(check_cells, 0, sizeof(check_cells));
    for (size_t i = 0; i < COUNT_OF(seconds); i++)
        budget_cells[i] = cell_number(seconds[i]);
    tables[FINDINGS] = (struct hand_table){.name = "findings",
                                           .columns = finding_columns,
                                           .column_count = COUNT_OF(finding_columns),
                                           .cells = finding_cells};
    tables[BUDGET] = (struct hand_table){.name = "budget",
                                         .columns = budget_columns,
                                         .column_count = COUNT_OF(budget_columns),
                                         .cells = budget_cells,
                                         .row_count = 1};
    tables[CHECKS] = (struct hand_table){.name = "checks",
                                         .columns = check_columns,
                                         .column_count = COUNT_OF(check_columns),
                                         .cells = check_cells};
    return 0;
}

static void put_everything(void)
{
    put_finding(0, "One", "much", "another", "about 10.0 s");
    put_finding(1, "Two", "less", "fewer", "about 7.00 s");
    put_finding(2, "Three", "little", "look", NULL);
    put_finding(3, "Garbage collection", "80.0 s", "gc.freeze()", "about 1.00 s");
    put_check(0, "events", 0, "exact");
    put_check(1, "bytes", 3.2, "differs");
    put_check(2, "cpu_seconds", -0.04, "agrees");
    put_check(3, "chunk_seconds", 0, "absent");
}

/* ---- tests --------------------------------------------------------------------- */

/* The input of the page, with the current tables. */
static const struct roast_page_input *built(void)
{
    test_heap_fail(0, false);
    show_tables(&shown, tables, TABLES);
    return &shown;
}

static int first_screen(struct roast_page *out, const struct roast_page_input *what,
                        roast_error *err)
{
    struct roast_buf buf = {0};

    roast__put_first_screen(&buf, what, SIZE_MAX);
    return roast__page_finish(out, &buf, err);
}

static void check_page(const char *golden, const struct roast_page_input *what)
{
    struct roast_page page = make_page(first_screen, what);

    check_page_fits(&page);
    check_golden(golden, (struct roast_str){page.text, page.size_bytes});
    roast_page_release(&page);
}

/* A worker that joins, gets a chunk, and disappears. */
static void add_victim(roast_run *run)
{
    const char *name = worker_named(8);
    const struct roast_member member = {.worker = roast_str_of(name),
                                        .host = roast_str_of("red-c2"),
                                        .joined_ns = at(10),
                                        .threads = 2,
                                        .memory_limit_bytes = 4000000000};
    struct frame begin = {.kind = ROAST_FRAME_BEGIN,
                          .process = 9,
                          .sequence = 2000,
                          .first = 90000,
                          .stop = 91000,
                          .start = 10.1};

    assert_int_equal(roast_run_add_member(run, &member, NULL), ROAST_OK);
    add_frame_of_task(run, begin, name, 2000);
    leave_for(run, name, 12, "no heartbeat for 300 s");
}

/* Small chunks, the last one of them slow. */
static roast_run *run_an_ill_one(void)
{
    struct patient patient = {.workers = 8,
                              .chunks = 801,
                              .per_file = 100,
                              .events = 1000,
                              .form = 0.7,
                              .compute = 0.4,
                              .decompress = 0.1,
                              .fetch = 0.05,
                              .gc = 0.12,
                              .last = 12,
                              .limit = 4000000000};
    roast_run *run = patient_new(patient, NULL);

    add_victim(run);
    return run;
}

static void test_a_run_with_findings(void **state)
{
    roast_run *run = run_an_ill_one();
    roast_summary *summary = summary_of(run);
    struct roast_page_input judged = {.values = roast_summary_metrics(summary),
                                      .heading = &heading};

    (void)state;
    heading.executor = roast_str_of("Dask, 8 workers");
    for (int id = 0; id < ROAST_TABLE_COUNT; id++)
        judged.tables[id] = roast_summary_table(summary, (enum roast_table_id)id);
    check_page("first_screen.txt", &judged);
    check_memory_sweep(first_screen, &judged);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* On the short page three are shown whole, the others by title. */
static void test_everything(void **state)
{
    static const char *const parts[] = {
        "WHAT TO CHANGE   (savings overlap)\n",
        "\n  and: Garbage collection: full=True\n",
        "CHECKS  events = coffea, exact | bytes and coffea differ by 3.20 %",
        "CPU = Dask to 0.0400 %",
    };

    (void)state;
    put_everything();
    heading.full_by = "full=True";
    struct roast_page page = make_page(first_screen, built());
    check_page_fits(&page);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        assert_non_null(strstr(page.text, parts[i]));
    roast_page_release(&page);
}

static void test_healthy(void **state)
{
    (void)state;
    put_check(0, "events", 0, "exact");
    put_check(1, "cpu_seconds", 0.001, "agrees");
    check_page("first_screen_healthy.txt", built());
}

/* More than the slice of that name: what is in no slice. */
static void test_not_explained_is_the_metric(void **state)
{
    (void)state;
    set(ROAST_METRIC_unexplained_percent, 10);
    struct roast_page page = make_page(first_screen, built());
    assert_non_null(strstr(page.text, "not explained 347 s, 10.0 %"));
    roast_page_release(&page);
}

/* Not measured: no table, or one without seconds. */
static void test_nothing_known(void **state)
{
    struct roast_page_input little = {.values = &values, .heading = &heading};

    (void)state;
    memset(budget_cells, 0, sizeof(budget_cells));
    struct roast_page page = make_page(first_screen, &little);
    assert_null(strstr(page.text, "WHAT TO CHANGE"));
    assert_null(strstr(page.text, "WHERE"));
    assert_null(strstr(page.text, "CHECKS"));
    roast_page_release(&page);
    page = make_page(first_screen, built());
    assert_null(strstr(page.text, "WHERE"));
    roast_page_release(&page);
}

static void test_words_from_data(void **state)
{
    (void)state;
    put_finding(0, "\033[2Jtitle", "\n\xff evidence of \xe2\x80\xae.root", "\tdo",
                "about 1.00 s");
    struct roast_page page = make_page(first_screen, built());
    check_page_fits(&page);
    assert_null(strchr(page.text, '\033'));
    roast_page_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_run_with_findings, setup),
        cmocka_unit_test_setup(test_everything, setup),
        cmocka_unit_test_setup(test_healthy, setup),
        cmocka_unit_test_setup(test_not_explained_is_the_metric, setup),
        cmocka_unit_test_setup(test_nothing_known, setup),
        cmocka_unit_test_setup(test_words_from_data, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
