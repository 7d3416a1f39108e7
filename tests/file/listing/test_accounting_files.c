/* SPDX-License-Identifier: BSD-3-Clause */
/* test_accounting_files.c - run files in the accounting; files that are replaced when
 * they are complete. */
#include <math.h>

#include "file/sqlite/saved_file.h"

static struct roast_accounts totals_of(const roast_accounting *accounting)
{
    struct roast_accounts sums;

    assert_int_equal(roast_accounting_sum(&sums, accounting, ROAST_BY_total, NULL),
                     ROAST_OK);
    return sums;
}

static roast_accounting *accounting_new(void)
{
    roast_accounting *accounting = NULL;

    assert_int_equal(roast_accounting_new(&accounting, INT64_MIN, INT64_MAX, NULL),
                     ROAST_OK);
    return accounting;
}

static double in_hours(const roast_summary *summary, enum roast_metric metric)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    return values->known[metric] ? values->value[metric] / 3600 : NAN;
}

static void check_hours(const struct roast_account *row, enum roast_account_hours hours,
                        double expected)
{
    assert_int_equal(row->without[hours], isnan(expected));
    if (isnan(expected))
        assert_true(isnan(row->hours[hours]) && row->why[hours].size_bytes > 0);
    else
        assert_true(fabs(row->hours[hours] - expected) <= 1e-12 * expected);
}

static void files_of_format_1(void **state)
{
    static const char *const names[] = {"cluster", "empty", "everything", "plain"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        roast_accounting *accounting = accounting_new();
        const roast_summary *summary = NULL;
        roast_runfile *file = NULL;
        char path[512];
        (void)snprintf(path, sizeof(path), ROAST_FIXTURES "/runfiles/v1_%s.roast",
                       names[i]);
        assert_int_equal(roast_accounting_add_file(accounting, path, NULL, NULL),
                         ROAST_OK);
        assert_int_equal(roast_runfile_open(&file, path, NULL), ROAST_OK);
        assert_int_equal(roast_runfile_summary(file, &summary, NULL), ROAST_OK);
        struct roast_accounts sums = totals_of(accounting);
        assert_int_equal(sums.count, 1);
        const struct roast_account *row = &sums.items[0];
        check_hours(row, ROAST_HOURS_OFFERED,
                    in_hours(summary, ROAST_METRIC_offered_thread_seconds));
        check_hours(row, ROAST_HOURS_USED,
                    in_hours(summary, ROAST_METRIC_cpu_time_seconds));
        check_hours(row, ROAST_HOURS_WASTED,
                    in_hours(summary, ROAST_METRIC_wasted_thread_seconds));
        size_t findings =
            roast_table_rows(roast_summary_table(summary, ROAST_TABLE_findings));
        assert_int_equal(row->finding_runs, findings > 0);
        roast_runfile_close(file);
        roast_accounts_release(&sums);
        roast_accounting_free(accounting);
    }
}

static void a_file_that_cannot_be_read_adds_nothing(void **state)
{
    roast_accounting *accounting = accounting_new();
    roast_error err = {0};

    (void)state;
    assert_int_equal(roast_accounting_add_file(accounting, "/no/such", NULL, &err),
                     ROAST_IO);
    assert_true(err.message[0] != '\0');
    struct roast_accounts sums = totals_of(accounting);
    assert_int_equal(sums.count, 0);
    roast_accounts_release(&sums);
    roast_accounting_free(accounting);
    roast_accounting_free(NULL);
}

static void live_and_finished_files_of_a_run(void **state)
{
    const struct saved_test *test = *state;
    roast_accounting *accounting = accounting_new();
    char path[160];
    roast_live *live = NULL;
    roast_run *run = NULL;

    (void)snprintf(path, sizeof(path), "%s/b" ROAST_LIVE_SUFFIX, test->dir);
    assert_int_equal(roast_run_new(&run, 0, 1000, NULL), ROAST_OK);
    assert_int_equal(roast_live_open(&live, run, path, NULL, NULL), ROAST_OK);
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_run, roast_str_of("id"),
                                        roast_str_of("0123"), NULL),
                     ROAST_OK);
    assert_int_equal(roast_live_close(live, false, NULL), ROAST_OK);
    assert_int_equal(roast_accounting_add_file(accounting, path, NULL, NULL), ROAST_OK);
    struct roast_accounts sums = totals_of(accounting);
    assert_int_equal(sums.items[0].unfinished_runs, 1);
    roast_accounts_release(&sums);
    roast_run_finish(run, 5000);
    save(run, test->path);
    roast_run_free(run);
    assert_int_equal(roast_accounting_add_file(accounting, test->path, NULL, NULL),
                     ROAST_OK);
    sums = totals_of(accounting);
    assert_int_equal(sums.items[0].runs, 1);
    assert_int_equal(sums.items[0].unfinished_runs, 0);
    roast_accounts_release(&sums);
    roast_accounting_free(accounting);
}

/* ---- writing --------------------------------------------------------------------- */

static void assert_holds(const char *path, const char *text)
{
    char bytes[64] = "";
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof(bytes) - 1, file), strlen(text));
    assert_string_equal(bytes, text);
    assert_int_equal(fclose(file), 0);
}

static void a_file_is_replaced_but_no_run_file(void **state)
{
    const struct saved_test *test = *state;
    char path[160];
    roast_run *run = NULL;

    (void)snprintf(path, sizeof(path), "%s/sums.csv", test->dir);
    assert_int_equal(roast_file_write(path, roast_str_of("one\n"), NULL), ROAST_OK);
    assert_holds(path, "one\n");
    assert_int_equal(roast_file_write(path, roast_str_of(""), NULL), ROAST_OK);
    assert_holds(path, "");
    assert_int_equal(roast_run_new(&run, 0, 1000, NULL), ROAST_OK);
    save(run, test->path);
    roast_run_free(run);
    assert_true(roast_file_write(test->path, roast_str_of("one\n"), NULL) < 0);
    assert_true(roast_file_write("/no/such/folder", roast_str_of("x"), NULL) < 0);
    assert_int_equal(files_in(test->dir, false), 2); /* nothing temporary */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_format_1),
        cmocka_unit_test(a_file_that_cannot_be_read_adds_nothing),
        saved_test_of(live_and_finished_files_of_a_run),
        saved_test_of(a_file_is_replaced_but_no_run_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
