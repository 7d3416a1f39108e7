/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ramp_up.c - which threads were missing, and from when on they were wanted. */
#include "analyze/findings.h"
#include "analyze/summary_oom.h"

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

static void assert_ramp(const roast_summary *summary, const char *column, double value)
{
    assert_near(number_at(summary, "ramp_up", 0, column), value);
}

/* Two workers of two threads; a third one beside them for so long. */
static roast_run *run_with_a_guest(double from, double to)
{
    roast_run *run = run_new();

    join_on(run, "tcp://a", "a", 0);
    join_on(run, "tcp://b", "b", 0);
    join_on(run, "tcp://c", "c", from);
    leave_for(run, "tcp://c", to, NULL);
    roast_run_finish(run, NS(100));
    return run;
}

static void test_a_guest_was_never_missed(void **state)
{
    roast_run *run = run_with_a_guest(80, 84);
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_ramp(summary, "threads", 4);
    assert_ramp(summary, "workers", 2);
    assert_ramp(summary, "seconds_to_90_percent", 0);
    assert_ramp(summary, "thread_seconds_missing", 0);
    assert_int_equal(finding_row(summary, "waiting_for_workers"), -1);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_persistent_peak_counts(void **state)
{
    roast_run *run = run_with_a_guest(80, 95);
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_ramp(summary, "first_threads", 4);
    assert_ramp(summary, "threads", 6);
    assert_ramp(summary, "workers", 3);
    assert_ramp(summary, "seconds_to_90_percent", 80);
    assert_ramp(summary, "thread_seconds_missing", 160);
    assert_says(
        summary, "waiting_for_workers", "evidence",
        "160 s of worker time were missing in the first 80.0 s: 4 of 6 threads");
    assert_says(summary, "waiting_for_workers", "advice", "wait_for_workers(3)");
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Before its first call the run had nothing to do. */
static void test_workers_are_wanted_from_the_first_call_on(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join_on(run, "tcp://a", "a", 1);
    join_on(run, "tcp://b", "b", 30);
    mark(run, ROAST_MARK_RUN_BEGIN, 20);
    mark(run, ROAST_MARK_RUN_END, 60);
    roast_run_finish(run, NS(60));
    roast_summary *summary = summary_of(run);
    assert_ramp(summary, "first_worker", 0);
    assert_ramp(summary, "first_threads", 2);
    assert_ramp(summary, "seconds_to_90_percent", 10);
    assert_ramp(summary, "thread_seconds_missing", 20);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_any_allocation_may_fail(void **state)
{
    roast_run *run = run_with_a_guest(80, 95);

    (void)state;
    check_summary_sweep(run);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_guest_was_never_missed, setup),
        cmocka_unit_test_setup(test_a_persistent_peak_counts, setup),
        cmocka_unit_test_setup(test_workers_are_wanted_from_the_first_call_on, setup),
        cmocka_unit_test_setup(test_any_allocation_may_fail, setup),
    };

    test_heap_install();
    return cmocka_run_group_tests_name("ramp_up", tests, NULL, NULL);
}
