/* SPDX-License-Identifier: BSD-3-Clause */
/* test_save.c - a run that is saved and opened again is the same run: its contents and
 * its summary, bit by bit. */
#include "saved_file.h"
#include "saved_print.h"
#include "saved_runs.h"

static void assert_comes_back(const struct saved_test *test, roast_run *run)
{
    struct roast_buf before, after;
    struct roast_runfile_info info;

    before = print_whole(run);
    save(run, test->path);
    after = print_whole(run); /* the run is not changed */
    assert_true(str_equal(buf_str(&before), buf_str(&after)));
    roast_runfile *file = open_saved(test->path);
    assert_same_whole(run, whole_run(file));
    roast_runfile_info(file, &info);
    assert_int_equal(info.damaged, 0);
    assert_false(info.partial || info.live);
    assert_int_equal(roast_runfile_check(file, NULL, NULL, NULL), 0);
    roast_runfile_close(file);
    roast__buf_release(&before);
    roast__buf_release(&after);
}

static void an_empty_run_comes_back(void **state)
{
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, 1, 2, NULL), ROAST_OK);
    assert_comes_back(*state, run);
    roast_run_free(run);
}

static void a_run_without_attempts_comes_back(void **state)
{
    roast_run *run = new_run();

    add_notes(run);
    add_many_samples(run, 2, 10);
    assert_comes_back(*state, run);
    roast_run_free(run);
}

static void a_plain_run_comes_back(void **state)
{
    roast_run *run = plain_run(10);

    assert_comes_back(*state, run);
    roast_run_free(run);
}

static void a_run_with_everything_comes_back(void **state)
{
    roast_run *run = rich_run();

    assert_comes_back(*state, run);
    roast_run_free(run);
}

static void a_run_that_goes_on_comes_back(void **state)
{
    roast_run *run = new_run();

    add_attempts(run, 5);
    add_lost(run);
    assert_comes_back(*state, run);
    roast_run_free(run);
}

/* Several blocks of rows, the last one full or not. */
static void blocks_of_rows_come_back(void **state)
{
    static const size_t counts[] = {1023, 1024, 2100};

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        roast_run *run = plain_run(counts[i] - 1); /* one more is tried again */
        assert_int_equal(run->attempts.count, counts[i]);
        assert_comes_back(*state, run);
        roast_run_free(run);
    }
}

/* Large journals: long series, large records. */
static void parts_of_segments_come_back(void **state)
{
    static char large[200000];
    roast_run *run = plain_run(1);

    memset(large, 'x', sizeof(large));
    for (uint32_t i = 0; i < 12; i++) {
        struct test_record record;
        init_record(&record, ROAST_FRAME_CHUNK, 1, i + 1);
        large[0] = (char)('a' + i);
        roast_record_set_str(&record.rec, ROAST_FIELD_custom_metrics,
                             str_from(large, sizeof(large)));
        roast_record_set_str(&record.rec, ROAST_FIELD_file_branches,
                             str_from(large, sizeof(large) / 2));
        add(run, &record);
    }
    for (int64_t i = 0; i < 700000; i++) {
        roast_sample sample = {.worker = roast_str_of("long"),
                               .time_ns = EPOCH_0 + i * 1000000};
        roast_sample_set(&sample, ROAST_SERIES_memory, (double)(i * 7919 % 100003));
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    }
    assert_comes_back(*state, run);
    roast_run_free(run);
}

/* Tables of a file are those of the run. */
static void tables_come_back(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = rich_run();
    roast_error err = {0};

    save(run, test->path);
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        enum roast_table_id table = (enum roast_table_id)i;
        roast_runfile *file =
            open_saved(test->path); /* opened again: nothing is loaded */
        roast_table *record = NULL, *read = NULL;
        assert_int_equal(roast_run_table(&record, table, run, NULL, NULL), ROAST_OK);
        if (roast_runfile_columns(file, table, &read, &err) < 0)
            fail_msg("%s", err.message);
        roast_runfile_close(file); /* columns outlive it */
        struct roast_buf a = print_columns(record), b = print_columns(read);
        if (!str_equal(buf_str(&a), buf_str(&b)))
            fail_msg("%s differs", roast_table_name(table));
        roast__buf_release(&a);
        roast__buf_release(&b);
        roast_table_free(record);
        roast_table_free(read);
    }
    roast_run_free(run);
}

/* An open file has facts and notes without its attempts. */
static void what_is_small_comes_at_once(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = rich_run(), *small = NULL, *whole = NULL;
    const roast_summary *summary = NULL;
    double value = 0;
    char text[64];

    save(run, test->path);
    roast_runfile *file = open_saved(test->path);
    assert_int_equal(roast_runfile_run(file, false, &small, NULL), ROAST_OK);
    assert_int_equal(small->attempts.count, 0);
    assert_true(roast_run_fact(small, ROAST_FACT_report_events, &value));
    assert_true(value == 1.0 / 3);
    assert_int_equal(roast_run_note(small, ROAST_NOTES_label, "site", text, 64), 2);
    assert_string_equal(text, "T2");
    assert_int_equal(roast_run_lost(small, ROAST_RUN_LOSS_spool_unreadable), 300);
    assert_int_equal(roast_run_span(small).end_ns, roast_run_span(run).end_ns);
    assert_int_equal(roast_runfile_summary(file, &summary, NULL), ROAST_OK);
    assert_true(roast_summary_metrics(summary)->known[ROAST_METRIC_num_attempts]);
    whole = whole_run(file);
    assert_ptr_not_equal(whole, small); /* the small run remains valid */
    assert_int_equal(small->attempts.count, 0);
    assert_int_equal(whole->attempts.count, run->attempts.count);
    assert_ptr_equal(whole_run(file), whole);
    roast_runfile_close(file);
    roast_run_free(run);
}

/* Saving a loaded run gives an equal file. */
static void a_copy_of_a_copy_is_the_same(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = rich_run();

    save(run, test->path);
    roast_runfile *file = open_saved(test->path);
    char other[128];
    (void)snprintf(other, sizeof(other), "%s/b.roast", test->dir);
    save(whole_run(file), other);
    roast_runfile *copy = open_saved(other);
    assert_same_whole(run, whole_run(copy));
    roast_runfile_close(copy);
    roast_runfile_close(file);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        saved_test_of(an_empty_run_comes_back),
        saved_test_of(a_run_without_attempts_comes_back),
        saved_test_of(a_plain_run_comes_back),
        saved_test_of(a_run_with_everything_comes_back),
        saved_test_of(a_run_that_goes_on_comes_back),
        saved_test_of(blocks_of_rows_come_back),
        saved_test_of(parts_of_segments_come_back),
        saved_test_of(tables_come_back),
        saved_test_of(what_is_small_comes_at_once),
        saved_test_of(a_copy_of_a_copy_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
