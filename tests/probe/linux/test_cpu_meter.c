/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cpu_meter.c - the CPU of a process tree from uses made by the test: the start of
 * each process, and no process twice. The kernel's CPU time of ended children is real,
 * and constant unless a test starts one. */
#include <sys/resource.h>
#include <time.h>

#include "forks.h"
#include "heap.h"
#include "roast/cpu_meter.h"
#include "support.h"

static roast_cpu_meter *meter;

static int open_meter(void **state)
{
    (void)state;
    test_heap_install();
    test_heap_fail(0, false);
    return roast_cpu_meter_new(&meter, NULL);
}

static int close_meter(void **state)
{
    (void)state;
    roast_cpu_meter_free(meter);
    meter = NULL;
    return test_heap.live_blocks == 0 ? 0 : -1;
}

static uint64_t ns(double seconds)
{
    return (uint64_t)(seconds * 1e9 + 0.5);
}

enum { FIRST_PID = 1 << 30 }; /* no real process has such a number */

static int show_reaper(unsigned process, double cpu_s, double reaped_s)
{
    const struct roast_process_use use = {
        .pid = FIRST_PID + process,
        .started_ticks = 1000 + process,
        .cpu_ns = ns(cpu_s),
        .reaped_cpu_ns = ns(reaped_s),
    };
    return roast_cpu_meter_use(meter, &use, NULL);
}

static void show(unsigned process, double cpu_s)
{
    assert_int_equal(show_reaper(process, cpu_s, 0), ROAST_OK);
}

static double children(void)
{
    double own_s, children_s;

    roast_cpu_meter_read(meter, &own_s, &children_s);
    return children_s;
}

#define assert_children(seconds) \
    assert_float_equal((float)children(), (float)(seconds), 1e-6f)

/* ---- start of each process --------------------------------------------------- */

static void before_any_round_nothing_was_used(void **state)
{
    (void)state;
    assert_children(0);
    roast_cpu_meter_round(meter);
    assert_children(0);
}

static void this_process_is_not_its_own_child(void **state)
{
    struct roast_process_use own = {.pid = (uint64_t)getpid(), .started_ticks = 5};
    (void)state;

    for (int i = 1; i <= 3; i++) {
        roast_cpu_meter_round(meter);
        own.cpu_ns = ns(100.0 * i);
        own.reaped_cpu_ns = ns(7.0 * i);
        assert_int_equal(roast_cpu_meter_use(meter, &own, NULL), ROAST_OK);
        assert_children(0);
    }
}

static void who_was_there_at_the_start_counts_from_then(void **state)
{
    (void)state;
    roast_cpu_meter_round(meter);
    assert_int_equal(show_reaper(1, 10, 5), ROAST_OK);
    assert_children(0);
    roast_cpu_meter_round(meter);
    assert_int_equal(show_reaper(1, 12, 6), ROAST_OK);
    assert_children(3);
}

static void a_later_process_counts_from_zero(void **state)
{
    (void)state;
    roast_cpu_meter_round(meter);
    show(1, 10);
    roast_cpu_meter_round(meter);
    show(1, 11);
    show(2, 4);
    assert_children(5);
    roast_cpu_meter_round(meter);
    show(1, 11);
    show(2, 4.5);
    assert_int_equal(show_reaper(3, 0.25, 0.25), ROAST_OK);
    assert_children(6);
}

static void a_number_that_is_used_again_is_another_process(void **state)
{
    struct roast_process_use next = {
        .pid = FIRST_PID + 1, .started_ticks = 9999, .cpu_ns = 1000000000};
    (void)state;

    roast_cpu_meter_round(meter);
    show(1, 10);
    roast_cpu_meter_round(meter);
    assert_int_equal(roast_cpu_meter_use(meter, &next, NULL), ROAST_OK);
    assert_children(1);
}

static void time_that_runs_backwards_counts_nothing(void **state)
{
    (void)state;
    roast_cpu_meter_round(meter);
    show(1, 10);
    roast_cpu_meter_round(meter);
    show(1, 9.5);
    show(2, 2);
    assert_children(2);
}

/* ---- processes that ended ---------------------------------------------------- */

static void who_was_waited_for_in_the_tree_counts_once(void **state)
{
    (void)state;
    roast_cpu_meter_round(meter);
    show(1, 0); /* the parent of 2 and 3 */
    show(2, 2);
    roast_cpu_meter_round(meter);
    show(1, 0);
    show(2, 5);
    show(3, 1);
    assert_children(4);
    roast_cpu_meter_round(meter);
    assert_int_equal(show_reaper(1, 0, 6), ROAST_OK); /* 2 ended with 6 */
    show(3, 1);
    assert_children(5);
    roast_cpu_meter_round(meter);
    assert_int_equal(show_reaper(1, 0, 7.5), ROAST_OK); /* and 3 with 1.5 */
    assert_children(5.5);
}

/* Its parent ended first, or does not wait: the kernel does not count it. */
static void what_was_seen_is_not_taken_back(void **state)
{
    (void)state;
    roast_cpu_meter_round(meter);
    show(1, 100);
    show(2, 50);
    roast_cpu_meter_round(meter);
    show(1, 103);
    show(2, 51);
    assert_children(4);
    roast_cpu_meter_round(meter);
    show(2, 52);
    assert_children(5);
    roast_cpu_meter_round(meter);
    assert_children(5);
}

static uint64_t reaped_ns(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

/* A child that used some 20 ms of CPU and was waited for; what that added. */
static double run_child(void)
{
    uint64_t before_ns = reaped_ns();
    pid_t pid = fork();

    if (pid == 0) {
        while (clock() < CLOCKS_PER_SEC / 50)
            ;
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return (double)(reaped_ns() - before_ns) / 1e9;
}

static void a_child_that_we_waited_for_counts_once(void **state)
{
    (void)state;
    roast_cpu_meter_round(meter);
    roast_cpu_meter_round(meter);
    show(1, 0.001);
    assert_children(0.001);
    double used_s = run_child();
    assert_true(used_s > 0.001);
    roast_cpu_meter_round(meter);
    assert_children(used_s);
    double more_s = run_child(); /* and one that no round saw */
    roast_cpu_meter_round(meter);
    show(2, 1);
    assert_children(used_s + more_s + 1);
}

/* It is alive in the sample, and waited for before the meter is read. */
static void a_child_that_ends_during_a_round_counts_once(void **state)
{
    (void)state;
    roast_cpu_meter_round(meter);
    roast_cpu_meter_round(meter);
    show(1, 0.001);
    double used_s = run_child();
    assert_children(0.001);
    roast_cpu_meter_round(meter);
    assert_children(used_s);
}

/* 1 was there at the start, 2 came later: nothing changes when both are forgotten. */
static void processes_that_ended_long_ago_are_only_counted(void **state)
{
    (void)state;
    roast_cpu_meter_round(meter);
    show(1, 10);
    roast_cpu_meter_round(meter);
    show(1, 11);
    show(2, 2);
    for (int i = 0; i < 100; i++) {
        roast_cpu_meter_round(meter);
        show(3, 0.5);
        assert_children(3.5);
    }
    assert_int_equal(roast_cpu_meter_processes(meter), 3);
    roast_cpu_meter_round(meter);
    show(2, 0.25); /* the number of 2, but a later process: it begins at 0 */
    show(3, 0.5);
    assert_children(3.75);
    assert_int_equal(roast_cpu_meter_processes(meter), 4);
}

/* ---- this process ------------------------------------------------------------ */

static double own_since(clock_t start)
{
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static void own_time_is_that_of_the_process(void **state)
{
    double own_s, children_s;
    clock_t start = clock();
    (void)state;

    roast_cpu_meter_free(meter);
    assert_int_equal(roast_cpu_meter_new(&meter, NULL), ROAST_OK);
    clock_t inner = clock();
    while (own_since(inner) < 0.05)
        ;
    double least_s = own_since(inner);
    roast_cpu_meter_read(meter, &own_s, &children_s);
    assert_true(own_s >= least_s - 1e-5); /* the kernel rounds to microseconds */
    assert_true(own_s <= own_since(start) + 1e-5);
}

/* ---- memory ------------------------------------------------------------------ */

static void many_processes_find_room(void **state)
{
    (void)state;
    for (unsigned round = 1; round <= 3; round++) {
        roast_cpu_meter_round(meter);
        for (unsigned i = 0; i < 1000; i++)
            show(i, 1000 + round * 0.5);
    }
    assert_children(1000);
}

static void without_memory_there_is_no_meter(void **state)
{
    roast_cpu_meter *none = NULL;
    roast_error err = {0};
    (void)state;

    test_heap_fail(1, false);
    assert_int_equal(roast_cpu_meter_new(&none, &err), ROAST_NO_MEMORY);
    assert_int_equal(err.code, ROAST_NO_MEMORY);
    assert_null(none);
    roast_cpu_meter_free(none);
}

/* A process that had no room at the start may be days old: it counts from its first
 * sample, not from 0. */
static void a_start_without_memory_does_not_count_the_past(void **state)
{
    roast_error err = {0};
    const struct roast_process_use use = {.pid = FIRST_PID, .cpu_ns = 1000000000};
    (void)state;

    roast_cpu_meter_round(meter);
    test_heap_fail(1, false);
    assert_int_equal(roast_cpu_meter_use(meter, &use, &err), ROAST_NO_MEMORY);
    assert_int_equal(err.code, ROAST_NO_MEMORY);
    assert_children(0);
    roast_cpu_meter_round(meter);
    show(1, 5000);
    assert_children(0);
    roast_cpu_meter_round(meter);
    show(1, 5002);
    assert_children(2);
}

static void those_known_go_on_when_there_is_no_memory_for_more(void **state)
{
    unsigned known = 0;
    (void)state;

    roast_cpu_meter_round(meter);
    roast_cpu_meter_round(meter);
    show(0, 1);
    test_heap_fail(1, true);
    while (show_reaper(known + 1, 1, 0) == ROAST_OK)
        known++;
    assert_true(known > 0);
    assert_children(known + 1);
    test_heap_fail(0, false);
    roast_cpu_meter_round(meter);
    for (unsigned i = 0; i <= known + 1; i++)
        show(i, 2);
    assert_children(2 * (known + 2));
}

#define meter_test(name) cmocka_unit_test_setup_teardown(name, open_meter, close_meter)

int main(void)
{
    const struct CMUnitTest tests[] = {
        meter_test(before_any_round_nothing_was_used),
        meter_test(this_process_is_not_its_own_child),
        meter_test(who_was_there_at_the_start_counts_from_then),
        meter_test(a_later_process_counts_from_zero),
        meter_test(a_number_that_is_used_again_is_another_process),
        meter_test(time_that_runs_backwards_counts_nothing),
        meter_test(who_was_waited_for_in_the_tree_counts_once),
        meter_test(what_was_seen_is_not_taken_back),
        meter_test(a_child_that_we_waited_for_counts_once),
        meter_test(a_child_that_ends_during_a_round_counts_once),
        meter_test(processes_that_ended_long_ago_are_only_counted),
        meter_test(own_time_is_that_of_the_process),
        meter_test(many_processes_find_room),
        meter_test(without_memory_there_is_no_meter),
        meter_test(a_start_without_memory_does_not_count_the_past),
        meter_test(those_known_go_on_when_there_is_no_memory_for_more),
    };
    return cmocka_run_group_tests_name("probe/cpu_meter", tests, NULL, NULL);
}
