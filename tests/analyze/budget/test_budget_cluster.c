/* SPDX-License-Identifier: BSD-3-Clause */
/* test_budget_cluster.c - the budget of runs on a cluster, computed by hand: joins and
 * leaves, lost workers, tasks that nobody saw begin, other people's. */
#include "analyze/budget_checks.h"
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

static void join(roast_run *run, const char *worker, uint64_t threads, double seconds)
{
    const struct roast_member member = {
        .worker = roast_str_of(worker),
        .host = roast_str_of(worker + strlen("tcp://")),
        .joined_ns = at(seconds),
        .pid = 4321,
        .threads = threads,
    };
    assert_int_equal(roast_run_add_member(run, &member, NULL), ROAST_OK);
}

/* start 0: nobody saw it begin; key 0: somebody else's. */
static void task(roast_run *run, const char *prefix, const char *worker, uint32_t key,
                 enum roast_task_end end, double assigned, double start, double stop)
{
    const struct roast_task task = {
        .prefix = roast_str_of(prefix),
        .worker = roast_str_of(worker),
        .key_hash = key,
        .ours = key != 0,
        .end = end,
        .assigned_ns = at(assigned),
        .start_ns = start > 0 ? at(start) : 0,
        .stop_ns = at(stop),
    };
    assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
}

/* An attempt in the task of a key; one that does not end has begun and no more. */
static void attempt(roast_run *run, const char *worker, uint32_t key, double start,
                    double seconds)
{
    static uint32_t next = 1;
    struct roast_ladder ladder = steps(seconds, 0);
    struct frame frame = {.kind = ROAST_FRAME_BEGIN,
                          .process = strcmp(worker, W1) == 0 ? 11 : 12,
                          .sequence = next++,
                          .first = key * 100,
                          .stop = key * 100 + 100,
                          .start = start};

    add_frame_of_task(run, frame, worker, key);
    if (!(seconds > 0))
        return;
    frame.kind = ROAST_FRAME_END;
    frame.task_start = start;
    frame.task = frame.duration = seconds;
    frame.ladder = ladder_blob(&ladder);
    add_frame_of_task(run, frame, worker, key);
    frame.kind = ROAST_FRAME_CHUNK;
    add_frame_of_task(run, frame, worker, key);
}

/* A chunk that ends well, and its task. */
static void chunk(roast_run *run, const char *worker, uint32_t key, double assigned,
                  double start, double seconds)
{
    task(run, "Processor", worker, key, ROAST_TASK_ok, assigned, start,
         start + seconds);
    attempt(run, worker, key, start, seconds);
}

/* W1 has 2 threads, W2 one from 2 s to 8 s. */
static roast_run *run_with_everything(void)
{
    roast_run *run = run_new();

    join(run, W1, 2, 0);
    join(run, W2, 1, 2);
    task(run, "get_metadata", W1, 7, ROAST_TASK_ok, 0.5, 0.5, 1);
    chunk(run, W1, 1, 1, 1.5, 2.5);
    task(run, "inc", W2, 0, ROAST_TASK_ok, 3, 3, 5);
    task(run, "Processor", W2, 2, ROAST_TASK_moved, 5, 0, 6);
    task(run, "reduce", W1, 8, ROAST_TASK_ok, 5.5, 6, 7);
    task(run, "Processor", W2, 3, ROAST_TASK_retried, 6, 0, 7);
    leave_for(run, W2, 8, NULL);
    roast_run_finish(run, NS(10));
    return run;
}

static void test_tasks_of_all_kinds(void **state)
{
    roast_run *run = run_with_everything();
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_budget(summary, {"idle_client_before", 1}, {"preprocess", 0.5},
                  {"idle_preprocess", 0.5}, {"dispatch", 0.5 + 0.5 + 1},
                  {"idle_starved", 0.5 + 2.5 + 3 + 0.5 + 1}, {"compute", 2.5},
                  {"reduce", 1}, {"idle_tail", 1}, {"foreign", 2}, {"failed", 1},
                  {"idle_client_after", 6 + 1});
    assert_metric(summary, offered_thread_seconds, 20 + 6);
    assert_metric(summary, budget_overlap_seconds, 0);
    size_t second = row_of(summary, "budget_by_worker", W2);
    assert_near(number_at(summary, "budget_by_worker", second, "foreign"), 2);
    assert_near(number_at(summary, "budget_by_worker", second, "idle_starved"), 1);
    size_t host = row_of(summary, "budget_by_host", "10.0.0.1:1");
    assert_near(number_at(summary, "budget_by_host", host, "compute"), 2.5);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Files cannot be asked before there is a worker: that is no work of the client. */
static void test_waiting_for_the_first_worker_is_not_the_clients(void **state)
{
    roast_run *run = run_new();

    (void)state;
    mark(run, ROAST_MARK_RUN_BEGIN, 1);
    mark(run, ROAST_MARK_PREPROCESS_BEGIN, 2);
    join(run, W1, 2, 30);
    task(run, "get_metadata", W1, 7, ROAST_TASK_ok, 30, 30.5, 31);
    mark(run, ROAST_MARK_PREPROCESS_END, 32);
    chunk(run, W1, 1, 32, 33, 4);
    mark(run, ROAST_MARK_RUN_END, 38);
    roast_run_finish(run, NS(40));
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "wall_account", 0, "preprocess"), 1);
    assert_near(number_at(summary, "wall_account", 0, "wait_first_worker"), 28);
    assert_near(number_at(summary, "wall_account", 0, "chunks") +
                    number_at(summary, "wall_account", 0, "tail"),
                5); /* sent at 32 */
    assert_near(number_at(summary, "wall_account", 0, "client"), 2 + 1 + 2);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* W1 dies at 5 s: with the third chunk, which it had begun, and the fourth, which had
 * waited there all the time. */
static roast_run *run_with_a_death(void)
{
    roast_run *run = run_new();

    join(run, W1, 1, 0);
    join(run, W2, 1, 0);
    task(run, "Processor", W1, 4, ROAST_TASK_lost, 0, 0, 5);
    task(run, "Processor", W1, 1, ROAST_TASK_ok, 0, 1e-9, 2);
    attempt(run, W1, 1, 0, 2);
    chunk(run, W1, 2, 0, 2, 2);
    task(run, "Processor", W1, 3, ROAST_TASK_lost, 0, 0, 5);
    attempt(run, W1, 3, 4, 0);
    leave_for(run, W1, 5, "it died");
    chunk(run, W2, 3, 5.5, 6, 1);
    chunk(run, W2, 4, 5.5, 7, 1);
    roast_run_finish(run, NS(10));
    return run;
}

static void test_a_lost_worker(void **state)
{
    roast_run *run = run_with_a_death();
    roast_summary *summary = summary_of(run);
    size_t first = row_of(summary, "budget_by_worker", W1);

    (void)state;
    check_closed(summary, __FILE__, __LINE__);
    assert_metric(summary, offered_thread_seconds, 15);
    assert_metric(summary, budget_overlap_seconds, 0);
    assert_near(number_at(summary, "budget", 0, "lost"), 1);
    assert_near(number_at(summary, "budget_by_worker", first, "compute"), 4);
    assert_near(number_at(summary, "budget", 0, "compute"), 6);
    assert_near(number_at(summary, "budget", 0, "idle_starved"), 5.5);
    assert_near(number_at(summary, "budget", 0, "dispatch_first"), 0.5);
    assert_near(number_at(summary, "budget", 0, "idle_client_after"), 2);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* What nobody saw begin takes the time that a thread had left, on one of two. */
static void test_a_failure_without_a_start(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join(run, W1, 2, 0);
    task(run, "reduce", W1, 1, ROAST_TASK_retried, 0, 0, 3);
    chunk(run, W1, 2, 1, 1, 9);
    chunk(run, W1, 3, 4, 4, 2);
    task(run, "reduce", W1, 4, ROAST_TASK_failed, 0, 0, 7);  /* from 6 s on */
    task(run, "reduce", W1, 5, ROAST_TASK_failed, 9, 0, 10); /* not before it came */
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"failed", 3 + 1 + 1}, {"compute", 11}, {"dispatch", 1 + 1},
                  {"idle_tail", 2});
    assert_metric(summary, budget_overlap_seconds, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Tries inside of one task, told in the wrong order. */
static void test_attempts_of_one_task_by_time(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join(run, W1, 1, 0);
    task(run, "Processor", W1, 5, ROAST_TASK_ok, 1, 1, 7);
    attempt(run, W1, 5, 4, 2);
    struct frame failed = {.process = 11,
                           .sequence = 900,
                           .first = 500,
                           .stop = 600,
                           .status = ROAST_CHUNK_FAILED,
                           .start = 1,
                           .duration = 2};
    add_frame_of_task(run, failed, W1, 5);
    roast_run_finish(run, NS(8));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 1}, {"failed", 2}, {"compute", 2},
                  {"unexplained", 1 + 1}, {"idle_client_after", 1});
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_more_at_once_than_there_are_threads(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join(run, W1, 1, 0);
    chunk(run, W1, 1, 1, 1, 3);
    chunk(run, W1, 2, 1, 3, 2);
    roast_run_finish(run, NS(5));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 1}, {"compute", 4});
    assert_metric(summary, budget_overlap_seconds, 1);
    assert_metric(summary, unexplained_percent, 20);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_worker_without_a_join(void **state)
{
    roast_run *run = run_new();
    bool told = false;

    (void)state;
    join(run, W1, 1, 0);
    chunk(run, W2, 1, 1, 1, 3);
    roast_run_finish(run, NS(5));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 5});
    for (size_t i = 0; i < rows_of(summary, "unavailable"); i++)
        told |= str_is(text_at(summary, "unavailable", i, "name"), "budget");
    assert_true(told);
    assert_metric(summary, unexplained_percent, 60); /* 3 s of 5 are nowhere */
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Still running, with and without a sign of it. */
static void test_a_run_that_goes_on(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join(run, W1, 2, 0);
    task(run, "Processor", W1, 1, ROAST_TASK_running, 1, 0, 0);
    attempt(run, W1, 1, 2, 0);
    chunk(run, W1, 3, 2, 2, 4);
    task(run, "Processor", W1, 2, ROAST_TASK_running, 3, 0, 0);
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 2}, {"dispatch_first", 1},
                  {"idle_starved", 1}, {"unexplained", 4}, {"compute", 4});
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- hostile ---------------------------------------------------------------------- */

static void test_hostile_tasks_add_up(void **state)
{
    static const int64_t times[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    roast_run *run = run_with_everything();

    (void)state;
    for (unsigned i = 0; i < 5 * 5 * 5 * ROAST_TASK_END_LAST; i++) {
        const struct roast_task task = {
            .prefix = roast_str_of(i % 2 ? "reduce" : "Processor"),
            .worker = roast_str_of(i % 3 ? W1 : W2),
            .key_hash = i % 7,
            .ours = i % 7 != 0,
            .end = (enum roast_task_end)(i % ROAST_TASK_END_LAST),
            .assigned_ns = times[i % 5],
            .start_ns = times[i / 5 % 5],
            .stop_ns = times[i / 25 % 5],
        };
        assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
    }
    roast_summary *summary = summary_of(run);
    check_closed(summary, __FILE__, __LINE__);
    assert_metric(summary, offered_thread_seconds, 26);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_workers_with_any_number_of_threads(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join(run, W1, UINT64_MAX / 4, 0);
    join(run, W2, 0, 1);
    chunk(run, W1, 1, 1, 1, 3);
    chunk(run, W2, 2, 1, 1, 3); /* on a worker without threads */
    roast_run_finish(run, NS(5));
    roast_summary *summary = summary_of(run);
    check_closed(summary, __FILE__, __LINE__);
    assert_near(number_at(summary, "budget", 0, "compute"), 3);
    assert_metric(summary, budget_overlap_seconds, 3);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_any_allocation_may_fail(void **state)
{
    roast_run *run = run_with_a_death();

    (void)state;
    check_summary_sweep(run);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_tasks_of_all_kinds, setup),
        cmocka_unit_test_setup(test_waiting_for_the_first_worker_is_not_the_clients,
                               setup),
        cmocka_unit_test_setup(test_a_lost_worker, setup),
        cmocka_unit_test_setup(test_a_failure_without_a_start, setup),
        cmocka_unit_test_setup(test_attempts_of_one_task_by_time, setup),
        cmocka_unit_test_setup(test_more_at_once_than_there_are_threads, setup),
        cmocka_unit_test_setup(test_a_worker_without_a_join, setup),
        cmocka_unit_test_setup(test_a_run_that_goes_on, setup),
        cmocka_unit_test_setup(test_hostile_tasks_add_up, setup),
        cmocka_unit_test_setup(test_workers_with_any_number_of_threads, setup),
        cmocka_unit_test_setup(test_any_allocation_may_fail, setup),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
