/* SPDX-License-Identifier: BSD-3-Clause */
/* test_budget.c - the budget of runs on one machine, computed by hand: places of a pool,
 * calls of the Runner, ladders, attempts that never end. */
#include "analyze/budget_checks.h"
#include "analyze/ladder_seconds.h"
#include "analyze/summary_oom.h"
#include "roast/scheduler.h"

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

/* A chunk of its own that took [start, start + seconds). */
static void add_chunk(roast_run *run, uint64_t process, double start, double seconds,
                      struct roast_ladder ladder)
{
    static uint32_t next = 1;
    uint32_t sequence = next++;

    add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                  .process = process,
                                  .sequence = sequence,
                                  .task_start = start,
                                  .task = seconds,
                                  .ladder = ladder_blob(&ladder)});
    add_frame(run, (struct frame){.process = process,
                                  .sequence = sequence,
                                  .first = sequence,
                                  .stop = sequence + 1,
                                  .start = start,
                                  .duration = seconds});
}

/* One of which nothing but process() is known. */
static void add_bare(roast_run *run, uint64_t process, double start, double seconds)
{
    static uint64_t next = 100000;

    add_frame(run, (struct frame){.process = process,
                                  .first = next,
                                  .stop = next + 1,
                                  .start = start,
                                  .duration = seconds});
    next++;
}

static void add_call(roast_run *run, double begin, double asks, double asked,
                     double end)
{
    mark(run, ROAST_MARK_RUN_BEGIN, begin);
    mark(run, ROAST_MARK_PREPROCESS_BEGIN, asks);
    mark(run, ROAST_MARK_PREPROCESS_END, asked);
    mark(run, ROAST_MARK_RUN_END, end);
}

static roast_run *run_on_two_places(void)
{
    roast_run *run = run_new();
    struct roast_ladder opening = steps(1, 0);

    set_item(&opening, ROAST_ITEM_open, 0.5);
    offer(run, 0, 2, 2);
    add_call(run, 1, 1, 2, 9);
    add_chunk(run, 1, 2.5, 2, opening);
    add_chunk(run, 1, 5, 2, steps(2, 0));
    add_chunk(run, 2, 3, 5, steps(4, 1));
    roast_run_finish(run, NS(10));
    return run;
}

static void test_a_pool_of_two_places(void **state)
{
    roast_run *run = run_on_two_places();
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_budget(summary, {"idle_client_before", 2}, {"idle_preprocess", 2},
                  {"dispatch_first", 0.5 + 1}, {"dispatch", 0.5}, {"open", 0.5},
                  {"compute", 7}, {"fetch", 1}, {"unexplained", 0.5}, {"idle_tail", 1},
                  {"idle_reduce", 2}, {"idle_client_after", 2});
    assert_metric(summary, offered_thread_seconds, 20);
    assert_metric(summary, budget_overlap_seconds, 0);
    assert_metric(summary, unexplained_percent, 2.5);
    size_t tail = row_of(summary, "budget_by_phase", "tail"); /* 7 s to 8 s */
    assert_near(number_at(summary, "budget_by_phase", tail, "idle_tail"), 1);
    assert_near(number_at(summary, "budget_by_phase", tail, "compute"), 0.8);
    assert_near(number_at(summary, "budget_by_phase", tail, "fetch"), 0.2);
    assert_int_equal(rows_of(summary, "budget_over_time"), 60);
    assert_near(number_at(summary, "budget_over_time", 6, "from"), 1);
    assert_near(number_at(summary, "budget_over_time", 6, "idle_preprocess"), 2 / 6.0);
    size_t second = row_of(summary, "budget_by_worker", "pid-102");
    assert_near(number_at(summary, "budget_by_worker", second, "compute"), 4);
    assert_near(number_at(summary, "budget_by_worker", second, "dispatch_first"), 1);
    size_t ttbar = row_of(summary, "budget_by_dataset", "ttbar");
    assert_near(number_at(summary, "budget_by_dataset", ttbar, "compute"), 7);
    assert_near(number_at(summary, "budget_by_dataset", ttbar, "idle_tail"), 0);
    assert_int_equal(rows_of(summary, "budget_by_host"), 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void add_asked(roast_run *run, double start, double stop)
{
    assert_int_equal(roast_run_add_client_task(run, roast_str_of("get_metadata"),
                                               NS(start), NS(stop), NULL),
                     ROAST_OK);
}

/* Two calls; the chunk of the first one is long over when files are asked again. */
static void test_preprocessing_in_a_pool(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 2, 2);
    add_call(run, 0, 0, 2, 4);
    add_call(run, 4, 4, 6, 8);
    add_asked(run, 0, 1.5);
    add_asked(run, 0.5, 1);
    add_asked(run, 1, 2);
    add_asked(run, 4, 6);
    add_asked(run, 4, 5);
    add_bare(run, 1, 2, 2);
    add_bare(run, 2, 2, 2);
    add_bare(run, 1, 6, 2);
    add_bare(run, 2, 6, 2);
    roast_run_finish(run, NS(8));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"preprocess", 1.5 + 0.5 + 1 + 2 + 1},
                  {"idle_preprocess", 1 + 1}, {"compute", 8});
    assert_metric(summary, budget_overlap_seconds, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* The client waits while it starts and ends: that is no import of the notebook. */
static void test_preprocessing_with_its_own_pool(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 2, 2);
    add_call(run, 1, 1, 6, 9);
    add_asked(run, 3, 5);
    add_asked(run, 3, 5);
    add_bare(run, 1, 6, 3);
    add_bare(run, 2, 6, 3);
    roast_run_finish(run, NS(9));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 2}, {"preprocess", 4},
                  {"idle_preprocess", 2 * (2 + 1)}, {"compute", 6});
    assert_near(number_at(summary, "wall_account", 0, "preprocess"), 5);
    assert_near(number_at(summary, "wall_account", 0, "client"), 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* 1 place, from 4 s on 3, from 8 s on 2: the third is gone when its chunk goes on. */
static void test_a_pool_that_changes(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    offer(run, 4, 3, 3);
    offer(run, 8, 2, 2);
    add_bare(run, 1, 1, 2);
    add_bare(run, 2, 5, 4);
    add_bare(run, 3, 6, 1);
    add_bare(run, 4, 6.5, 2.5);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 1}, {"compute", 2 + 4 + 1 + 1.5},
                  {"dispatch", 2}, {"dispatch_first", 2 + 2.5}, {"idle_tail", 2},
                  {"idle_client_after", 2});
    assert_metric(summary, offered_thread_seconds, 4 + 12 + 4);
    assert_metric(summary, budget_overlap_seconds, 1);
    assert_metric(summary, unexplained_percent, 5);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* A place that is taken away and given back is there twice. */
static void test_a_place_that_comes_back(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    offer(run, 3, 0, 0);
    offer(run, 6, 1, 1);
    add_bare(run, 1, 1, 2);
    add_bare(run, 2, 6, 3);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 1}, {"compute", 5},
                  {"idle_client_after", 1});
    assert_metric(summary, offered_thread_seconds, 7);
    assert_metric(summary, budget_overlap_seconds, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_threads_of_one_process_have_a_place_each(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 2, 2);
    add_bare(run, 1, 0, 4);
    add_bare(run, 1, 1, 2);
    roast_run_finish(run, NS(4));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"compute", 6}, {"dispatch_first", 1}, {"idle_tail", 1});
    assert_metric(summary, budget_overlap_seconds, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_more_at_once_than_were_offered(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    add_chunk(run, 1, 0, 4, steps(4, 0));
    add_chunk(run, 2, 3, 2, steps(1, 1)); /* half of it is cut off */
    roast_run_finish(run, NS(5));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"compute", 4.5}, {"fetch", 0.5});
    assert_metric(summary, budget_overlap_seconds, 1);
    assert_metric(summary, unexplained_percent, 20);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_ladders_that_do_not_fit(void **state)
{
    roast_run *run = run_new();
    struct roast_ladder hooked = steps(3, 0);

    (void)state;
    set_item(&hooked, ROAST_ITEM_hook_cost, 1);
    offer(run, 0, 1, 1);
    add_chunk(run, 1, 0, 2, steps(6, 2)); /* four times too long */
    add_chunk(run, 1, 2, 4, hooked);
    roast_run_finish(run, NS(6));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"compute", 1.5 + 2}, {"fetch", 0.5}, {"monitor", 1},
                  {"unexplained", 1});
    roast_summary_free(summary);
    roast_run_free(run);
}

/* The second process goes on where the first one was, when one place is left. */
static void test_fewer_places_than_there_were(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 2, 2);
    add_chunk(run, 1, 0, 3, steps(3, 0));
    add_chunk(run, 2, 0, 4, steps(4, 0));
    offer(run, 4, 1, 1);
    add_chunk(run, 2, 4, 2, steps(2, 0));
    roast_run_finish(run, NS(6));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, budget_overlap_seconds, 0);
    assert_near(number_at(summary, "budget", 0, "compute"), 3 + 4 + 2);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_several_calls(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    add_call(run, 1, 1, 2, 5);
    add_chunk(run, 1, 2, 2, steps(2, 0));
    add_call(run, 7, 7.5, 8, 11);
    add_chunk(run, 1, 9, 1, steps(1, 0));
    roast_run_finish(run, NS(12));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 1}, {"idle_preprocess", 1 + 0.5},
                  {"compute", 3}, {"idle_reduce", 1 + 1}, {"dispatch", 1},
                  {"idle_client_between", 2.5}, {"idle_client_after", 1});
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_what_the_client_did_itself(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    add_call(run, 1, 1, 3, 9);
    add_task(run, "get_metadata", NULL, 1, ROAST_TASK_ok, 1.5, 2.5);
    add_chunk(run, 1, 3, 2, steps(2, 0));
    add_task(run, "reduce", NULL, 2, ROAST_TASK_ok, 5, 6);
    add_chunk(run, 1, 6, 1, steps(1, 0));
    add_task(run, "reduce", NULL, 3, ROAST_TASK_ok, 7, 8.5);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 1.5}, {"preprocess", 1},
                  {"idle_client_between", 0.5}, {"compute", 3}, {"reduce", 2.5},
                  {"idle_client_after", 1.5});
    assert_metric(summary, budget_overlap_seconds, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- runs with little in them ---------------------------------------------------- */

static void test_no_chunks(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 2, 2);
    add_call(run, 1, 1, 3, 4);
    roast_run_finish(run, NS(5));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 2}, {"idle_preprocess", 4},
                  {"idle_client_after", 4});
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_nothing_but_threads(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 2, 2);
    roast_run_finish(run, NS(5));
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 10});
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_without_threads_there_is_none(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_bare(run, 1, 0, 1);
    roast_run_finish(run, NS(5));
    roast_summary *summary = summary_of(run);
    assert_null(roast_summary_table(summary, ROAST_TABLE_budget));
    assert_absent(summary, unexplained_percent);
    roast_summary_free(summary);
    offer(run, 0, 5000, 5000); /* no pool of one machine */
    summary = summary_of(run);
    assert_null(roast_summary_table(summary, ROAST_TABLE_budget));
    assert_metric(summary, offered_thread_seconds, 25000);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* It is not over: the chunk that has begun goes on to the latest moment. */
static void test_a_run_that_goes_on(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    mark(run, ROAST_MARK_RUN_BEGIN, 1);
    add_frame(run, (struct frame){.kind = ROAST_FRAME_BEGIN, .stop = 9, .start = 2});
    add_bare(run, 2, 5, 1); /* another place is not there */
    roast_summary *summary = summary_of(run);
    assert_budget(summary, {"idle_client_before", 1}, {"dispatch_first", 1},
                  {"unexplained", 4});
    assert_metric(summary, budget_overlap_seconds, 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void add_use(roast_run *run, uint64_t pid, double seconds)
{
    const struct roast_process_use use = {
        .pid = pid, .started_ticks = pid, .time_ns = at(seconds), .rss_bytes = 1};

    assert_int_equal(roast_run_add_use(run, &use, NULL), ROAST_OK);
}

static void test_an_attempt_that_was_lost(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    add_bare(run, 1, 0, 1);
    add_frame(run, (struct frame){.kind = ROAST_FRAME_BEGIN, .stop = 9, .start = 1});
    add_use(run, 101, 3);
    add_use(run, 50, 4); /* the client lives on */
    roast_run_finish(run, NS(5));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, wasted_thread_seconds, 2);
    assert_budget(summary, {"compute", 1}, {"lost", 2}, {"idle_client_after", 2});
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- hostile ---------------------------------------------------------------------- */

static void test_times_that_make_no_sense(void **state)
{
    static const double extremes[] = {-7e9, -1, 0, 3, 7e9};
    roast_run *run = run_new();

    (void)state;
    offer(run, -7e9, 3, 3);
    offer(run, 2, 1, 1);
    offer(run, 7e9, 7, 7);
    for (size_t i = 0; i < 5; i++) {
        mark(run, i % 2 ? ROAST_MARK_RUN_BEGIN : ROAST_MARK_PREPROCESS_BEGIN,
             extremes[i]);
        for (size_t k = 0; k < 5; k++)
            add_bare(run, 1 + k, extremes[i], k == 2 ? 0 : fabs(extremes[k]));
        add_task(run, "reduce", NULL, 4, ROAST_TASK_ok, extremes[i], extremes[4 - i]);
    }
    roast_run_finish(run, NS(8));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, offered_thread_seconds, 6 + 6);
    check_closed(summary, __FILE__, __LINE__);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* From the first to the last moment that there is. */
static void test_a_run_as_long_as_can_be(void **state)
{
    roast_run *run = NULL;

    (void)state;
    assert_int_equal(roast_run_new(&run, 0, INT64_MIN, NULL), ROAST_OK);
    assert_int_equal(roast_run_offer(run, INT64_MIN, 1, 4096, NULL), ROAST_OK);
    assert_int_equal(roast_run_offer(run, INT64_MAX, 1, 1, NULL), ROAST_OK);
    add_bare(run, 1, 0, 5);
    roast_run_finish(run, INT64_MAX);
    roast_summary *summary = summary_of(run);
    check_closed(summary, __FILE__, __LINE__);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_any_allocation_may_fail(void **state)
{
    roast_run *run = run_on_two_places();

    (void)state;
    add_task(run, "reduce", NULL, 2, ROAST_TASK_ok, 8, 9);
    add_frame(run, (struct frame){.kind = ROAST_FRAME_BEGIN, .stop = 9, .start = 8});
    check_summary_sweep(run);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_pool_of_two_places, setup),
        cmocka_unit_test_setup(test_preprocessing_in_a_pool, setup),
        cmocka_unit_test_setup(test_preprocessing_with_its_own_pool, setup),
        cmocka_unit_test_setup(test_a_pool_that_changes, setup),
        cmocka_unit_test_setup(test_a_place_that_comes_back, setup),
        cmocka_unit_test_setup(test_threads_of_one_process_have_a_place_each, setup),
        cmocka_unit_test_setup(test_more_at_once_than_were_offered, setup),
        cmocka_unit_test_setup(test_ladders_that_do_not_fit, setup),
        cmocka_unit_test_setup(test_fewer_places_than_there_were, setup),
        cmocka_unit_test_setup(test_several_calls, setup),
        cmocka_unit_test_setup(test_what_the_client_did_itself, setup),
        cmocka_unit_test_setup(test_no_chunks, setup),
        cmocka_unit_test_setup(test_nothing_but_threads, setup),
        cmocka_unit_test_setup(test_without_threads_there_is_none, setup),
        cmocka_unit_test_setup(test_a_run_that_goes_on, setup),
        cmocka_unit_test_setup(test_an_attempt_that_was_lost, setup),
        cmocka_unit_test_setup(test_times_that_make_no_sense, setup),
        cmocka_unit_test_setup(test_a_run_as_long_as_can_be, setup),
        cmocka_unit_test_setup(test_any_allocation_may_fail, setup),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
