/* SPDX-License-Identifier: BSD-3-Clause */
/* test_summary.c - a whole run: its numbers, its reasons, and that neither hostile
 * numbers nor an empty run upset it. */
#include "runs.h"

static void test_an_empty_run_has_all_reasons(void **state)
{
    roast_run *run = run_new();
    roast_summary *summary = summary_of(run);
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    (void)state;
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        if (values->known[i] || !values->why[i])
            fail_msg("%s", roast_metric_info((enum roast_metric)i)->name);
    }
    assert_string_equal(assert_absent(summary, total_bytes_read),
                        "no call of coffea's Runner was recorded");
    assert_string_equal(assert_absent(summary, chunk_duration_mean),
                        "no call of coffea's Runner was recorded");
    assert_string_equal(assert_absent(summary, peak_workers),
                        "no executor was recorded");
    assert_string_equal(assert_absent(summary, net_read_bps_avg),
                        "only available on Dask");
    assert_int_equal(rows_of(summary, "wall_account"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Two datasets, three chunks of 2 s, 4 s and 6 s in 10 s. */
static roast_run *small_run(void)
{
    roast_run *run = run_new();

    offer(run, 0, 2, 4);
    add_frame(run, (struct frame){.stop = 100,
                                  .events = 100,
                                  .start = 1,
                                  .duration = 2,
                                  .cpu = 1,
                                  .before_mb = 10,
                                  .after_mb = 14,
                                  .peak_mb = 20,
                                  .bytes_known = true,
                                  .bytes = 3000,
                                  .bytes_before = 1000,
                                  .monitor = 0.25});
    add_frame(run, (struct frame){.first = 100,
                                  .stop = 200,
                                  .events = 300,
                                  .start = 3,
                                  .duration = 4,
                                  .cpu = 4,
                                  .before_mb = 14,
                                  .after_mb = 12,
                                  .peak_mb = 30,
                                  .bytes_known = true,
                                  .bytes = 4000,
                                  .monitor = 0.25});
    add_frame(run, (struct frame){.dataset = "wjets",
                                  .file = "b.root",
                                  .stop = 50,
                                  .events = 200,
                                  .start = 2,
                                  .duration = 6,
                                  .cpu = 3,
                                  .process = 2,
                                  .bytes_known = true,
                                  .bytes = 2000,
                                  .monitor_errors = 3});
    roast_run_finish(run, NS(10));
    return run;
}

static void test_workflow_of_records(void **state)
{
    roast_run *run = small_run();
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_metric(summary, wall_time, 10);
    assert_metric(summary, total_events, 600);
    assert_metric(summary, total_bytes_read, 10000);
    assert_metric(summary, num_chunks, 3);
    assert_metric(summary, num_chunks_processed, 3);
    assert_metric(summary, total_cpu_time, 12);
    assert_metric(summary, cpu_seconds, 8);
    assert_metric(summary, data_rate_gbps, 8e-6);
    assert_metric(summary, data_rate_mbps, 1e-3);
    assert_metric(summary, event_rate_wall_khz, 0.06);
    assert_metric(summary, event_rate_agg_khz, 0.05);
    assert_metric(summary, event_rate_core_hz, 15);
    assert_metric(summary, avg_cpu_time_per_chunk, 4);
    assert_metric(summary, data_rate_gbps_best_10s, 8e-6);
    assert_absent(summary, data_rate_gbps_best_60s);
    assert_absent(summary, data_rate_gbps_best_300s);
    assert_metric(summary, event_rate_khz_best_10s, 0.06);
    assert_string_equal(assert_absent(summary, event_rate_khz_best_60s),
                        "the run was shorter than the interval");
    assert_absent(summary, event_rate_khz_best_300s);
    assert_metric(summary, monitor_seconds, 0.5);
    assert_metric(summary, monitor_errors, 3);
    assert_absent(summary, task_seconds);
    assert_absent(summary, tree_cpu_seconds);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_chunk_statistics(void **state)
{
    roast_run *run = small_run();
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_metric(summary, num_attempts, 3);
    assert_metric(summary, num_successful_chunks, 3);
    assert_metric(summary, num_failed_chunks, 0);
    assert_metric(summary, wasted_thread_seconds, 0);
    assert_metric(summary, chunk_duration_mean, 4);
    assert_metric(summary, chunk_duration_min, 2);
    assert_metric(summary, chunk_duration_max, 6);
    assert_metric(summary, chunk_duration_std, 2);
    assert_metric(summary, chunk_duration_p50, 4);
    assert_metric(summary, chunk_duration_p90, 5.6);
    assert_metric(summary, chunk_mem_delta_mean_mb, 1);
    assert_metric(summary, chunk_mem_delta_min_mb, -2);
    assert_metric(summary, chunk_mem_delta_max_mb, 4);
    assert_metric(summary, chunk_mem_delta_std_mb, sqrt(18));
    assert_metric(summary, chunk_mem_peak_max_mb, 30);
    assert_metric(summary, chunk_events_mean, 200);
    assert_metric(summary, chunk_events_min, 100);
    assert_metric(summary, chunk_events_max, 300);
    assert_metric(summary, total_events_from_chunks, 600);
    assert_metric(summary, time_per_event_mean_us, 20000);
    assert_metric(summary, time_per_event_p50_us, 20000);
    assert_metric(summary, memory_per_event_mean_bytes, 2.0 * 1048576 / 400);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_efficiency(void **state)
{
    roast_run *run = small_run();
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_metric(summary, cpu_time_seconds, 8);
    assert_metric(summary, io_time_seconds, 4);
    assert_metric(summary, processor_cpu_percentage, 100 * 8 / 12.0);
    assert_metric(summary, processor_noncpu_percentage, 100 * 4 / 12.0);
    assert_metric(summary, cpu_efficiency, 12 / 40.0);
    assert_metric(summary, cpu_efficiency_fine, 8 / 40.0);
    assert_metric(summary, speedup, 1.2);
    assert_metric(summary, io_overhead_pct, 40);
    assert_metric(summary, io_wait_share, 0.1);
    assert_metric(summary, efficiency_ratio_percent, 120);
    assert_metric(summary, parallel_efficiency, 0.3);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_the_report_of_coffea_comes_first(void **state)
{
    roast_run *run = small_run();

    (void)state;
    roast_run_set_fact(run, ROAST_FACT_processed_events, 5);
    roast_run_set_fact(run, ROAST_FACT_report_events, 1000);
    roast_run_set_fact(run, ROAST_FACT_report_bytes, 77);
    roast_run_set_fact(run, ROAST_FACT_report_process_seconds, 20);
    roast_run_set_fact(run, ROAST_FACT_processed_chunks, 8);
    roast_run_set_fact(run, ROAST_FACT_own_cpu_seconds, 3);
    roast_run_set_fact(run, ROAST_FACT_children_cpu_seconds, 4);
    roast_run_set_fact(run, ROAST_FACT_span_cpu_seconds, 9);
    roast_run_set_fact(run, ROAST_FACT_monitor_errors, 2);
    roast_summary *summary = summary_of(run);
    assert_metric(summary, total_events, 1000);
    assert_metric(summary, total_bytes_read, 77);
    assert_metric(summary, total_cpu_time, 20);
    assert_metric(summary, num_chunks, 8);
    assert_metric(summary, num_chunks_processed, 3);
    assert_metric(summary, total_events_from_chunks, 600);
    assert_metric(summary, tree_cpu_seconds, 7);
    assert_metric(summary, cpu_time_seconds, 9);
    assert_metric(summary, io_time_seconds, 4);
    assert_metric(summary, processor_cpu_time_seconds, 8);
    assert_metric(summary, monitor_errors, 5);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_sum_needs_every_chunk(void **state)
{
    roast_run *run = small_run();

    (void)state;
    add_frame(run, (struct frame){.first = 500, .stop = 600, .start = 5});
    roast_summary *summary = summary_of(run);
    assert_absent(summary, total_events);
    assert_string_equal(
        assert_absent(summary, total_bytes_read),
        "the bytes of some chunks are not known"); /* and no file is parquet */
    assert_absent(summary, total_cpu_time);
    assert_absent(summary, data_rate_gbps);
    assert_string_equal(assert_absent(summary, event_rate_wall_khz),
                        "the number of events of some chunks is not known");
    assert_metric(summary, num_chunks, 4);
    assert_metric(summary, total_events_from_chunks, 600);
    assert_metric(summary, chunk_duration_mean, 4);
    roast_summary_free(summary);
    static const unsigned char absences[] = {29, ROAST_WHY_NOT_GIVEN}; /* bytes_read */
    add_frame(run, (struct frame){.first = 600,
                                  .stop = 700,
                                  .start = 6,
                                  .absences = str_from(absences, sizeof(absences))});
    summary = summary_of(run);
    assert_string_equal(
        assert_absent(summary, total_bytes_read),
        "the events of some chunks do not count the bytes that were read");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_open_run_ends_where_it_was_last_seen(void **state)
{
    roast_run *run = run_new();

    (void)state;
    mark(run, ROAST_MARK_RUN_BEGIN, 1);
    roast_summary *summary = summary_of(run);
    assert_metric(summary, wall_time, 1);
    roast_summary_free(summary);
    add_frame(run, (struct frame){.stop = 10, .events = 10, .start = 2, .duration = 3});
    summary = summary_of(run);
    assert_metric(summary, wall_time, 5);
    assert_metric(summary, event_rate_wall_khz, 0.002);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_summary_does_not_change_with_the_run(void **state)
{
    roast_run *run = small_run();
    roast_summary *summary = summary_of(run);

    (void)state;
    add_frame(run, (struct frame){.dataset = "new", .start = 1, .events = 7});
    roast_run_free(run);
    assert_int_equal(rows_of(summary, "per_dataset"), 2);
    assert_str_is(text_at(summary, "per_dataset", 0, "dataset"), "ttbar");
    assert_metric(summary, total_events, 600);
    roast_summary_free(summary);
}

static void test_hostile_numbers(void **state)
{
    static const uint64_t odd[] = {0, 1, INT64_MAX, UINT64_MAX, UINT64_C(1) << 62};
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, UINT64_MAX, UINT64_MAX);
    offer(run, 1, 1, 0);
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    for (size_t i = 0; i < 3 * COUNT_OF(odd) * COUNT_OF(odd); i++) {
        uint64_t a = odd[i % COUNT_OF(odd)];
        uint64_t b = odd[i / COUNT_OF(odd) % COUNT_OF(odd)];
        roast_record rec = {.kind = ROAST_FRAME_CHUNK};
        unsigned char identity[ROAST_IDENTITY_BYTES];
        struct roast_identity id = {
            .run_id = {1}, .process_id = a, .sequence = (uint32_t)i};
        char bytes[512];
        roast_identity_pack(identity, &id);
        roast_record_set_str(&rec, ROAST_FIELD_identity,
                             str_from(identity, sizeof(identity)));
        roast_record_set_u64(&rec, ROAST_FIELD_status, i % 4);
        roast_record_set_i64(&rec, ROAST_FIELD_start_mono_ns, (int64_t)a);
        roast_record_set_i64(&rec, ROAST_FIELD_start_epoch_ns, INT64_MIN);
        set_text(&rec, ROAST_FIELD_file, "f", NULL);
        for (int field = 0; field < ROAST_FIELD_COUNT; field++) {
            enum roast_field own = (enum roast_field)field;
            if (roast_field_info(own)->type == ROAST_TYPE_U64 &&
                own != ROAST_FIELD_status)
                roast_record_set_u64(&rec, own, field % 2 ? a : b);
        }
        int64_t size = roast_record_encode(bytes, sizeof(bytes), &rec, NULL);
        assert_true(size > 0);
        (void)roast_run_add_frames(run, str_from(bytes, (size_t)size), ROAST_FROM_USER,
                                   NULL, NULL);
    }
    for (int finished = 0; finished < 2; finished++) {
        roast_summary *summary = summary_of(run);
        const struct roast_metric_values *values = roast_summary_metrics(summary);
        for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
            assert_true(values->known[i] == !values->why[i]);
            assert_true(!values->known[i] || isfinite(values->value[i]));
        }
        roast_summary_free(summary);
        roast_run_finish(run, INT64_MAX);
    }
    roast_run_free(run);
}

static void test_lists_are_whole(void **state)
{
    size_t count;
    const struct roast_metric_alias *aliases = roast_metric_aliases(&count);

    (void)state;
    assert_string_equal(roast_metric_info(ROAST_METRIC_wall_time)->name, "wall_time");
    assert_string_equal(roast_metric_info(ROAST_METRIC_speedup)->level, "efficiency");
    for (size_t i = 0; i < count; i++) {
        assert_true(aliases[i].per > 0);
        for (int k = 0; k < ROAST_METRIC_COUNT; k++)
            assert_string_not_equal(aliases[i].alias,
                                    roast_metric_info((enum roast_metric)k)->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_run_has_all_reasons),
        cmocka_unit_test(test_workflow_of_records),
        cmocka_unit_test(test_chunk_statistics),
        cmocka_unit_test(test_efficiency),
        cmocka_unit_test(test_the_report_of_coffea_comes_first),
        cmocka_unit_test(test_a_sum_needs_every_chunk),
        cmocka_unit_test(test_open_run_ends_where_it_was_last_seen),
        cmocka_unit_test(test_a_summary_does_not_change_with_the_run),
        cmocka_unit_test(test_hostile_numbers),
        cmocka_unit_test(test_lists_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
