/* SPDX-License-Identifier: BSD-3-Clause */
/* test_kinds.c - how well values are known: by the list at best, worse where the source
 * was, and what follows from them is no better. */
#include "activities.h"

#define assert_kind(summary, id, kind) \
    assert_int_equal( \
        roast_metric_kind(roast_summary_metrics(summary), ROAST_METRIC_##id), (kind))

static roast_run *run_of(uint64_t chunks)
{
    roast_run *run = run_new();

    for (uint64_t i = 0; i < chunks; i++)
        add_frame(run, (struct frame){.first = i,
                                      .stop = i + 1,
                                      .events = 1,
                                      .start = 1,
                                      .duration = 0.5,
                                      .cpu = 0.25});
    roast_run_finish(run, NS(10));
    return run;
}

static void test_of_the_list(void **state)
{
    (void)state;
    assert_int_equal(roast_metric_info(ROAST_METRIC_wall_time)->kind, ROAST_EXACT);
    assert_int_equal(roast_metric_info(ROAST_METRIC_peak_memory_bytes)->kind,
                     ROAST_SAMPLED);
    assert_int_equal(roast_metric_info(ROAST_METRIC_hook_seconds)->kind,
                     ROAST_ESTIMATED);
    assert_string_equal(roast_metric_kind_name(ROAST_EXACT), "exact");
    assert_string_equal(roast_metric_kind_name(ROAST_SAMPLED), "sampled");
    assert_string_equal(roast_metric_kind_name(ROAST_ESTIMATED), "estimated");
}

static void test_workers_with_exact_times(void **state)
{
    roast_run *run = run_of(2);

    (void)state;
    offer(run, 0, 2, 4);
    roast_summary *summary = summary_of(run);
    assert_kind(summary, total_cores, ROAST_EXACT);
    assert_kind(summary, cpu_efficiency, ROAST_EXACT);
    assert_kind(summary, event_rate_khz_best_10s, ROAST_ESTIMATED);
    assert_kind(summary, chunk_duration_p50, ROAST_EXACT);
    assert_kind(summary, wasted_thread_seconds, ROAST_EXACT);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_workers_that_were_counted_now_and_then(void **state)
{
    roast_run *run = run_of(2);
    roast_sample sample = {.worker = roast_str_of("w"), .time_ns = at(5)};

    (void)state;
    roast_sample_set(&sample, ROAST_SERIES_cores, 4);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    assert_int_equal(roast_run_add_count(run, at(0), 2, NULL), ROAST_OK);
    assert_int_equal(roast_run_add_count(run, at(10), 2, NULL), ROAST_OK);
    roast_summary *summary = summary_of(run);
    assert_metric(summary, cpu_efficiency, 1 / 80.0);
    assert_kind(summary, peak_workers, ROAST_SAMPLED);
    assert_kind(summary, offered_thread_seconds, ROAST_SAMPLED);
    assert_kind(summary, cpu_efficiency, ROAST_SAMPLED);
    assert_kind(summary, event_rate_core_hz, ROAST_SAMPLED);
    assert_kind(summary, io_wait_share, ROAST_SAMPLED);
    assert_kind(summary, speedup, ROAST_EXACT);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_attempts_without_an_end(void **state)
{
    roast_run *run = run_of(2);

    (void)state;
    add_frame(run, (struct frame){.kind = ROAST_FRAME_BEGIN,
                                  .process = 2,
                                  .first = 7,
                                  .stop = 8,
                                  .start = 1});
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_lost_attempts, 1);
    assert_kind(summary, wasted_thread_seconds, ROAST_ESTIMATED);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_quantiles_of_many(void **state)
{
    roast_run *run = run_of(4097);
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_kind(summary, chunk_duration_p99, ROAST_ESTIMATED);
    assert_kind(summary, time_per_event_p50_us, ROAST_ESTIMATED);
    assert_kind(summary, chunk_duration_max, ROAST_EXACT);
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_the_list),
        cmocka_unit_test(test_workers_with_exact_times),
        cmocka_unit_test(test_workers_that_were_counted_now_and_then),
        cmocka_unit_test(test_attempts_without_an_end),
        cmocka_unit_test(test_quantiles_of_many),
    };
    return cmocka_run_group_tests_name("analyze/kinds", tests, NULL, NULL);
}
