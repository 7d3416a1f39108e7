/* SPDX-License-Identifier: BSD-3-Clause */
/* test_columns_cluster.c - what tables have from a scheduler: tasks that are joined to
 * attempts and others, workers that came and went, activities, hot lines. */
#include "analyze/table_cells.h"
#include "run/scheduler_events.h"

#define assert_number(got, expected) assert_true((got) == (expected))

/* ---- tasks ----------------------------------------------------------------------- */

/* An attempt that began at a time, by begin and end frame. */
static void add_attempt(roast_run *run, uint32_t sequence, const char *worker,
                        uint32_t key_hash, int64_t start_ns)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_BEGIN, 1, sequence);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, start_ns);
    assert_int_equal(add_with_task(run, &record, worker, key_hash, NULL), ROAST_OK);
}

static void tell_task(roast_run *run, const char *worker, uint32_t key_hash,
                      int64_t assigned_ns, int64_t start_ns)
{
    struct roast_task task = {.prefix = roast_str_of("MyProcessor"),
                              .worker = roast_str_of(worker),
                              .key_hash = key_hash,
                              .ours = true,
                              .end = start_ns ? ROAST_TASK_ok : ROAST_TASK_lost,
                              .assigned_ns = assigned_ns,
                              .start_ns = start_ns,
                              .stop_ns = start_ns + SECOND};

    assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
}

static void test_an_attempt_has_its_task(void **state)
{
    roast_run *run = new_run();

    (void)state;
    add_attempt(run, 1, "tcp://w:1", 7, second(5) + 1000);
    tell_task(run, "tcp://w:1", 7, second(4), second(5));
    roast_table *tasks = table_of(run, ROAST_TABLE_tasks);
    assert_int_equal(roast_table_rows(tasks), 1);
    assert_str_is(text_in(tasks, "kind", 0), "chunk");
    assert_str_is(text_in(tasks, "prefix", 0), "MyProcessor");
    assert_str_is(text_in(tasks, "worker", 0), "tcp://w:1");
    assert_int_equal(value_at(tasks, "start", 0).count, second(5) + 1000);
    assert_int_equal(value_at(tasks, "assigned", 0).count, second(4));
    assert_int_equal(value_at(tasks, "compute_start", 0).count, second(5));
    assert_int_equal(value_at(tasks, "compute_stop", 0).count, second(6));
    roast_table_free(tasks);
    roast_run_free(run);
}

/* Clocks differ: the second attempt seems to begin before its task. */
static void test_each_try_on_a_worker_is_its_own_task(void **state)
{
    roast_run *run = new_run();

    (void)state;
    tell_task(run, "w", 7, second(20), second(21));
    tell_task(run, "w", 7, second(1), second(2));
    tell_task(run, "elsewhere", 7, second(5), second(6));
    tell_task(run, "w", 8, second(5), second(6));
    add_attempt(run, 1, "w", 7, second(2) + SECOND / 2);
    add_attempt(run, 2, "w", 7, second(21) - 1000);
    roast_table *tasks = table_of(run, ROAST_TABLE_tasks);
    assert_int_equal(roast_table_rows(tasks), 4);
    assert_int_equal(value_at(tasks, "assigned", 0).count, second(1));
    assert_int_equal(value_at(tasks, "assigned", 1).count, second(20));
    assert_true(is_unknown(tasks, "attempt", 2)); /* of the scheduler alone */
    assert_str_is(text_in(tasks, "worker", 2), "elsewhere");
    roast_table_free(tasks);
    roast_run_free(run);
}

/* The last of them begins nearer to the next try. */
static void test_attempts_inside_a_task_are_all_of_it(void **state)
{
    roast_run *run = new_run();

    (void)state;
    tell_task(run, "w", 7, second(1), second(2));
    tell_task(run, "w", 7, second(3), second(3));
    for (uint32_t i = 0; i < 10; i++)
        add_attempt(run, i + 1, "w", 7, second(2) + i * SECOND / 10);
    roast_table *tasks = table_of(run, ROAST_TABLE_tasks);
    assert_int_equal(roast_table_rows(tasks), 11);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(value_at(tasks, "assigned", i).count, second(1));
    assert_int_equal(value_at(tasks, "assigned", 10).count, second(3));
    roast_table_free(tasks);
    roast_run_free(run);
}

/* Nobody knows when it began: the time when it was assigned has to do. */
static void test_a_lost_task_has_its_attempt(void **state)
{
    roast_run *run = new_run();

    (void)state;
    tell_task(run, "w", 7, second(1), second(2));
    tell_task(run, "w", 7, second(9), 0);
    add_attempt(run, 1, "w", 7, second(10));
    roast_table *tasks = table_of(run, ROAST_TABLE_tasks);
    assert_int_equal(roast_table_rows(tasks), 2);
    assert_int_equal(value_at(tasks, "assigned", 0).count, second(9));
    assert_true(is_unknown(tasks, "compute_start", 0));
    roast_table_free(tasks);
    roast_run_free(run);
}

static void test_an_attempt_without_a_time_has_a_task(void **state)
{
    roast_run *run = new_run();
    struct test_record record;

    (void)state;
    init_record(&record, ROAST_FRAME_BEGIN, 1, 1);
    assert_int_equal(add_with_task(run, &record, "w", 7, NULL), ROAST_OK);
    tell_task(run, "w", 7, second(1), second(2));
    roast_table *tasks = table_of(run, ROAST_TABLE_tasks);
    assert_int_equal(roast_table_rows(tasks), 1);
    assert_int_equal(value_at(tasks, "assigned", 0).count, second(1));
    roast_table_free(tasks);
    roast_run_free(run);
}

static void test_other_tasks_have_rows(void **state)
{
    static const char *const ends[] = {NULL,      "ok",    "failed",
                                       "retried", "lost",  "cancelled",
                                       "running", "moved", "sent_back"};
    roast_run *run = new_run();

    (void)state;
    joins(run, "w", 0, 1);
    for (uint32_t i = 1; i < ROAST_TASK_END_LAST; i++)
        add_task(run, i < 3 ? "reduce" : "sum", "w", i, (enum roast_task_end)i);
    add_task(run, NULL, NULL, 99, ROAST_TASK_cancelled);
    roast_table *tasks = table_of(run, ROAST_TABLE_tasks);
    assert_int_equal(roast_table_rows(tasks), ROAST_TASK_END_LAST);
    for (uint32_t i = 1; i < ROAST_TASK_END_LAST; i++)
        assert_str_is(text_in(tasks, "status", i - 1), ends[i]);
    assert_str_is(text_in(tasks, "kind", 0), "reduce");
    assert_str_is(text_in(tasks, "kind", 1), "foreign");
    assert_str_is(text_in(tasks, "kind", 2), "other");
    assert_str_is(text_in(tasks, "host", 0), "10.0.0.7");
    assert_int_equal(value_at(tasks, "start", 0).count, second(2));
    assert_number(number_in(tasks, "duration", 0), 1);
    assert_true(is_unknown(tasks, "duration", ROAST_TASK_lost - 1));
    assert_true(is_unknown(tasks, "dataset", 0));
    assert_true(is_unknown(tasks, "worker", ROAST_TASK_END_LAST - 1));
    assert_true(is_unknown(tasks, "prefix", ROAST_TASK_END_LAST - 1));
    roast_table_free(tasks);
    roast_run_free(run);
}

/* ---- workers --------------------------------------------------------------------- */

static void test_workers_have_data_of_the_scheduler(void **state)
{
    roast_run *run = new_run();

    (void)state;
    assert_int_equal(join_as(run, "idle", -5, 4, 77), ROAST_OK);
    assert_int_equal(join_as(run, "busy", 1, 2, 78), ROAST_OK);
    add_attempt(run, 1, "busy", 7, second(2));
    assert_int_equal(leave_as(run, "busy", 9, "killed by its nanny"), ROAST_OK);
    roast_table *workers = table_of(run, ROAST_TABLE_workers);
    assert_int_equal(roast_table_rows(workers), 2);
    size_t busy = row_with(workers, "worker", "busy");
    size_t idle = row_with(workers, "worker", "idle");
    assert_number(number_in(workers, "num_attempts", busy), 1);
    assert_str_is(text_in(workers, "name", busy), "its name");
    assert_number(number_in(workers, "threads", busy), 2);
    assert_number(number_in(workers, "memory_limit_bytes", busy), 1000);
    assert_int_equal(value_at(workers, "joined", busy).count, second(1));
    assert_int_equal(value_at(workers, "left", busy).count, second(9));
    assert_str_is(text_in(workers, "reason", busy), "killed by its nanny");
    assert_number(number_in(workers, "expected", busy), 0);
    assert_number(number_in(workers, "lost", busy), 1);
    assert_int_equal(value_at(workers, "joined", idle).count, second(0));
    assert_number(number_in(workers, "pid", idle), 77);
    assert_str_is(text_in(workers, "host", idle), "10.0.0.7");
    assert_true(is_unknown(workers, "num_attempts", idle));
    assert_true(is_unknown(workers, "left", idle));
    assert_true(is_unknown(workers, "expected", idle));
    assert_number(number_in(workers, "lost", idle), 0);
    roast_table_free(workers);
    roast_run_free(run);
}

static void test_one_that_comes_back_is_one_row(void **state)
{
    roast_run *run = new_run();

    (void)state;
    assert_int_equal(join_as(run, "w", 1, 2, 77), ROAST_OK);
    assert_int_equal(leave_as(run, "w", 3, "out of memory"), ROAST_OK);
    assert_int_equal(join_as(run, "w", 5, 8, 78), ROAST_OK);
    leaves(run, "w", 6);
    roast_table *workers = table_of(run, ROAST_TABLE_workers);
    assert_int_equal(roast_table_rows(workers), 1);
    assert_number(number_in(workers, "sessions", 0), 2);
    assert_number(number_in(workers, "lost", 0), 1);
    assert_number(number_in(workers, "threads", 0), 8);
    assert_number(number_in(workers, "expected", 0), 1);
    assert_int_equal(value_at(workers, "joined", 0).count, second(1));
    assert_int_equal(value_at(workers, "left", 0).count, second(6));
    assert_true(is_unknown(workers, "reason", 0));
    roast_table_free(workers);
    roast_run_free(run);
}

static void test_an_idle_worker_has_its_memory(void **state)
{
    roast_run *run = new_run();
    roast_sample sample = {.worker = roast_str_of("w"), .time_ns = second(1)};

    (void)state;
    joins(run, "w", 0, 1);
    joins(run, "unseen", 0, 1);
    roast_sample_set(&sample, ROAST_SERIES_memory, 3 << 20);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    roast_table *workers = table_of(run, ROAST_TABLE_workers);
    assert_number(
        number_in(workers, "peak_memory_mb", row_with(workers, "worker", "w")), 3);
    assert_true(
        is_unknown(workers, "peak_memory_mb", row_with(workers, "worker", "unseen")));
    roast_table_free(workers);
    roast_run_free(run);
}

/* ---- what the cluster adds up ---------------------------------------------------- */

static void test_activities_and_hot_lines(void **state)
{
    roast_run *run = new_run();

    (void)state;
    assert_int_equal(set_activity(run, "process", "thread-cpu", 1.25), ROAST_OK);
    assert_int_equal(set_activity(run, NULL, "", -2), ROAST_OK);
    assert_int_equal(add_hot_line(run, 12, "x = 1", 2), ROAST_OK);
    assert_int_equal(add_hot_line(run, 13, NULL, 4), ROAST_OK);
    roast_table *table = table_of(run, ROAST_TABLE_activities);
    assert_int_equal(roast_table_rows(table), 2);
    assert_str_is(text_in(table, "context", 0), "execute");
    assert_str_is(text_in(table, "activity", 0), "thread-cpu");
    assert_str_is(text_in(table, "unit", 0), "seconds");
    assert_number(number_in(table, "value", 0), 1.25);
    assert_true(is_unknown(table, "prefix", 1));
    roast_table_free(table);
    table = table_of(run, ROAST_TABLE_hot_lines);
    assert_int_equal(roast_table_rows(table), 2);
    assert_str_is(text_in(table, "file", 0), "analysis.py");
    assert_str_is(text_in(table, "function", 0), "process");
    assert_str_is(text_in(table, "text", 0), "x = 1");
    assert_number(number_in(table, "line", 0), 12);
    assert_number(number_in(table, "seconds", 0), 2);
    assert_number(number_in(table, "self_seconds", 0), 1);
    assert_true(is_unknown(table, "text", 1));
    roast_table_free(table);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_attempt_has_its_task),
        cmocka_unit_test(test_each_try_on_a_worker_is_its_own_task),
        cmocka_unit_test(test_attempts_inside_a_task_are_all_of_it),
        cmocka_unit_test(test_a_lost_task_has_its_attempt),
        cmocka_unit_test(test_an_attempt_without_a_time_has_a_task),
        cmocka_unit_test(test_other_tasks_have_rows),
        cmocka_unit_test(test_workers_have_data_of_the_scheduler),
        cmocka_unit_test(test_one_that_comes_back_is_one_row),
        cmocka_unit_test(test_an_idle_worker_has_its_memory),
        cmocka_unit_test(test_activities_and_hot_lines),
    };

    return cmocka_run_group_tests_name("columns_cluster", tests, NULL, NULL);
}
