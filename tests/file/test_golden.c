/* SPDX-License-Identifier: BSD-3-Clause */
/* test_golden.c - run files of every format version: they open with their original
 * contents. The files were made by the builders of saved_runs.h; with
 * ROAST_WRITE_GOLDEN set this program makes those of the present format. */
#include "file/sqlite/saved_file.h"
#include "file/sqlite/saved_print.h"
#include "file/sqlite/saved_runs.h"

#define GOLDEN ROAST_FIXTURES "/runfiles/"

static roast_runfile *open_golden(const char *path)
{
    roast_runfile *file = open_saved(path);
    struct roast_runfile_info info;

    roast_runfile_info(file, &info);
    assert_int_equal(info.format, 1);
    assert_string_equal(info.writer, "roastcoffea 1.0.0.dev0");
    assert_false(info.partial);
    assert_int_equal(roast_runfile_check(file, NULL, NULL, NULL), 0);
    return file;
}

static bool store_number(void *context, const char *const *names,
                         const struct roast_cell *cells, size_t count)
{
    (void)names;
    (void)count;
    if (cells)
        *(uint64_t *)context = cells[0].count;
    return true;
}

static uint64_t query_number(roast_runfile *file, const char *query)
{
    uint64_t number = UINT64_MAX;
    roast_error err = {0};

    if (roast_runfile_sql(file, query, store_number, &number, &err) < 0)
        fail_msg("%s", err.message);
    return number;
}

static void an_empty_run_of_format_1(void **state)
{
    roast_runfile *file = open_golden(GOLDEN "v1_empty.roast");

    (void)state;
    assert_int_equal(whole_run(file)->attempts.count, 0);
    assert_int_equal(roast_run_span(whole_run(file)).start_ns, 2);
    roast_runfile_close(file);
}

static void a_plain_run_of_format_1(void **state)
{
    roast_runfile *file = open_golden(GOLDEN "v1_plain.roast");
    roast_run *run = plain_run(10);
    struct roast_run_info info;

    (void)state;
    assert_same_run(run, whole_run(file));
    assert_int_equal(query_number(file, "SELECT sum(num_events) FROM chunks"), 1000);
    assert_int_equal(
        query_number(file, "SELECT sum(duration_ns) FROM chunk_rows WHERE state=1"),
        9000005200);
    assert_int_equal(
        query_number(file, "SELECT count(*) FROM samples WHERE series='memory'"), 40);
    assert_int_equal(roast_run_info_read(&info, GOLDEN "v1_plain.roast", NULL),
                     ROAST_OK);
    assert_true(info.events == 1000 && info.wall_s == 100);
    assert_string_equal(info.labels, "site=T2, user=me");
    roast_run_free(run);
    roast_runfile_close(file);
}

static void a_run_with_everything_of_format_1(void **state)
{
    roast_runfile *file = open_golden(GOLDEN "v1_everything.roast");
    const roast_summary *summary = NULL;

    (void)state;
    assert_int_equal(whole_run(file)->attempts.count, 57);
    assert_int_equal(query_number(file, "SELECT count(*) FROM all_attempts"), 57);
    assert_int_equal(query_number(file, "SELECT count(*) FROM chunks"), 45);
    assert_int_equal(
        query_number(file, "SELECT count(*) FROM failures WHERE status='failed'"), 6);
    assert_int_equal(query_number(file, "SELECT sum(bytes) FROM chunk_branches"), 4510);
    assert_int_equal(roast_run_lost(whole_run(file), ROAST_RUN_LOSS_spool_unreadable),
                     300);
    assert_int_equal(roast_runfile_summary(file, &summary, NULL), ROAST_OK);
    assert_true(roast_summary_metrics(summary)->value[ROAST_METRIC_num_attempts] == 57);
    roast_runfile_close(file);
}

static roast_run *cluster_run(void)
{
    roast_run *run = plain_run(5);

    make_task_changes(run);
    return run;
}

/* A file with scheduler data. */
static void a_run_on_a_cluster_of_format_1(void **state)
{
    roast_runfile *file = open_golden(GOLDEN "v1_cluster.roast");
    roast_run *run = cluster_run();

    (void)state;
    assert_same_run(run, whole_run(file));
    assert_int_equal(
        query_number(file, "SELECT count(*) FROM tasks WHERE attempt IS NULL"), 2);
    assert_int_equal(query_number(file, "SELECT sum(lost) FROM workers"), 1);
    assert_int_equal(query_number(file, "SELECT count(*) FROM activities"), 2);
    assert_int_equal(query_number(file, "SELECT sum(line) FROM hot_lines"), 12);
    roast_run_free(run);
    roast_runfile_close(file);
}

static void write_golden(roast_run *run, const char *path)
{
    save(run, path);
    roast_run_free(run);
}

static void write_all(void)
{
    roast_run *empty = NULL;

    assert_int_equal(roast_run_new(&empty, 1, 2, NULL), ROAST_OK);
    write_golden(empty, GOLDEN "v1_empty.roast");
    write_golden(plain_run(10), GOLDEN "v1_plain.roast");
    write_golden(rich_run(), GOLDEN "v1_everything.roast");
    write_golden(cluster_run(), GOLDEN "v1_cluster.roast");
}

int main(void)
{
    if (getenv("ROAST_WRITE_GOLDEN"))
        write_all();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_run_of_format_1),
        cmocka_unit_test(a_plain_run_of_format_1),
        cmocka_unit_test(a_run_with_everything_of_format_1),
        cmocka_unit_test(a_run_on_a_cluster_of_format_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
