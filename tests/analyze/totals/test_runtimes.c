/* SPDX-License-Identifier: BSD-3-Clause */
/* test_runtimes.c - the histogram of times, their correlation with events, and how much
 * time and memory vary per event. */
#include "analyze/metric_checks.h"
#include "analyze/runs.h"
#include "analyze/table_cells.h"

/* Chunks of these seconds and events. */
static roast_summary *summary_with(const double *seconds, const uint64_t *events,
                                   const uint64_t *after_mb, size_t count)
{
    roast_run *run = run_new();

    for (size_t i = 0; i < count; i++)
        add_frame(run, (struct frame){.first = i,
                                      .stop = i + 1,
                                      .start = (double)i,
                                      .duration = seconds[i],
                                      .events = events[i],
                                      .before_mb = after_mb ? 100 : 0,
                                      .after_mb = after_mb ? after_mb[i] : 0});
    roast_run_finish(run, NS(60));
    roast_summary *summary = summary_of(run);
    roast_run_free(run);
    return summary;
}

static void every_chunk_is_in_one_range(void **state)
{
    static const double seconds[] = {1, 1.5, 2, 3, 3.2, 4};
    static const uint64_t events[] = {10, 15, 20, 30, 32, 40};
    roast_summary *summary = summary_with(seconds, events, NULL, 6);
    (void)state;

    assert_int_equal(rows_of(summary, "runtime_histogram"), 3); /* about sqrt(6) */
    static const double counts[] = {2, 1, 3};
    for (size_t i = 0; i < 3; i++) {
        assert_near(number_at(summary, "runtime_histogram", i, "from"),
                    1.0 + (double)i);
        assert_near(number_at(summary, "runtime_histogram", i, "to"), 2.0 + (double)i);
        assert_near(number_at(summary, "runtime_histogram", i, "chunks"), counts[i]);
    }
    assert_metric(summary, runtime_events_correlation, 1);
    assert_metric(summary, time_per_event_std_us, 0);
    assert_metric(summary, time_per_event_variation, 0);
    roast_summary_free(summary);
}

/* Per event 1, 2 and 3 s, and 1, 2 and 3 MiB. */
static void the_spread_is_relative_to_the_mean_over_chunks(void **state)
{
    static const double seconds[] = {10, 10, 6};
    static const uint64_t events[] = {10, 5, 2};
    static const uint64_t after_mb[] = {110, 110, 106};
    roast_summary *summary = summary_with(seconds, events, after_mb, 3);
    (void)state;

    assert_metric(summary, time_per_event_std_us, 1e6);
    assert_metric(summary, time_per_event_variation, 0.5);
    assert_metric(summary, memory_per_event_std_bytes, 1 << 20);
    assert_metric(summary, memory_per_event_variation, 0.5);
    /* 13/3, -2/3 and -11/3 events about the mean; 4/3, 4/3 and -8/3 s */
    double r = (13 * 4 - 2 * 4 + 11 * 8) / sqrt((169 + 4 + 121.0) * (16 + 16 + 64));
    assert_metric(summary, runtime_events_correlation, r);
    roast_summary_free(summary);
}

static void equal_chunks_are_in_one_range(void **state)
{
    static const double seconds[] = {2, 2, 2, 2};
    static const uint64_t events[] = {10, 10, 10, 10};
    static const uint64_t after_mb[] = {90, 100, 90, 100}; /* it did not grow */
    roast_summary *summary = summary_with(seconds, events, after_mb, 4);
    (void)state;

    assert_int_equal(rows_of(summary, "runtime_histogram"), 1);
    assert_near(number_at(summary, "runtime_histogram", 0, "from"), 2);
    assert_near(number_at(summary, "runtime_histogram", 0, "to"), 2);
    assert_near(number_at(summary, "runtime_histogram", 0, "chunks"), 4);
    assert_absent(summary, runtime_events_correlation);
    assert_absent(summary, memory_per_event_variation);
    assert_metric(summary, time_per_event_variation, 0);
    roast_summary_free(summary);
}

static void without_chunks_nothing_is_known(void **state)
{
    roast_summary *summary = summary_with(NULL, NULL, NULL, 0);
    (void)state;

    assert_int_equal(rows_of(summary, "runtime_histogram"), 0);
    assert_absent(summary, runtime_events_correlation);
    assert_absent(summary, time_per_event_std_us);
    assert_absent(summary, memory_per_event_std_bytes);
    roast_summary_free(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_is_in_one_range),
        cmocka_unit_test(the_spread_is_relative_to_the_mean_over_chunks),
        cmocka_unit_test(equal_chunks_are_in_one_range),
        cmocka_unit_test(without_chunks_nothing_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
