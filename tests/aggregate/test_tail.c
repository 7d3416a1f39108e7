/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tail.c - the end of a run and who kept it waiting, the wait for workers, and our
 * numbers against those of others. */
#include "activities.h"
#include "cluster.h"
#include "summary_sweep.h"

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

static void test_the_tail_and_who_made_it(void **state)
{
    roast_run *run = run_with_a_straggler(
        (struct frame){.cpu = 7, .events = 100, .file = "slow.root"});
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_near(number_at(summary, "tail", 0, "start"), 9); /* the last 2 of 40 */
    assert_near(number_at(summary, "tail", 0, "seconds"), 7);
    assert_near(number_at(summary, "tail", 0, "thread_seconds_lost"), 3 * 6);
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
                 "waited longer");
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

static void test_nobody_waits_for_a_single_thread(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    for (uint64_t i = 0; i < 60; i++)
        add_frame(run, chunk_at(1, i, (double)i, 1));
    roast_run_finish(run, NS(60));
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "tail", 0, "start"), 57);
    assert_near(number_at(summary, "tail", 0, "seconds"), 3);
    assert_near(number_at(summary, "tail", 0, "thread_seconds_lost"), 0);
    assert_int_equal(rows_of(summary, "stragglers"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* The call with most chunks; the time between calls is nobody's tail. */
static void test_of_several_calls_the_largest(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 2, 2);
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    for (uint64_t i = 0; i < 10; i++)
        add_frame(run, chunk_at(1 + i % 2, i, (double)(i / 2), 1));
    mark(run, ROAST_MARK_RUN_END, 5);
    mark(run, ROAST_MARK_RUN_BEGIN, 50);
    add_frame(run, chunk_at(1, 77, 50, 1));
    mark(run, ROAST_MARK_RUN_END, 51);
    roast_run_finish(run, NS(60));
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "tail", 0, "start"), 4);
    assert_near(number_at(summary, "tail", 0, "seconds"), 1);
    assert_near(number_at(summary, "tail", 0, "thread_seconds_lost"), 0);
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
    assert_near(number_at(summary, "tail", 0, "start"), 2);
    assert_int_equal(cell_at(summary, "tail", 0, "thread_seconds_lost")->type,
                     ROAST_CELL_ABSENT);
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
        cmocka_unit_test_setup(test_the_tail_and_who_made_it, setup),
        cmocka_unit_test_setup(test_why_it_took_so_long, setup),
        cmocka_unit_test_setup(test_a_chunk_that_only_began_late, setup),
        cmocka_unit_test_setup(test_nobody_waits_for_a_single_thread, setup),
        cmocka_unit_test_setup(test_of_several_calls_the_largest, setup),
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
