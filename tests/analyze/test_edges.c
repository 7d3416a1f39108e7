/* SPDX-License-Identifier: BSD-3-Clause */
/* test_edges.c - runs that lack something, and pools that change: every metric has a
 * valid value or a reason, and the main ones are right. */
#include "activities.h"
#include "blobs.h"
#include "invariants.h"

#define assert_why(summary, id, why) \
    assert_string_equal(assert_absent(summary, id), why)

static const char *const no_executor = "no executor was recorded";

/* ---- pools ----------------------------------------------------------------------- */

static void join_with(roast_run *run, const char *worker, double seconds,
                      uint64_t threads)
{
    const struct roast_member member = {
        .worker = roast_str_of(worker),
        .host = roast_str_of("node"),
        .joined_ns = at(seconds),
        .pid = 4321,
        .threads = threads,
    };
    assert_int_equal(roast_run_add_member(run, &member, NULL), ROAST_OK);
}

/* 2 threads for 10 s, and 8 more from 4 s to 8 s. N / W is 2, 5 and 2. */
static void test_workers_of_different_sizes_that_come_and_go(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join_with(run, "tcp://small:1", 0, 2);
    join_with(run, "tcp://large:1", 4, 8);
    leave_for(run, "tcp://large:1", 8, NULL);
    roast_run_set_fact(run, ROAST_FACT_report_events, 5200);
    roast_run_set_fact(run, ROAST_FACT_report_process_seconds, 26);
    roast_run_finish(run, NS(10));
    roast_summary *summary = checked_summary_of(run);
    assert_metric(summary, time_avg_workers, 1.4);      /* (10 + 4) / 10 */
    assert_metric(summary, total_cores, 5.2);           /* (20 + 32) / 10 */
    assert_metric(summary, offered_thread_seconds, 52); /* 20 + 32 */
    assert_metric(summary, cores_per_worker, 3.2);      /* (8 + 20 + 4) / 10 */
    assert_metric(summary, peak_workers, 2);
    assert_metric(summary, below_peak_seconds, 6);
    assert_metric(summary, event_rate_core_hz, 100); /* 5200 / (10 x 5.2) */
    assert_metric(summary, cpu_efficiency, 0.5);     /* 26 / (10 x 5.2) */
    assert_metric(summary, num_lost_workers, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Nobody is there at first: threads per worker are those of the time with workers. */
static void test_a_pool_that_was_empty(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 0, 0);
    offer(run, 5, 2, 6);
    roast_run_finish(run, NS(10));
    roast_summary *summary = checked_summary_of(run);
    assert_metric(summary, time_avg_workers, 1);
    assert_metric(summary, cores_per_worker, 3);
    assert_metric(summary, total_cores, 3);
    roast_summary_free(summary);
    roast_run_free(run);

    run = run_new();
    offer(run, 0, 0, 0);
    roast_run_set_fact(run, ROAST_FACT_report_process_seconds, 26);
    roast_run_finish(run, NS(10));
    summary = checked_summary_of(run);
    assert_metric(summary, total_cores, 0); /* known to be none */
    assert_absent(summary, cores_per_worker);
    assert_why(summary, cpu_efficiency, "its divisor is zero");
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- what is not there ----------------------------------------------------------- */

/* Two chunks of 4 s in 10 s; what coffea reports is for the caller. */
static roast_run *run_of_two(bool bytes_known)
{
    roast_run *run = run_new();

    for (uint64_t i = 0; i < 2; i++)
        add_frame(run, (struct frame){.first = 100 * i,
                                      .stop = 100 * i + 100,
                                      .events = 100,
                                      .start = 1 + 4 * (double)i,
                                      .duration = 4,
                                      .cpu = 3,
                                      .bytes_known = bytes_known,
                                      .bytes = 5000});
    roast_run_finish(run, NS(10));
    return run;
}

static void test_without_report(void **state)
{
    roast_run *run = run_of_two(true);

    (void)state;
    offer(run, 0, 2, 2);
    roast_summary *summary = checked_summary_of(run);
    assert_metric(summary, total_events, 200);
    assert_metric(summary, total_bytes_read, 10000);
    assert_metric(summary, num_chunks, 2);
    assert_metric(summary, total_cpu_time, 8);
    assert_metric(summary, cpu_efficiency, 0.4);
    assert_metric(summary, data_rate_mbps, 0.001);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_without_workers(void **state)
{
    roast_run *run = run_of_two(true);
    roast_summary *summary = checked_summary_of(run);

    (void)state;
    assert_metric(summary, speedup, 0.8);
    assert_metric(summary, event_rate_wall_khz, 0.02);
    assert_why(summary, total_cores, no_executor);
    assert_why(summary, event_rate_core_hz, no_executor);
    assert_why(summary, cpu_efficiency, no_executor);
    assert_why(summary, io_wait_share, no_executor);
    assert_why(summary, unexplained_percent, no_executor);
    assert_why(summary, peak_memory_bytes, "no worker was sampled");
    (void)row_of(summary, "unavailable", "budget");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_without_chunks(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 2, 4);
    roast_run_set_fact(run, ROAST_FACT_runner_calls, 1);
    roast_run_set_fact(run, ROAST_FACT_report_events, 1000);
    roast_run_set_fact(run, ROAST_FACT_report_bytes, 2e6);
    roast_run_set_fact(run, ROAST_FACT_report_process_seconds, 20);
    roast_run_set_fact(run, ROAST_FACT_report_chunks, 8);
    roast_run_finish(run, NS(10));
    roast_summary *summary = checked_summary_of(run);
    assert_metric(summary, event_rate_agg_khz, 0.05);
    assert_metric(summary, avg_cpu_time_per_chunk, 2.5);
    assert_metric(summary, cpu_efficiency, 0.5);
    assert_why(summary, num_attempts, "no chunk was started");
    assert_why(summary, chunk_duration_mean,
               "process() is not decorated with @track_metrics");
    assert_absent(summary, num_failed_chunks);
    assert_absent(summary, wasted_thread_seconds);
    assert_absent(summary, cpu_time_seconds);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_nothing_but_time(void **state)
{
    roast_run *run = run_new();

    (void)state;
    roast_run_finish(run, 0);
    roast_summary *summary = checked_summary_of(run);
    assert_metric(summary, wall_time, 0);
    assert_absent(summary, event_rate_wall_khz);
    roast_summary_free(summary);
    offer(run, 0, 2, 4);
    roast_run_set_fact(run, ROAST_FACT_report_events, 10);
    summary = checked_summary_of(run);
    assert_why(summary, event_rate_wall_khz, "its divisor is zero");
    assert_why(summary, time_avg_workers, "the run lasted 0 s");
    roast_summary_free(summary);
    roast_run_finish(run, NS(3));
    summary = checked_summary_of(run);
    assert_metric(summary, offered_thread_seconds, 12);
    assert_why(summary, speedup, assert_absent(summary, total_cpu_time));
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_chunks_that_all_failed(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    add_frame(run, (struct frame){.stop = 100,
                                  .status = ROAST_CHUNK_FAILED,
                                  .start = 1,
                                  .duration = 3,
                                  .error_type = "OSError"});
    roast_run_finish(run, NS(10));
    roast_summary *summary = checked_summary_of(run);
    assert_metric(summary, num_failed_chunks, 1);
    assert_metric(summary, wasted_thread_seconds, 3);
    assert_why(summary, chunk_duration_mean, "no chunk was successful");
    assert_why(summary, total_events, "no chunk was successful");
    assert_why(summary, event_rate_wall_khz, "no chunk was successful");
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- what cannot be told --------------------------------------------------------- */

/* A parquet file says nothing of its bytes; the columns that were read are known. */
static void test_parquet(void **state)
{
    const struct roast_file_facts facts = {.kind = ROAST_FILE_PARQUET, .branches = 8};
    const struct roast_branch column = {
        .name = roast_str_of("Jet_pt"), .flags = ROAST_BRANCH_DATA, .reads = 1};
    struct roast_ladder ladder = {0};
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    add_frame(run, (struct frame){.sequence = 1,
                                  .file = "a.parquet",
                                  .stop = 100,
                                  .events = 100,
                                  .start = 2,
                                  .duration = 4,
                                  .cpu = 3,
                                  .branches = branches_blob(&column, 1),
                                  .file_facts = facts_blob(&facts)});
    roast_ladder_set(&ladder, ROAST_ITEM_form, (uint64_t)NS(1));
    add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                  .sequence = 1,
                                  .task_start = 1,
                                  .task = 5,
                                  .task_cpu = 4,
                                  .ladder = ladder_blob(&ladder)});
    roast_run_finish(run, NS(10));
    roast_summary *summary = checked_summary_of(run);
    const char *why = "parquet reads are not counted";
    assert_why(summary, total_bytes_read, why);
    assert_why(summary, data_rate_gbps, why);
    assert_why(summary, open_bytes, why);
    assert_absent(summary, avg_bytes_read_percent);
    assert_metric(summary, avg_branches_read_percent, 12.5); /* 1 of 8 */
    assert_metric(summary, total_branches_read, 1);
    assert_metric(summary, event_rate_wall_khz, 0.01);
    assert_metric(summary, task_seconds, 5);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Rates of a process need two looks at it, its memory one. */
static void test_a_single_sample_of_each_worker(void **state)
{
    roast_run *run = run_of_two(true);
    const struct roast_process_use use = {.pid = 101,
                                          .started_ticks = 7,
                                          .time_ns = at(3),
                                          .cpu_ns = (uint64_t)NS(2),
                                          .rss_bytes = 300,
                                          .io_known = true,
                                          .read_bytes = 4096};

    (void)state;
    offer(run, 0, 1, 1);
    assert_int_equal(roast_run_add_use(run, &use, NULL), ROAST_OK);
    roast_summary *summary = checked_summary_of(run);
    assert_metric(summary, peak_memory_bytes, 300);
    assert_metric(summary, avg_memory_per_worker_bytes, 300);
    assert_metric(summary, avg_memory_per_worker_weighted_bytes, 300);
    assert_metric(summary, avg_workers_simple, 1);
    assert_why(summary, cpu_utilization_avg_percent,
               "CPU utilization needs two samples of a worker");
    assert_why(summary, disk_read_bps_avg,
               "the samples have no disk traffic, which needs two samples of a worker");
    assert_absent(summary, memory_utilization_max_percent);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* One count has no length, and is all there is. */
static void test_a_single_count_of_workers(void **state)
{
    roast_run *run = run_of_two(true);

    (void)state;
    assert_int_equal(roast_run_add_count(run, at(5), 3, NULL), ROAST_OK);
    roast_summary *summary = checked_summary_of(run);
    assert_metric(summary, time_avg_workers, 3);
    assert_metric(summary, peak_workers, 3);
    assert_why(summary, total_cores,
               "the backend does not report the threads of its workers");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_single_chunk_has_no_spread(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.stop = 10,
                                  .events = 10,
                                  .start = 1,
                                  .duration = 2,
                                  .before_mb = 10,
                                  .after_mb = 8});
    roast_run_finish(run, NS(4));
    roast_summary *summary = checked_summary_of(run);
    assert_metric(summary, chunk_duration_p99, 2);
    assert_metric(summary, chunk_mem_delta_max_mb, -2);
    assert_why(summary, chunk_duration_std, "a standard deviation needs two chunks");
    assert_absent(summary, chunk_mem_delta_std_mb);
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers_of_different_sizes_that_come_and_go),
        cmocka_unit_test(test_a_pool_that_was_empty),
        cmocka_unit_test(test_without_report),
        cmocka_unit_test(test_without_workers),
        cmocka_unit_test(test_without_chunks),
        cmocka_unit_test(test_nothing_but_time),
        cmocka_unit_test(test_chunks_that_all_failed),
        cmocka_unit_test(test_parquet),
        cmocka_unit_test(test_a_single_sample_of_each_worker),
        cmocka_unit_test(test_a_single_count_of_workers),
        cmocka_unit_test(test_a_single_chunk_has_no_spread),
    };
    return cmocka_run_group_tests_name("analyze/edges", tests, NULL, NULL);
}
