/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tail.c - the end of a run and who kept it waiting, the wait for workers, and our
 * numbers against those of others. */
#include "analyze/activities.h"
#include "analyze/cluster.h"
#include "analyze/summary_oom.h"

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

/* A chunk of 100 events in [start, start + seconds), all of it on the CPU. */
static struct frame chunk_at(uint64_t process, uint64_t number, double start,
                             double seconds)
{
    return (struct frame){.process = process,
                          .first = number * 100,
                          .stop = number * 100 + 100,
                          .start = start,
                          .duration = seconds,
                          .cpu = seconds,
                          .events = 100};
}

/* Four places with ten chunks of 1 s each, one after the other; the last one of the
 * fourth place takes 7 s. */
static roast_run *run_with_a_straggler(struct frame last)
{
    roast_run *run = run_new();

    offer(run, 0, 4, 4);
    for (uint64_t i = 0; i < 39; i++)
        add_frame(run, chunk_at(1 + i % 4, i, (double)(i / 4), 1));
    last.process = 4;
    last.first = 3900;
    last.stop = 4000;
    last.start = 9;
    last.duration = 7;
    add_frame(run, last);
    roast_run_finish(run, NS(17));
    return run;
}

static void assert_cause(roast_run *run, const char *cause)
{
    roast_summary *summary = summary_of(run);

    assert_int_equal(rows_of(summary, "stragglers"), 1);
    assert_str_is(text_at(summary, "stragglers", 0, "cause"), cause);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_the_tail_and_its_stragglers(void **state)
{
    roast_run *run = run_with_a_straggler(
        (struct frame){.cpu = 7, .events = 100, .file = "slow.root"});
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_near(number_at(summary, "tail", 0, "last_5_percent_start"), 9);
    assert_near(number_at(summary, "tail", 0, "start"), 10);
    assert_near(number_at(summary, "tail", 0, "seconds"), 6);
    assert_near(number_at(summary, "tail", 0, "thread_seconds_lost"), 3 * 6);
    assert_near(number_at(summary, "tail", 0, "chunks"), 1);
    assert_near(number_at(summary, "tail", 0, "median_seconds"), 1);
    assert_near(number_at(summary, "tail", 0, "last_seconds"), 7);
    assert_str_is(text_at(summary, "tail", 0, "last_dataset"), "ttbar");
    assert_str_is(text_at(summary, "tail", 0, "last_file"), "slow.root");
    assert_str_is(text_at(summary, "tail", 0, "last_host"), "here");
    assert_str_is(text_at(summary, "tail", 0, "last_cause"), "more work per event");
    assert_int_equal(rows_of(summary, "stragglers"), 1);
    assert_str_is(text_at(summary, "stragglers", 0, "dataset"), "ttbar");
    assert_str_is(text_at(summary, "stragglers", 0, "file"), "slow.root");
    assert_str_is(text_at(summary, "stragglers", 0, "worker"), "pid-104");
    assert_str_is(text_at(summary, "stragglers", 0, "host"), "here");
    assert_str_is(text_at(summary, "stragglers", 0, "cause"), "more work per event");
    assert_near(number_at(summary, "stragglers", 0, "entry_start"), 3900);
    assert_near(number_at(summary, "stragglers", 0, "entry_stop"), 4000);
    assert_near(number_at(summary, "stragglers", 0, "seconds"), 7);
    assert_near(number_at(summary, "stragglers", 0, "ends_after"), 6);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_why_it_took_so_long(void **state)
{
    roast_run *run;

    (void)state;
    assert_cause(run_with_a_straggler((struct frame){.cpu = 1, .events = 100}),
                 "waited inside process()");
    assert_cause(run_with_a_straggler((struct frame){.cpu = 7, .events = 900}),
                 "more events");
    assert_cause(
        run_with_a_straggler((struct frame){.cpu = 7, .events = 100, .host = "there"}),
        "more work per event"); /* its other chunks are quick */
    run = run_with_a_straggler((struct frame){.cpu = 7, .events = 100});
    struct frame failed = chunk_at(2, 39, 0.5, 0.1);
    failed.status = ROAST_CHUNK_FAILED;
    add_frame(run, failed);
    assert_cause(run, "tried again");
}

static void test_a_chunk_that_only_began_late(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 4, 4);
    for (uint64_t i = 0; i < 39; i++)
        add_frame(run, chunk_at(1 + i % 4, i, (double)(i / 4), 1));
    add_frame(run, chunk_at(4, 39, 14, 1));
    roast_run_finish(run, NS(17));
    assert_cause(run, "began late");
}

/* What is after it is no merging: more chunks were to come, or some were lost. */
static void test_the_tail_of_a_call_that_raised(void **state)
{
    roast_run *run = run_with_a_straggler((struct frame){.cpu = 7, .events = 100});

    (void)state;
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    mark(run, ROAST_MARK_RUN_END, 16.5);
    roast_run_set_fact(run, ROAST_FACT_runner_calls, 1);
    roast_run_set_fact(run, ROAST_FACT_runner_outputs, 0);
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "tail", 0, "seconds"), 6);
    assert_near(number_at(summary, "wall_account", 0, "tail"), 6);
    assert_near(number_at(summary, "budget", 0, "idle_tail"), 18);
    assert_near(number_at(summary, "wall_account", 0, "chunks"), 10.5);
    assert_near(number_at(summary, "wall_account", 0, "merge"), 0);
    roast_summary_free(summary);
    roast_run_set_fact(run, ROAST_FACT_runner_outputs, 1);
    summary = summary_of(run);
    assert_near(number_at(summary, "wall_account", 0, "tail"), 6);
    assert_near(number_at(summary, "wall_account", 0, "chunks"), 10);
    assert_near(number_at(summary, "wall_account", 0, "merge"), 0.5);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_single_thread_has_no_stragglers(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    for (uint64_t i = 0; i < 60; i++)
        add_frame(run, chunk_at(1, i, (double)i, 1));
    roast_run_finish(run, NS(60));
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "tail", 0, "last_5_percent_start"), 57);
    assert_near(number_at(summary, "tail", 0, "start"), 60);
    assert_near(number_at(summary, "tail", 0, "seconds"), 0);
    assert_near(number_at(summary, "tail", 0, "chunks"), 0);
    assert_near(number_at(summary, "tail", 0, "thread_seconds_lost"), 0);
    assert_int_equal(rows_of(summary, "stragglers"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void assert_one_tail(const roast_summary *summary, double seconds, double lost)
{
    assert_near(number_at(summary, "tail", 0, "seconds"), seconds);
    assert_near(number_at(summary, "wall_account", 0, "tail"), seconds);
    assert_near(number_at(summary, "tail", 0, "thread_seconds_lost"), lost);
    assert_near(number_at(summary, "budget", 0, "idle_tail"), lost);
}

/* Two threads that end together, then one without a chunk; the time between calls is
 * nobody's tail. The table, the wall time and the budget say the same. */
static void test_of_several_calls_the_one_that_cost_most(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 2, 2);
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    for (uint64_t i = 0; i < 10; i++)
        add_frame(run, chunk_at(1 + i % 2, i, (double)(i / 2), 1));
    mark(run, ROAST_MARK_RUN_END, 5);
    roast_run_finish(run, NS(60));
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "tail", 0, "start"), 5);
    assert_one_tail(summary, 0, 0);
    roast_summary_free(summary);
    mark(run, ROAST_MARK_RUN_BEGIN, 50);
    struct frame slow = chunk_at(1, 77, 50, 3);
    slow.file = "slow.root";
    add_frame(run, slow);
    mark(run, ROAST_MARK_RUN_END, 53);
    summary = summary_of(run);
    assert_near(number_at(summary, "tail", 0, "start"), 50);
    assert_str_is(text_at(summary, "tail", 0, "last_file"), "slow.root");
    assert_one_tail(summary, 3, 3);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Many attempts are not many chunks. */
static void test_of_equal_calls_the_one_with_most_chunks(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    for (uint64_t i = 0; i < 9; i++) {
        struct frame failed = chunk_at(1, 1, (double)i, 1);
        failed.status = ROAST_CHUNK_FAILED;
        add_frame(run, failed);
    }
    add_frame(run, chunk_at(1, 1, 9, 1));
    mark(run, ROAST_MARK_RUN_END, 10);
    mark(run, ROAST_MARK_RUN_BEGIN, 20);
    add_frame(run, chunk_at(1, 1, 20, 1));
    add_frame(run, chunk_at(1, 2, 21, 1));
    mark(run, ROAST_MARK_RUN_END, 22);
    roast_run_finish(run, NS(30));
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "tail", 0, "last_5_percent_start"), 21);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* The cause is that of the chunk which is named, however many there are elsewhere. */
static void test_the_last_chunk_has_its_own_cause(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 4, 4);
    for (uint64_t call = 0; call < 2; call++) {
        double begin = (double)call * 30;
        mark(run, ROAST_MARK_RUN_BEGIN, begin);
        for (uint64_t i = 0; i < (call ? 7 : 39); i++)
            add_frame(run, chunk_at(1 + i % 4, i, begin + (double)(i / 4), 1));
        struct frame last = chunk_at(4, 90, begin + (call ? 1 : 9), call ? 15 : 4);
        last.file = call ? "heavy.root" : "far.root";
        last.cpu = call ? 15 : 0.1;
        add_frame(run, last);
        mark(run, ROAST_MARK_RUN_END, begin + 20);
    }
    roast_run_finish(run, NS(60));
    roast_summary *summary = summary_of(run);
    assert_str_is(text_at(summary, "tail", 0, "last_file"), "heavy.root");
    assert_str_is(text_at(summary, "tail", 0, "last_cause"), "more work per event");
    assert_str_is(text_at(summary, "stragglers", 0, "file"), "heavy.root");
    assert_str_is(text_at(summary, "stragglers", 0, "cause"), "more work per event");
    roast_summary_free(summary);
    roast_run_free(run);
}

/* One of a task, and the task; seconds 0: it begins and is lost at 10 s. */
static void add_dask_chunk(roast_run *run, const char *worker, uint32_t key,
                           double start, double seconds)
{
    static uint32_t sequence = 1;
    struct frame chunk = chunk_at(worker[6] == 'a' ? 1 : 2, key, start, seconds);

    chunk.sequence = sequence++;
    chunk.kind = seconds > 0 ? ROAST_FRAME_CHUNK : ROAST_FRAME_BEGIN;
    add_frame_of_task(run, chunk, worker, key);
    add_task(run, "Processor", worker, key,
             seconds > 0 ? ROAST_TASK_ok : ROAST_TASK_lost, start,
             seconds > 0 ? start + seconds : 10);
}

/* Nobody could have been sent a chunk that was not yet known to be lost. */
static void test_a_chunk_that_is_tried_again_is_of_the_tail(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join_on(run, "tcp://a", "a", 0);
    join_on(run, "tcp://b", "b", 0);
    add_dask_chunk(run, "tcp://a", 1, 1, 2);
    add_dask_chunk(run, "tcp://a", 2, 1, 2);
    add_dask_chunk(run, "tcp://b", 3, 1, 2);
    add_dask_chunk(run, "tcp://b", 4, 1, 0);
    leave_for(run, "tcp://b", 10, "it died");
    add_dask_chunk(run, "tcp://a", 4, 11, 2);
    roast_run_finish(run, NS(14));
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "budget", 0, "lost"), 9);
    assert_near(number_at(summary, "budget", 0, "idle_starved"), 0);
    assert_near(number_at(summary, "budget", 0, "idle_tail"), 2 * 8 + 2 + 7);
    assert_near(number_at(summary, "tail", 0, "start"), 3);
    assert_near(number_at(summary, "tail", 0, "seconds"), 10);
    assert_near(number_at(summary, "tail", 0, "thread_seconds_lost"), 2 * 8 + 2 + 7);
    assert_str_is(text_at(summary, "tail", 0, "last_cause"), "tried again");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_without_chunks_or_threads(void **state)
{
    roast_run *run = run_new();

    (void)state;
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "tail"), 0);
    assert_int_equal(rows_of(summary, "stragglers"), 0);
    assert_int_equal(rows_of(summary, "ramp_up"), 0);
    roast_summary_free(summary);
    add_frame(run, chunk_at(1, 1, 2, 3));
    summary = summary_of(run);
    assert_near(number_at(summary, "tail", 0, "last_5_percent_start"), 2);
    assert_near(number_at(summary, "tail", 0, "last_seconds"), 3);
    assert_int_equal(cell_at(summary, "tail", 0, "seconds").type, ROAST_CELL_ABSENT);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- ramp-up ---------------------------------------------------------------------- */

static void test_waiting_for_workers(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join_on(run, "tcp://a", "a", 2); /* two threads each */
    for (int i = 0; i < 9; i++)
        join_on(run, (char[]){'t', 'c', 'p', (char)('b' + i), '\0'}, "b",
                i < 7 ? 4 : 5 + i);
    roast_run_finish(run, NS(20));
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "ramp_up", 0, "first_worker"), 2);
    assert_near(number_at(summary, "ramp_up", 0, "seconds_to_90_percent"), 12);
    assert_near(number_at(summary, "ramp_up", 0, "thread_seconds_missing"),
                2 * 20 + 2 * 18 + 8 * 4);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_pool_is_there_at_once(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 3, 4, 4);
    offer(run, 5, 2, 2);
    offer(run, 90, 9, 9); /* when it is over */
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "ramp_up", 0, "first_worker"), 0);
    assert_near(number_at(summary, "ramp_up", 0, "seconds_to_90_percent"), 0);
    assert_near(number_at(summary, "ramp_up", 0, "thread_seconds_missing"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- checks ------------------------------------------------------------------------ */

static size_t check_named(const roast_summary *summary, const char *name)
{
    for (size_t i = 0; i < rows_of(summary, "checks"); i++) {
        if (str_is(text_at(summary, "checks", i, "name"), name))
            return i;
    }
    fail_msg("no check %s", name);
    return 0;
}

static void assert_check(const roast_summary *summary, const char *name,
                         const char *verdict)
{
    size_t row = check_named(summary, name);

    assert_str_is(text_at(summary, "checks", row, "verdict"), verdict);
    assert_true(text_at(summary, "checks", row, "source").size_bytes > 0);
}

static void test_against_the_report_of_coffea(void **state)
{
    roast_run *run = run_new();
    struct frame chunk = chunk_at(1, 1, 2, 3);

    (void)state;
    chunk.bytes_known = true;
    chunk.bytes = 5000;
    offer(run, 0, 2, 2);
    add_frame(run, chunk);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_check(summary, "events", "absent");
    assert_check(summary, "bytes", "absent");
    assert_check(summary, "cpu_seconds", "absent");
    assert_check(summary, "chunk_seconds", "absent");
    assert_check(summary, "budget_seconds", "exact");
    roast_summary_free(summary);
    roast_run_set_fact(run, ROAST_FACT_report_events, 100);
    roast_run_set_fact(run, ROAST_FACT_report_bytes, 4990);
    summary = summary_of(run);
    assert_check(summary, "events", "exact");
    assert_check(summary, "bytes", "agrees");
    size_t row = check_named(summary, "bytes");
    assert_near(number_at(summary, "checks", row, "ours"), 5000);
    assert_near(number_at(summary, "checks", row, "theirs"), 4990);
    assert_near(number_at(summary, "checks", row, "difference_percent"),
                10 / 4990.0 * 100);
    roast_summary_free(summary);
    roast_run_set_fact(run, ROAST_FACT_report_events, 101);
    roast_run_set_fact(run, ROAST_FACT_report_bytes, 0);
    summary = summary_of(run);
    assert_check(summary, "events", "differs"); /* by however little */
    assert_check(summary, "bytes", "differs");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_against_spans_of_dask(void **state)
{
    roast_run *run = run_new();
    struct frame end = {.kind = ROAST_FRAME_END,
                        .sequence = 5,
                        .task_start = 1,
                        .task = 4,
                        .task_cpu = 3};
    struct frame chunk = chunk_at(1, 1, 1, 4);

    (void)state;
    chunk.sequence = 5;
    join_on(run, "tcp://a", "a", 0);
    add_frame_of_task(run, end, "tcp://a", 1);
    add_frame_of_task(run, chunk, "tcp://a", 1);
    add_task(run, "Processor", "tcp://a", 1, ROAST_TASK_ok, 1, 5);
    count_seconds(run, "Processor", "thread-cpu", 3.03);
    count_seconds(run, "Processor", "thread-noncpu", 1.5);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_check(summary, "cpu_seconds", "agrees");
    size_t row = check_named(summary, "cpu_seconds");
    assert_near(number_at(summary, "checks", row, "ours"), 3);
    assert_near(number_at(summary, "checks", row, "theirs"), 3.03);
    assert_check(summary, "chunk_seconds", "differs");
    assert_check(summary, "budget_seconds", "exact");
    roast_summary_free(summary);
    roast_run_free(run);
}

/* What was tried in vain inside of a task that ended well is in Dask's clocks too. */
static void test_against_spans_with_a_failed_attempt(void **state)
{
    roast_run *run = run_new();
    struct frame chunk = chunk_at(1, 1, 5, 4);

    (void)state;
    chunk.sequence = 6;
    join_on(run, "tcp://a", "a", 0);
    add_frame_of_task(run,
                      (struct frame){.kind = ROAST_FRAME_END,
                                     .sequence = 5,
                                     .status = ROAST_CHUNK_FAILED,
                                     .error_type = "OSError",
                                     .task_start = 1,
                                     .task = 4,
                                     .task_cpu = 3},
                      "tcp://a", 1);
    add_frame_of_task(run,
                      (struct frame){.kind = ROAST_FRAME_END,
                                     .sequence = 6,
                                     .task_start = 5,
                                     .task = 4,
                                     .task_cpu = 2},
                      "tcp://a", 1);
    add_frame_of_task(run, chunk, "tcp://a", 1);
    add_task(run, "Processor", "tcp://a", 1, ROAST_TASK_ok, 1, 9);
    count_seconds(run, "Processor", "thread-cpu", 5);
    count_seconds(run, "Processor", "thread-noncpu", 3);
    add_frame_of_task(run,
                      (struct frame){.sequence = 4,
                                     .status = ROAST_CHUNK_FAILED,
                                     .error_type = "OSError",
                                     .file = "bad.root"},
                      "tcp://a", 2); /* a file that was asked in vain */
    add_frame_of_task(run,
                      (struct frame){.kind = ROAST_FRAME_END,
                                     .sequence = 4,
                                     .status = ROAST_CHUNK_FAILED,
                                     .task_start = 0.1,
                                     .task = 0.5,
                                     .task_cpu = 0.5},
                      "tcp://a", 2);
    add_task(run, "get_metadata", "tcp://a", 2, ROAST_TASK_ok, 0.1, 0.8);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_check(summary, "cpu_seconds", "exact");
    assert_check(summary, "chunk_seconds", "exact");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_any_allocation_may_fail(void **state)
{
    roast_run *run = run_with_a_straggler((struct frame){.cpu = 7, .events = 100});

    (void)state;
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    check_summary_sweep(run);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_tail_and_its_stragglers, setup),
        cmocka_unit_test_setup(test_why_it_took_so_long, setup),
        cmocka_unit_test_setup(test_a_chunk_that_only_began_late, setup),
        cmocka_unit_test_setup(test_the_tail_of_a_call_that_raised, setup),
        cmocka_unit_test_setup(test_against_spans_with_a_failed_attempt, setup),
        cmocka_unit_test_setup(test_a_single_thread_has_no_stragglers, setup),
        cmocka_unit_test_setup(test_of_several_calls_the_one_that_cost_most, setup),
        cmocka_unit_test_setup(test_of_equal_calls_the_one_with_most_chunks, setup),
        cmocka_unit_test_setup(test_the_last_chunk_has_its_own_cause, setup),
        cmocka_unit_test_setup(test_a_chunk_that_is_tried_again_is_of_the_tail, setup),
        cmocka_unit_test_setup(test_without_chunks_or_threads, setup),
        cmocka_unit_test_setup(test_waiting_for_workers, setup),
        cmocka_unit_test_setup(test_a_pool_is_there_at_once, setup),
        cmocka_unit_test_setup(test_against_the_report_of_coffea, setup),
        cmocka_unit_test_setup(test_against_spans_of_dask, setup),
        cmocka_unit_test_setup(test_any_allocation_may_fail, setup),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
