/* SPDX-License-Identifier: BSD-3-Clause */
/* test_critical_path.c - the chain that set the wall time, computed by hand; its seconds
 * add up to the wall time in all tests of budgets (budget_checks.h). */
#include "analyze/budget_checks.h"
#include "analyze/cluster.h"
#include "analyze/ladder_seconds.h"
#include "analyze/summary_oom.h"

#define W1 "tcp://10.0.0.1:1"
#define W2 "tcp://10.0.0.2:1"

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

/* A row of the path: what, from when on, after which wait, how long. */
struct part {
    const char *name;
    double start, waited, seconds;
};

static void check_path(roast_run *run, const struct part *parts, size_t count)
{
    roast_summary *summary = summary_of(run);

    check_closed(summary, __FILE__, __LINE__);
    assert_int_equal(rows_of(summary, "critical_path"), count);
    for (size_t i = 0; i < count; i++) {
        assert_str_is(text_at(summary, "critical_path", i, "part"), parts[i].name);
        assert_near(number_at(summary, "critical_path", i, "start"), parts[i].start);
        assert_near(number_at(summary, "critical_path", i, "waited"), parts[i].waited);
        assert_near(number_at(summary, "critical_path", i, "seconds"),
                    parts[i].seconds);
    }
    roast_summary_free(summary);
}

/* The chunk of an entry, in [start, stop). */
static void add_chunk(roast_run *run, uint64_t process, uint64_t entry, double start,
                      double stop)
{
    add_frame(run, (struct frame){.process = process,
                                  .first = entry,
                                  .stop = entry + 1,
                                  .start = start,
                                  .duration = stop - start});
}

/* Two slots; the second chunk of the first one ends before that of the second. */
static roast_run *run_in_a_pool(void)
{
    roast_run *run = run_new();

    offer(run, 0, 2, 2);
    mark(run, ROAST_MARK_RUN_BEGIN, 1);
    mark(run, ROAST_MARK_PREPROCESS_BEGIN, 1);
    mark(run, ROAST_MARK_PREPROCESS_END, 2);
    add_chunk(run, 1, 0, 2.5, 4);
    add_chunk(run, 2, 1, 3, 5);
    add_chunk(run, 1, 2, 4, 6);
    add_chunk(run, 2, 3, 5.5, 8);
    mark(run, ROAST_MARK_RUN_END, 9);
    roast_run_finish(run, NS(10));
    return run;
}

static void test_chunks_of_a_slot_follow_each_other(void **state)
{
    static const struct part parts[] = {{"before", 0, 0, 1}, {"preprocess", 1, 0, 1},
                                        {"chunk", 3, 1, 2},  {"chunk", 5.5, 0.5, 2.5},
                                        {"merge", 8, 0, 1},  {"after", 9, 0, 1}};
    roast_run *run = run_in_a_pool();

    (void)state;
    check_path(run, parts, 6);
    roast_summary *summary = summary_of(run);
    assert_str_is(text_at(summary, "critical_path", 3, "file"), "a.root");
    assert_str_is(text_at(summary, "critical_path", 3, "dataset"), "ttbar");
    assert_near(number_at(summary, "critical_path", 3, "entry_start"), 3);
    assert_near(number_at(summary, "critical_path", 3, "entry_stop"), 4);
    assert_str_is(text_at(summary, "critical_path", 3, "worker"), "pid-102");
    assert_str_is(text_at(summary, "critical_path", 3, "status"), "ok");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void join(roast_run *run, const char *worker, double seconds)
{
    const struct roast_member member = {.worker = roast_str_of(worker),
                                        .host = roast_str_of("node"),
                                        .joined_ns = at(seconds),
                                        .threads = 1};
    assert_int_equal(roast_run_add_member(run, &member, NULL), ROAST_OK);
}

/* An attempt in a task. */
static void add_attempt(roast_run *run, const char *worker, uint32_t key,
                        struct frame frame, enum roast_task_end end)
{
    const double stop = frame.start + frame.duration;

    frame.process = strcmp(worker, W1) == 0 ? 11 : 12;
    frame.sequence = key;
    frame.stop = frame.first + 1;
    add_task(run, "Processor", worker, key, end, frame.start, stop);
    add_frame_of_task(run, frame, worker, key);
}

/* Its last chunk is on the other worker than the merge, and is a retry. */
static void test_a_merge_waits_for_a_retry_that_waits_for_a_failure(void **state)
{
    static const struct part parts[] = {{"before", 0, 0, 1},
                                        {"chunk", 1, 0, 4},
                                        {"chunk", 5.5, 0.5, 2.5},
                                        {"reduce", 8.5, 0.5, 0.5}};
    roast_run *run = run_new();

    (void)state;
    join(run, W1, 0);
    join(run, W2, 0);
    add_attempt(run, W1, 1, (struct frame){.first = 1, .start = 1, .duration = 2},
                ROAST_TASK_ok);
    add_attempt(run, W2, 2,
                (struct frame){.first = 2,
                               .start = 1,
                               .duration = 4,
                               .status = ROAST_CHUNK_FAILED,
                               .error_type = "OSError"},
                ROAST_TASK_retried);
    add_attempt(run, W1, 3, (struct frame){.first = 3, .start = 3, .duration = 1},
                ROAST_TASK_ok);
    add_attempt(run, W1, 4, (struct frame){.first = 2, .start = 5.5, .duration = 2.5},
                ROAST_TASK_ok);
    const struct roast_task merge = {.prefix = roast_str_of("reduce"),
                                     .worker = roast_str_of(W2),
                                     .key_hash = 5,
                                     .ours = true,
                                     .end = ROAST_TASK_ok,
                                     .assigned_ns = at(8),
                                     .start_ns = at(8.5),
                                     .stop_ns = at(9)};
    assert_int_equal(roast_run_add_task(run, &merge, NULL), ROAST_OK);
    roast_run_finish(run, NS(9));
    check_path(run, parts, 4);
    roast_summary *summary = summary_of(run);
    assert_str_is(text_at(summary, "critical_path", 1, "status"), "failed");
    assert_str_is(text_at(summary, "critical_path", 1, "worker"), W2);
    assert_str_is(text_at(summary, "critical_path", 3, "worker"), W2);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* The last chunk is the first one of a worker that joined late; until then chunks waited
 * for the other worker. */
static void test_a_worker_that_joins_late(void **state)
{
    static const struct part parts[] = {
        {"before", 0, 0, 1}, {"chunk", 1, 0, 3.5}, {"chunk", 5, 0.5, 4}};
    roast_run *run = run_new();

    (void)state;
    join(run, W1, 0);
    join(run, W2, 5);
    add_attempt(run, W1, 1, (struct frame){.first = 1, .start = 1, .duration = 3.5},
                ROAST_TASK_ok);
    add_attempt(run, W1, 2, (struct frame){.first = 2, .start = 4.5, .duration = 4},
                ROAST_TASK_ok);
    add_attempt(run, W2, 3, (struct frame){.first = 3, .start = 5, .duration = 4},
                ROAST_TASK_ok);
    roast_run_finish(run, NS(9));
    check_path(run, parts, 3);
    roast_run_free(run);
}

/* It was sent to the worker at once and began 4 s later. */
static void test_a_slow_first_contact(void **state)
{
    static const struct part parts[] = {{"before", 0, 0, 1}, {"chunk", 5, 4, 4}};
    roast_run *run = run_new();

    (void)state;
    join(run, W1, 0);
    join(run, W2, 0);
    add_attempt(run, W1, 1, (struct frame){.first = 1, .start = 1, .duration = 2},
                ROAST_TASK_ok);
    const struct roast_task task = {.prefix = roast_str_of("Processor"),
                                    .worker = roast_str_of(W2),
                                    .key_hash = 2,
                                    .ours = true,
                                    .end = ROAST_TASK_ok,
                                    .assigned_ns = at(1),
                                    .start_ns = at(5),
                                    .stop_ns = at(9)};
    assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
    roast_run_finish(run, NS(9));
    check_path(run, parts, 2);
    roast_run_free(run);
}

/* 300 chunks: the first hundred, and what was before them, are in rows of sums. */
static void test_a_long_path_has_the_last_steps(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    for (uint32_t i = 0; i < 300; i++)
        add_chunk(run, 1, i, 1 + i, 2 + i);
    roast_run_finish(run, NS(301));
    roast_summary *summary = summary_of(run);
    check_closed(summary, __FILE__, __LINE__);
    assert_int_equal(rows_of(summary, "critical_path"), 202);
    assert_near(number_at(summary, "critical_path", 0, "count"), 100);
    assert_near(number_at(summary, "critical_path", 0, "seconds"), 100);
    assert_near(number_at(summary, "critical_path", 0, "start"), 1);
    assert_str_is(text_at(summary, "critical_path", 1, "part"), "before");
    assert_near(number_at(summary, "critical_path", 2, "start"), 101);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* A later clock: the chunk before it ended 5 ms after it began. */
static void test_clocks_differ(void **state)
{
    static const struct part parts[] = {
        {"before", 0, 0, 1}, {"chunk", 1, 0, 2}, {"chunk", 3, 0, 1}};
    roast_run *run = run_new();

    (void)state;
    join(run, W1, 0);
    add_task(run, "own", W1, 1, ROAST_TASK_ok, 1, 3.005);
    add_attempt(run, W1, 2, (struct frame){.first = 2, .start = 3, .duration = 1},
                ROAST_TASK_ok);
    roast_run_finish(run, NS(4));
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "critical_path"), 3);
    for (size_t i = 0; i < 3; i++)
        assert_near(number_at(summary, "critical_path", i, "seconds"),
                    parts[i].seconds);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_without_workers_there_is_a_reason(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_chunk(run, 1, 0, 1, 2);
    roast_run_finish(run, NS(3));
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "critical_path"), 0);
    assert_str_is(text_at(summary, "unavailable",
                          row_of(summary, "unavailable", "critical_path"), "why"),
                  "no chunk or task of a known worker");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_out_of_memory(void **state)
{
    roast_run *run = run_in_a_pool();

    (void)state;
    check_summary_sweep(run);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_chunks_of_a_slot_follow_each_other, setup),
        cmocka_unit_test_setup(test_a_merge_waits_for_a_retry_that_waits_for_a_failure,
                               setup),
        cmocka_unit_test_setup(test_a_worker_that_joins_late, setup),
        cmocka_unit_test_setup(test_a_slow_first_contact, setup),
        cmocka_unit_test_setup(test_a_long_path_has_the_last_steps, setup),
        cmocka_unit_test_setup(test_clocks_differ, setup),
        cmocka_unit_test_setup(test_without_workers_there_is_a_reason, setup),
        cmocka_unit_test_setup(test_out_of_memory, setup),
    };

    return cmocka_run_group_tests_name("critical_path", tests, NULL, NULL);
}
