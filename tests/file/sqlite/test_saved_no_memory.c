/* SPDX-License-Identifier: BSD-3-Clause */
/* test_saved_no_memory.c - fails the n-th allocation of saving, opening and querying, n
 * = 1, 2, 3 ...; once, and from then on. No crash, no leak, NO_MEMORY or the result; a
 * failed save leaves no file. */
#include "heap.h"
#include "saved_file.h"
#include "saved_print.h"
#include "saved_runs.h"

static int install(void **state)
{
    test_heap_install();
    return make_saved_folder(state);
}

static int uninstall(void **state)
{
    int status = remove_saved_folder(state);

    roast__heap_set(NULL);
    return status;
}

static roast_run *small_run(void)
{
    roast_run *run = new_run();

    make_changes(run);
    make_task_changes(run);
    add_notes(run);
    add_attempts(run, 2);
    add_unusual_ladders(run);
    return run;
}

/* An operation that needs memory. */
typedef int job(const struct saved_test *test, roast_run *run, roast_error *err);

/* True when an allocation failed. */
static bool try_once(job *work, const struct saved_test *test, roast_run *run, size_t n,
                     bool from_then_on)
{
    size_t before = test_heap.live_blocks;
    roast_error err = {0};

    test_heap_fail(n, from_then_on);
    int status = work(test, run, &err);
    bool failed = test_heap_failed();
    test_heap_fail(0, false);
    assert_int_equal(test_heap.live_blocks, before);
    if (status < 0 && (!failed || status != ROAST_NO_MEMORY))
        fail_msg("allocation %zu: %d %s", n, status, err.message);
    return failed;
}

static void try_all(job *work, const struct saved_test *test, roast_run *run)
{
    for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
        size_t n = 1;
        while (try_once(work, test, run, n, from_then_on))
            n += from_then_on ? 5 : 1;
        assert_true(n > 1);
    }
}

/* ---- jobs ---------------------------------------------------------------------------- */

static int save_job(const struct saved_test *test, roast_run *run, roast_error *err)
{
    int status = roast_run_save(run, test->path, ROAST_SAVE_NEW, err);

    assert_int_equal(files_in(test->dir, true), status == ROAST_OK);
    return status;
}

static int open_job(const struct saved_test *test, roast_run *run, roast_error *err)
{
    roast_runfile *file = NULL;
    const roast_summary *summary = NULL;
    struct roast_run_info info;
    int status = roast_run_info_read(&info, test->path, err);

    (void)run;
    if (status == ROAST_OK)
        status = roast_runfile_open(&file, test->path, err);
    if (status == ROAST_OK)
        status = roast_runfile_summary(file, &summary, err);
    if (status == ROAST_OK)
        status = roast_runfile_run(file, true, &run, err);
    roast_runfile_close(file);
    return status;
}

static int tables_job(const struct saved_test *test, roast_run *run, roast_error *err)
{
    static const enum roast_table_id tables[] = {
        ROAST_TABLE_metrics, ROAST_TABLE_failures, ROAST_TABLE_labels};
    roast_runfile *file = NULL;
    int status = roast_runfile_open(&file, test->path, err);

    (void)run;
    for (size_t i = 0; status == ROAST_OK && i < COUNT_OF(tables); i++) {
        roast_table *columns = NULL;
        status = roast_runfile_columns(file, tables[i], &columns, err);
        roast_table_free(columns);
    }
    roast_runfile_close(file);
    return status;
}

static void no_problem(void *context, const char *problem)
{
    (void)context;
    fail_msg("%s", problem);
}

static int check_job(const struct saved_test *test, roast_run *run, roast_error *err)
{
    roast_runfile *file = NULL;
    int status = roast_runfile_open(&file, test->path, err);

    (void)run;
    if (status == ROAST_OK) {
        status = (int)roast_runfile_check(file, no_problem, NULL, err);
    }
    roast_runfile_close(file);
    return status;
}

static int find_job(const struct saved_test *test, roast_run *run, roast_error *err)
{
    struct roast_found_run found;
    int status = roast_runfile_find(&found, test->dir, err);

    (void)run;
    assert_int_equal(status == ROAST_OK, found.path.text != NULL);
    assert_int_equal(status == ROAST_OK, found.file != NULL);
    roast_page_release(&found.path);
    roast_runfile_close(found.file);
    return status;
}

static bool take_row(void *context, const char *const *names,
                     const struct roast_cell *cells, size_t count)
{
    (void)context;
    (void)names;
    (void)cells;
    (void)count;
    return true;
}

static int query_job(const struct saved_test *test, roast_run *run, roast_error *err)
{
    roast_runfile *file = NULL;
    int status = roast_runfile_open(&file, test->path, err);

    (void)run;
    if (status == ROAST_OK)
        status = roast_runfile_sql(file,
                                   "SELECT c.thread, s.name, d.data FROM chunks c JOIN"
                                   " chunk_sections s USING (chunk_id), journal d",
                                   take_row, NULL, err);
    roast_runfile_close(file);
    return status;
}

/* ---- tests --------------------------------------------------------------------------- */

static void saving_survives(void **state)
{
    roast_run *run = small_run();

    try_all(save_job, *state, run);
    roast_run_free(run);
}

static void reading_survives(void **state)
{
    static job *const jobs[] = {open_job, tables_job, check_job, query_job, find_job};
    const struct saved_test *test = *state;
    roast_run *run = small_run();

    save(run, test->path);
    for (size_t i = 0; i < COUNT_OF(jobs); i++)
        try_all(jobs[i], test, run);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(saving_survives, install, uninstall),
        cmocka_unit_test_setup_teardown(reading_survives, install, uninstall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
