/* SPDX-License-Identifier: BSD-3-Clause */
/* test_workers.c - numbers of workers over time, what samples say of them, and where
 * the wall time went. */
#include "analyze/runs.h"
#include "analyze/totals/sweep.h"
#include "run/run.h"

/* ---- steps ----------------------------------------------------------------------- */

static void test_time_average_is_the_trapezoid(void **state)
{
    const struct roast_point points[] = {{NS(0), 1}, {NS(10), 3}, {NS(20), 3}};
    double mean = -1;

    (void)state;
    assert_true(roast_time_average(points, 3, &mean));
    assert_near(mean, 2.5);
    assert_false(roast_time_average(points, 1, &mean));
    assert_false(roast_time_average(NULL, 0, &mean));
    const struct roast_point same[] = {{5, 1}, {5, 2}};
    assert_false(roast_time_average(same, 2, &mean));
    const struct roast_point hostile[] = {{INT64_MIN, 1}, {INT64_MAX, 1}, {0, 9}};
    assert_true(roast_time_average(hostile, 3, &mean));
    assert_near(mean, 1);
}

static void test_offers_are_steps(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 2, 1, 2); /* also holds before it */
    offer(run, 4, 4, 16);
    offer(run, 8, 0, 0);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, time_avg_workers, 2);
    assert_metric(summary, peak_workers, 4);
    assert_metric(summary, total_cores, 7.2);
    assert_metric(summary, offered_thread_seconds, 72);
    assert_metric(summary, cores_per_worker, 3);
    assert_metric(summary, below_peak_seconds, 6);
    assert_metric(summary, avg_workers_simple, 5 / 3.0);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void add_count(roast_run *run, double seconds, uint64_t workers)
{
    assert_int_equal(
        roast_run_add_count(run, RUN_EPOCH_NS + NS(seconds), workers, NULL), ROAST_OK);
}

static void add_sample(roast_run *run, const char *worker, double seconds,
                       enum roast_series series, double value)
{
    roast_sample sample = {.worker = roast_str_of(worker),
                           .time_ns = RUN_EPOCH_NS + NS(seconds)};

    roast_sample_set(&sample, series, value);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

static void test_counts_are_lines(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_count(run, 0, 0);
    add_count(run, 10, 10);
    add_count(run, 20, 10);
    roast_run_finish(run, NS(20));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, time_avg_workers, 7.5);
    assert_metric(summary, avg_workers_simple, 20 / 3.0);
    assert_metric(summary, peak_workers, 10);
    assert_metric(summary, below_peak_seconds, 9);
    assert_string_equal(assert_absent(summary, total_cores),
                        "the backend does not report the threads of its workers");
    roast_summary_free(summary);
    add_sample(run, "w", 1, ROAST_SERIES_cores, 4);
    summary = summary_of(run);
    assert_metric(summary, cores_per_worker, 4);
    assert_metric(summary, total_cores, 30);
    assert_metric(summary, offered_thread_seconds, 600);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- samples --------------------------------------------------------------------- */

static void add_use(roast_run *run, uint64_t pid, double seconds, uint64_t rss,
                    double cpu)
{
    const struct roast_process_use use = {
        .pid = pid,
        .started_ticks = pid,
        .time_ns = RUN_EPOCH_NS + NS(seconds),
        .cpu_ns = (uint64_t)NS(cpu),
        .rss_bytes = rss,
        .io_known = true,
        .read_bytes = (uint64_t)(seconds * 1000),
    };
    assert_int_equal(roast_run_add_use(run, &use, NULL), ROAST_OK);
}

static void test_only_processes_that_ran_attempts_are_workers(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 2, 4);
    for (int i = 0; i < 3; i++) {
        add_use(run, 50, i, 9000, 0); /* the client */
        add_use(run, 101, i, (uint64_t)(100 * (i + 1)), i * 0.5);
    }
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, peak_memory_bytes, 9000); /* no worker is known */
    assert_metric(summary, processes_seen, 2);
    assert_metric(summary, processes_unsampled, 0);
    assert_str_is(text_at(summary, "peak_memory", 0, "worker"), "pid-50");
    assert_near(number_at(summary, "peak_memory", 0, "time"), 1700000000);
    roast_summary_free(summary);

    add_frame(run, (struct frame){.start = 1, .duration = 1, .peak_mb = 1});
    add_frame(run, (struct frame){.process = 2, .first = 1, .start = 1});
    add_frame(run, (struct frame){.process = 9, .first = 2, .start = 1, .pid = 102});
    summary = summary_of(run);
    assert_metric(summary, peak_memory_bytes, 1 << 20); /* of a chunk */
    assert_metric(summary, avg_memory_per_worker_bytes, 200);
    assert_metric(summary, avg_memory_per_worker_weighted_bytes, 200);
    assert_metric(summary, cpu_utilization_avg_percent, 25);
    assert_metric(summary, cpu_utilization_max_percent, 25);
    assert_metric(summary, disk_read_bps_avg, 1000);
    assert_metric(summary, disk_read_bps_peak, 1000);
    assert_metric(summary, avg_workers_simple, 2);
    assert_metric(summary, processes_seen, 2); /* two entries are one pid */
    assert_metric(summary, processes_unsampled, 1);
    assert_metric(summary, workers_without_limit, 1);
    assert_absent(summary, memory_utilization_avg_percent);
    assert_str_is(text_at(summary, "peak_memory", 0, "worker"), "pid-101");
    assert_int_equal(cell_at(summary, "peak_memory", 0, "time").type,
                     ROAST_CELL_ABSENT); /* between samples */
    size_t row = row_of(summary, "per_worker", "pid-101");
    assert_near(number_at(summary, "per_worker", row, "peak_memory_mb"), 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_memory_against_its_limit(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (int i = 0; i < 2; i++) {
        roast_sample sample = {.worker = roast_str_of("tcp://a:1"),
                               .time_ns = RUN_EPOCH_NS + NS(i)};
        roast_sample_set(&sample, ROAST_SERIES_memory, 100 + 100 * i);
        roast_sample_set(&sample, ROAST_SERIES_memory_limit, 400);
        roast_sample_set(&sample, ROAST_SERIES_cpu, 150);
        roast_sample_set(&sample, ROAST_SERIES_cores, 2);
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
        add_sample(run, "free", i, ROAST_SERIES_memory, 50);
    }
    roast_summary *summary = summary_of(run);
    assert_metric(summary, memory_utilization_min_percent, 25);
    assert_metric(summary, memory_utilization_avg_percent, 37.5);
    assert_metric(summary, memory_utilization_max_percent, 50);
    assert_metric(summary, workers_without_limit, 1);
    assert_metric(summary, cpu_utilization_avg_percent, 75);
    assert_metric(summary, avg_memory_per_worker_bytes, 100);
    assert_metric(summary, avg_memory_per_worker_weighted_bytes, 100);
    assert_metric(summary, processes_seen, 2);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_network_counts_once_per_machine(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (int i = 0; i < 3; i++) {
        add_sample(run, "tcp://a:1", i, ROAST_SERIES_net_read, 100);
        add_sample(run, "tcp://a:2", i, ROAST_SERIES_net_read, 100);
        add_sample(run, "tcp://b:1", i, ROAST_SERIES_net_read, i == 2 ? 70 : 10);
        add_sample(run, "tcp://b:1", i, ROAST_SERIES_spilled_disk, 5);
        add_sample(run, "tcp://c:1", i, ROAST_SERIES_disk_write, 7);
    }
    roast_summary *summary = summary_of(run);
    assert_metric(summary, net_read_bps_peak, 170);
    assert_metric(summary, net_read_bps_avg, 140);
    assert_absent(summary, net_write_bps_avg);
    assert_absent(summary, net_write_bps_peak);
    assert_metric(summary, disk_write_bps_avg, 7);
    assert_metric(summary, disk_write_bps_peak, 7);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_results_are_not_unmanaged_memory(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (int i = 0; i < 2; i++) {
        roast_sample sample = {.worker = roast_str_of("tcp://a:1"),
                               .time_ns = RUN_EPOCH_NS + NS(i)};
        roast_sample_set(&sample, ROAST_SERIES_memory, 1000);
        roast_sample_set(&sample, ROAST_SERIES_nbytes, i == 0 ? 700 : 400);
        roast_sample_set(&sample, ROAST_SERIES_spilled_memory, 300);
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    }
    add_sample(run, "tcp://b:1", 0, ROAST_SERIES_memory, 5e6);
    roast_summary *summary = summary_of(run);
    assert_metric(summary, unmanaged_memory_avg_bytes, 750);
    assert_metric(summary, unmanaged_memory_max_bytes, 900);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* A sample speaks for the time since the one before it. */
static void test_sweep_adds_workers_at_one_time(void **state)
{
    roast_run *run = run_new();
    struct roast_sweep sweep;

    (void)state;
    add_sample(run, "a", 0, ROAST_SERIES_disk_read, 1);
    add_sample(run, "b", 1, ROAST_SERIES_disk_read, 10);
    add_sample(run, "a", 2, ROAST_SERIES_disk_read, 3);
    add_sample(run, "b", 4, ROAST_SERIES_disk_read, 20);
    add_sample(run, "a", 3, ROAST_SERIES_disk_read, 5);
    const struct roast_lanes lanes = {.samples = &run->samples};
    assert_true(roast__sweep(&sweep, &lanes, ROAST_SERIES_disk_read));
    assert_true(sweep.known);
    assert_near(sweep.peak, 25);
    assert_near(sweep.mean, (2 * 3 + 1 * 5 + 3 * 20) / 4.0);
    assert_true(roast__sweep(&sweep, &lanes, ROAST_SERIES_net_read));
    assert_false(sweep.known);
    roast_run_free(run);
}

static void test_sweep_of_one_time_and_of_a_clock_set_back(void **state)
{
    roast_run *run = run_new();
    struct roast_sweep sweep;

    (void)state;
    add_sample(run, "a", 5, ROAST_SERIES_disk_read, 3);
    add_sample(run, "b", 5, ROAST_SERIES_disk_read, 4);
    const struct roast_lanes lanes = {.samples = &run->samples};
    assert_true(roast__sweep(&sweep, &lanes, ROAST_SERIES_disk_read));
    assert_near(sweep.mean, 7);
    assert_near(sweep.peak, 7);
    add_sample(run, "a", 1, ROAST_SERIES_disk_read, 9);
    assert_true(roast__sweep(&sweep, &lanes, ROAST_SERIES_disk_read));
    assert_near(sweep.peak, 9);
    roast_run_free(run);
}

/* ---- workers that no record names -------------------------------------------------- */

/* Records of 0.1.2 do not say who made them: they are nobody's process of their own. */
static void test_sampled_workers_have_rows(void **state)
{
    for (int whose = 0; whose <= 1; whose++) {
        roast_run *run = run_new();
        roast_record rec = {.kind = ROAST_FRAME_CHUNK};
        char bytes[256];
        (void)state;
        add_sample(run, "tcp://a:1", 1, ROAST_SERIES_memory, 2 << 20);
        add_sample(run, "tcp://b:2", 1, ROAST_SERIES_memory, 3 << 20);
        roast_record_set_u64(&rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
        int64_t size = roast_record_encode(bytes, sizeof(bytes), &rec, NULL);
        if (whose == 0)
            assert_int_equal(roast_run_add_frames(run, str_from(bytes, (size_t)size),
                                                  ROAST_FROM_USER, NULL, NULL),
                             ROAST_OK);
        else
            add_frame(run, (struct frame){.stop = 1, .worker = "tcp://a:1"});
        roast_run_finish(run, NS(5));
        roast_summary *summary = summary_of(run);
        assert_metric(summary, processes_seen, 2);
        assert_metric(summary, processes_unsampled, 0);
        size_t row = row_of(summary, "per_worker", "tcp://b:2");
        assert_near(number_at(summary, "per_worker", row, "peak_memory_mb"), 3);
        if (whose == 0)
            assert_int_equal(cell_at(summary, "per_worker", row, "num_chunks").type,
                             ROAST_CELL_ABSENT);
        else
            assert_near(number_at(summary, "per_worker", row, "num_chunks"), 0);
        assert_int_equal(rows_of(summary, "per_worker"), whose == 0 ? 3 : 2);
        roast_summary_free(summary);
        roast_run_free(run);
    }
}

/* ---- wall account ---------------------------------------------------------------- */

static void assert_wall(const roast_summary *summary, const double *parts)
{
    static const char *const names[] = {
        "wait_first_worker", "client", "preprocess", "chunks", "tail", "merge"};
    double sum = 0;

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        double part = number_at(summary, "wall_account", 0, names[i]);
        assert_near(part, parts[i]);
        assert_true(part >= 0);
        sum += part;
    }
    assert_metric(summary, wall_time, sum);
}

static roast_run *run_with_marks(uint64_t workers)
{
    roast_run *run = run_new();

    offer(run, 0, workers, workers);
    mark(run, ROAST_MARK_RUN_BEGIN, 1);
    mark(run, ROAST_MARK_PREPROCESS_BEGIN, 2);
    mark(run, ROAST_MARK_PREPROCESS_END, 4);
    mark(run, ROAST_MARK_RUN_END, 18);
    roast_run_finish(run, NS(20));
    return run;
}

static void test_wall_without_attempts_is_the_clients(void **state)
{
    roast_run *run = run_with_marks(2);
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_wall(summary, (const double[]){0, 18, 2, 0, 0, 0});
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Two threads: 5-9 and 5-10, then 9-12 and 10-15; from 12 on one of them is idle. */
static void test_wall_with_a_tail(void **state)
{
    for (uint64_t workers = 1; workers <= 2; workers++) {
        roast_run *run = run_with_marks(workers);
        static const double spans[][2] = {{5, 9}, {5, 10}, {9, 12}, {10, 15}, {0.5, 9}};
        (void)state;
        for (size_t i = 0; i < COUNT_OF(spans); i++)
            add_frame(run, (struct frame){.first = i,
                                          .stop = i + 1,
                                          .start = spans[i][0],
                                          .duration = spans[i][1] - spans[i][0]});
        roast_summary *summary = summary_of(run);
        if (workers == 1)
            assert_wall(summary, (const double[]){0, 5, 2, 10, 0, 3});
        else
            assert_wall(summary, (const double[]){0, 4, 2, 8, 3, 3});
        roast_summary_free(summary);
        roast_run_free(run);
    }
}

static void test_wall_of_a_call_that_was_not_left(void **state)
{
    roast_run *run = run_new();

    (void)state;
    mark(run, ROAST_MARK_RUN_BEGIN, 1);
    mark(run, ROAST_MARK_PREPROCESS_BEGIN, 1);
    mark(run, ROAST_MARK_RUN_BEGIN, 5);
    add_frame(run, (struct frame){.start = 6, .duration = 100});
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_wall(summary, (const double[]){0, 2, 4, 4, 0, 0});
    roast_summary_free(summary);
    roast_run_free(run);
}

/* What is after the last sign of a chunk is no merge where none can have been. */
static void test_wall_of_a_call_that_gave_no_output(void **state)
{
    for (int outputs = 0; outputs <= 1; outputs++) {
        roast_run *run = run_with_marks(2);
        (void)state;
        roast_run_set_fact(run, ROAST_FACT_runner_calls, 1);
        roast_run_set_fact(run, ROAST_FACT_runner_outputs, outputs);
        add_frame(run, (struct frame){.stop = 1, .start = 5, .duration = 4});
        add_frame(run,
                  (struct frame){.first = 1, .stop = 2, .start = 6, .duration = 8});
        roast_summary *summary = summary_of(run);
        assert_wall(summary, outputs ? (const double[]){0, 4, 2, 5, 5, 4}
                                     : (const double[]){0, 4, 2, 9, 5, 0});
        roast_summary_free(summary);
        roast_run_free(run);
    }
}

static void test_wall_of_a_run_that_goes_on_has_no_merge(void **state)
{
    roast_run *run = run_new();

    (void)state;
    mark(run, ROAST_MARK_RUN_BEGIN, 1);
    add_frame(run, (struct frame){.stop = 1, .start = 2, .duration = 4});
    add_sample(run, "a", 9, ROAST_SERIES_disk_read, 1);
    roast_summary *summary = summary_of(run);
    assert_wall(summary, (const double[]){0, 2, 0, 7, 0, 0});
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_average_is_the_trapezoid),
        cmocka_unit_test(test_offers_are_steps),
        cmocka_unit_test(test_counts_are_lines),
        cmocka_unit_test(test_only_processes_that_ran_attempts_are_workers),
        cmocka_unit_test(test_memory_against_its_limit),
        cmocka_unit_test(test_network_counts_once_per_machine),
        cmocka_unit_test(test_results_are_not_unmanaged_memory),
        cmocka_unit_test(test_sweep_adds_workers_at_one_time),
        cmocka_unit_test(test_sweep_of_one_time_and_of_a_clock_set_back),
        cmocka_unit_test(test_sampled_workers_have_rows),
        cmocka_unit_test(test_wall_without_attempts_is_the_clients),
        cmocka_unit_test(test_wall_with_a_tail),
        cmocka_unit_test(test_wall_of_a_call_that_was_not_left),
        cmocka_unit_test(test_wall_of_a_call_that_gave_no_output),
        cmocka_unit_test(test_wall_of_a_run_that_goes_on_has_no_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
