/* SPDX-License-Identifier: BSD-3-Clause */
/* test_chunk_sizes.c - percentiles of the sizes of chunks, and the bytes of attempts that
 * do not count. */
#include "analyze/metric_checks.h"
#include "analyze/runs.h"

/* 101 chunks: 10 ... 110 events, twice as many bytes, 200 ... 300 MiB. */
static void percentiles(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (uint64_t i = 0; i <= 100; i++)
        add_frame(run, (struct frame){.first = i,
                                      .stop = i + 1,
                                      .start = (double)i,
                                      .duration = 1,
                                      .events = 10 + i,
                                      .bytes_known = true,
                                      .bytes = 10 + i,
                                      .bytes_before = 10 + i,
                                      .before_mb = 100,
                                      .after_mb = 110,
                                      .peak_mb = 200 + i});
    roast_summary *summary = summary_of(run);
    assert_metric(summary, chunk_events_p50, 60);
    assert_metric(summary, chunk_events_p90, 100);
    assert_metric(summary, chunk_events_p99, 109);
    assert_metric(summary, chunk_bytes_p50, 120);
    assert_metric(summary, chunk_bytes_p90, 200);
    assert_metric(summary, chunk_bytes_p99, 218);
    assert_metric(summary, chunk_mem_peak_p50_mb, 250);
    assert_metric(summary, chunk_mem_peak_p90_mb, 290);
    assert_metric(summary, chunk_mem_peak_p99_mb, 299);
    assert_metric(summary, wasted_bytes, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* From buckets a quantile may be 1 % off; the largest value is not exceeded. */
static void many_chunks(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (uint64_t i = 0; i < 5000; i++)
        add_frame(run, (struct frame){
                           .first = i, .stop = i + 1, .duration = 1, .events = 1003});
    roast_summary *summary = summary_of(run);
    const struct roast_metric_values *values = roast_summary_metrics(summary);
    assert_metric(summary, chunk_events_p99, 1003);
    assert_int_equal(roast_metric_kind(values, ROAST_METRIC_chunk_events_p99),
                     ROAST_ESTIMATED);
    assert_string_equal(assert_absent(summary, chunk_bytes_p50),
                        "no chunk has a number of bytes");
    assert_string_equal(assert_absent(summary, chunk_mem_peak_p50_mb),
                        "no chunk has a memory measurement");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void add_attempt(roast_run *run, uint64_t entry, uint64_t status, uint64_t bytes)
{
    static double start = 0;

    add_frame(run, (struct frame){.first = entry,
                                  .stop = entry + 1,
                                  .start = start++,
                                  .duration = 1,
                                  .status = status,
                                  .bytes_known = bytes > 0,
                                  .bytes = bytes,
                                  .bytes_before = bytes});
}

/* One failed, one was repeated; of another one nothing is known. */
static void bytes_of_attempts_that_do_not_count(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_attempt(run, 0, ROAST_CHUNK_FAILED, 0);
    roast_summary *summary = summary_of(run);
    assert_string_equal(assert_absent(summary, wasted_bytes),
                        "the bytes of failed, lost or repeated attempts are not known");
    roast_summary_free(summary);
    add_attempt(run, 1, ROAST_CHUNK_FAILED, 1000);
    add_attempt(run, 1, 0, 500);
    add_attempt(run, 1, 0, 20);
    summary = summary_of(run);
    const struct roast_metric_values *values = roast_summary_metrics(summary);
    assert_metric(summary, wasted_bytes, 2 * 1020);
    assert_int_equal(roast_metric_kind(values, ROAST_METRIC_wasted_bytes),
                     ROAST_ESTIMATED);
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles),
        cmocka_unit_test(many_chunks),
        cmocka_unit_test(bytes_of_attempts_that_do_not_count),
    };

    return cmocka_run_group_tests_name("chunk_sizes", tests, NULL, NULL);
}
