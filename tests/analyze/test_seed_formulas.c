/* SPDX-License-Identifier: BSD-3-Clause */
/* test_seed_formulas.c - every formula of the documents that users follow, on one run
 * whose numbers were worked out by hand.
 *
 * What has an exact result must be that very double; where a root or a third is in it the
 * last digits are free. Five chunks in 50 s on a cluster that only counts its workers. */
#include "activities.h"
#include "reads.h"

#define assert_exact(summary, id, value) \
    check_exact((summary), ROAST_METRIC_##id, (value), __FILE__, __LINE__)

static void check_exact(const roast_summary *summary, enum roast_metric metric,
                        double value, const char *file, int line)
{
    check_metric(summary, metric, value, file, line);
    if (roast_summary_metrics(summary)->value[metric] == value)
        return;
    print_error("%s is %.17g, not %.17g\n", roast_metric_info(metric)->name,
                roast_summary_metrics(summary)->value[metric], value);
    _fail(file, line);
}

/* ---- the example ----------------------------------------------------------------- */

enum { CHUNKS = 5 };

/* Seconds add up to 125, events to 1 250 000, memory deltas to 40 MiB. */
static const struct {
    const char *dataset, *file;
    uint64_t first, stop;
    double start, seconds;
    uint64_t before_mb, after_mb;
} chunks[CHUNKS] = {
    {"ttbar", "a.root", 0, 200000, 0, 10, 100, 104},
    {"ttbar", "a.root", 200000, 300000, 0, 20, 104, 102},
    {"ttbar", "a.root", 300000, 500000, 10, 20, 102, 108},
    {"wjets", "b.root", 0, 250000, 20, 25, 108, 108},
    {"wjets", "b.root", 250000, 750000, 0, 50, 108, 140},
};

static void add_chunks(roast_run *run)
{
    struct roast_branch in_a[] = {branch("Jet_pt", DATA, 100, 300),
                                  branch("nJet", OFFSETS, 10, 20),
                                  branch("Muon_pt", DATA, 40, 80)};
    struct roast_branch in_b[] = {branch("Jet_pt", DATA, 50, 125)};
    struct roast_file_facts b = ttree; /* a: 8 branches, 1000 bytes of 2500 */
    struct roast_str facts[2] = {facts_blob(&ttree)};
    struct roast_str branches[2] = {branches_blob(in_a, 3), branches_blob(in_b, 1)};

    b.branches = 4;
    b.compressed_bytes = 500;
    b.uncompressed_bytes = 2000;
    facts[1] = facts_blob(&b);
    for (size_t i = 0; i < CHUNKS; i++) {
        bool of_b = strcmp(chunks[i].file, "b.root") == 0;
        add_frame(run, (struct frame){.dataset = chunks[i].dataset,
                                      .file = chunks[i].file,
                                      .first = chunks[i].first,
                                      .stop = chunks[i].stop,
                                      .events = chunks[i].stop - chunks[i].first,
                                      .start = chunks[i].start,
                                      .duration = chunks[i].seconds,
                                      .before_mb = chunks[i].before_mb,
                                      .after_mb = chunks[i].after_mb,
                                      .branches = branches[of_b],
                                      .file_facts = facts[of_b]});
    }
}

static void add_process_sample(roast_run *run, const char *worker, double seconds,
                               double memory, double limit, double cpu)
{
    roast_sample sample = {.worker = roast_str_of(worker), .time_ns = at(seconds)};

    roast_sample_set(&sample, ROAST_SERIES_memory, memory);
    roast_sample_set(&sample, ROAST_SERIES_memory_limit, limit);
    roast_sample_set(&sample, ROAST_SERIES_cpu, cpu);
    roast_sample_set(&sample, ROAST_SERIES_cores, 4);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

static void add_workers(roast_run *run)
{
    static const struct {
        double seconds;
        uint64_t workers;
    } counts[] = {{0, 1}, {20, 3}, {40, 3}, {50, 2}};

    for (size_t i = 0; i < COUNT_OF(counts); i++)
        assert_int_equal(
            roast_run_add_count(run, at(counts[i].seconds), counts[i].workers, NULL),
            ROAST_OK);
    add_process_sample(run, "tcp://a:1", 10, 1e9, 4e9, 100);
    add_process_sample(run, "tcp://a:1", 30, 3e9, 4e9, 300);
    add_process_sample(run, "tcp://b:1", 10, 2e9, 8e9, 200);
    add_process_sample(run, "tcp://b:1", 30, 6e9, 8e9, 400);
}

static void add_spans(roast_run *run)
{
    static const struct {
        const char *prefix, *activity;
        double seconds;
    } sums[] = {
        {"TtbarProcessor", "thread-cpu", 100}, {"TtbarProcessor", "thread-noncpu", 25},
        {"reduce", "thread-cpu", 10},          {"reduce", "thread-noncpu", 5},
        {"TtbarProcessor", "compress", 1.5},   {"reduce", "decompress", 0.25},
        {"TtbarProcessor", "serialize", 0.5},  {"reduce", "deserialize", 0.125},
    };

    for (size_t i = 0; i < COUNT_OF(sums); i++)
        count_seconds(run, sums[i].prefix, sums[i].activity, sums[i].seconds);
    count_activity(run, "execute", "reduce", "memory-read", "bytes", 123456789);
    count_activity(run, "execute", "reduce", "disk-read", "bytes", 1000);
    count_activity(run, "execute", "reduce", "disk-write", "bytes", 2000);
}

static roast_summary *example(void)
{
    roast_run *run = run_new();

    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_run, roast_str_of("processor"),
                                        roast_str_of("TtbarProcessor"), NULL),
                     ROAST_OK);
    roast_run_set_fact(run, ROAST_FACT_report_bytes, 4e9);
    roast_run_set_fact(run, ROAST_FACT_report_events, 1250000);
    roast_run_set_fact(run, ROAST_FACT_report_process_seconds, 125);
    roast_run_set_fact(run, ROAST_FACT_report_chunks, CHUNKS);
    add_chunks(run);
    add_workers(run);
    add_spans(run);
    roast_run_finish(run, NS(50));
    roast_summary *summary = summary_of(run);
    roast_run_free(run);
    return summary;
}

/* ---- the whole run --------------------------------------------------------------- */

static void test_throughput_and_timing(void **state)
{
    roast_summary *summary = example();

    (void)state;
    assert_exact(summary, wall_time, 50);
    assert_exact(summary, total_bytes_read, 4e9);
    assert_exact(summary, total_events, 1250000);
    assert_exact(summary, total_cpu_time, 125);
    assert_exact(summary, num_chunks, 5);
    assert_exact(summary, data_rate_gbps, 0.64);       /* 4e9 x 8 / 50 / 1e9 */
    assert_exact(summary, data_rate_mbps, 80);         /* 4e9 / 50 / 1e6 */
    assert_exact(summary, event_rate_wall_khz, 25);    /* 1.25e6 / 50 / 1e3 */
    assert_exact(summary, event_rate_agg_khz, 10);     /* 1.25e6 / 125 / 1e3 */
    assert_exact(summary, event_rate_core_hz, 2500);   /* 1.25e6 / (50 x 10) */
    assert_exact(summary, avg_cpu_time_per_chunk, 25); /* 125 / 5 */
    roast_summary_free(summary);
}

/* Trapezoid: (1+3)/2 x 20 + (3+3)/2 x 20 + (3+2)/2 x 10 = 125, over 50 s. */
static void test_workers(void **state)
{
    roast_summary *summary = example();

    (void)state;
    assert_exact(summary, time_avg_workers, 2.5);
    assert_exact(summary, avg_workers_simple, 2.25); /* (1 + 3 + 3 + 2) / 4 */
    assert_exact(summary, peak_workers, 3);
    assert_exact(summary, cores_per_worker, 4);
    assert_exact(summary, total_cores, 10);                  /* 2.5 x 4 */
    assert_exact(summary, avg_memory_per_worker_bytes, 3e9); /* (1 + 3 + 2 + 6) / 4 */
    assert_exact(summary, peak_memory_bytes, 6e9);
    assert_exact(summary, memory_utilization_avg_percent, 50); /* 25, 75, 25, 75 */
    assert_exact(summary, memory_utilization_min_percent, 25);
    assert_exact(summary, memory_utilization_max_percent, 75);
    assert_exact(summary, cpu_utilization_avg_percent, 62.5); /* 25, 75, 50, 100 */
    assert_exact(summary, cpu_utilization_max_percent, 100);
    roast_summary_free(summary);
}

/* speedup = cpu_efficiency x total_cores, and 25 / 10 of the event rates. */
static void test_efficiency(void **state)
{
    roast_summary *summary = example();

    (void)state;
    assert_exact(summary, cpu_efficiency, 0.25);          /* 125 / (50 x 10) */
    assert_exact(summary, speedup, 2.5);                  /* 125 / 50 */
    assert_exact(summary, efficiency_ratio_percent, 250); /* 25 / 10 x 100 */
    assert_exact(summary, cpu_efficiency_fine, 0.22);     /* 110 / (50 x 10) */
    assert_exact(summary, io_overhead_pct, 60);           /* 30 / 50 x 100 */
    assert_exact(summary, io_wait_share, 0.06);           /* 30 / (50 x 10) */
    assert_exact(summary, parallel_efficiency, 0.25);     /* 2.5 / 10 */
    roast_summary_free(summary);
}

/* ---- Dask's spans ---------------------------------------------------------------- */

static void test_fine_metrics(void **state)
{
    roast_summary *summary = example();

    (void)state;
    assert_exact(summary, cpu_time_seconds, 110);
    assert_exact(summary, io_time_seconds, 30);
    assert_exact(summary, processor_cpu_time_seconds, 100);
    assert_exact(summary, processor_noncpu_time_seconds, 25);
    assert_exact(summary, processor_cpu_percentage, 80);    /* 100 / 125 x 100 */
    assert_exact(summary, processor_noncpu_percentage, 20); /* 25 / 125 x 100 */
    assert_exact(summary, overhead_cpu_time_seconds, 10);
    assert_exact(summary, overhead_noncpu_time_seconds, 5);
    assert_exact(summary, total_bytes_memory_read_dask, 123456789);
    assert_exact(summary, disk_read_bytes, 1000);
    assert_exact(summary, disk_write_bytes, 2000);
    assert_exact(summary, compression_time_seconds, 1.5);
    assert_exact(summary, decompression_time_seconds, 0.25);
    assert_exact(summary, total_compression_overhead_seconds, 1.75);
    assert_exact(summary, serialization_time_seconds, 0.5);
    assert_exact(summary, deserialization_time_seconds, 0.125);
    assert_exact(summary, total_serialization_overhead_seconds, 0.625);
    roast_summary_free(summary);
}

/* ---- chunks and files ------------------------------------------------------------ */

/* Squares of the distances from the mean: 225 + 25 + 25 + 0 + 625 = 900, over 4. */
static void test_chunk_statistics(void **state)
{
    roast_summary *summary = example();

    (void)state;
    assert_exact(summary, chunk_duration_mean, 25);
    assert_exact(summary, chunk_duration_min, 10);
    assert_exact(summary, chunk_duration_max, 50);
    assert_exact(summary, chunk_duration_std, 15);
    assert_exact(summary, chunk_duration_p50, 20);
    assert_exact(summary, total_events_from_chunks, 1250000);
    assert_exact(summary, chunk_events_mean, 250000);
    assert_exact(summary, time_per_event_mean_us, 100); /* 125 s / 1.25e6 */
    assert_exact(summary, time_per_event_p50_us, 100);  /* 50, 100, 100, 100, 200 */
    assert_metric(summary, time_per_event_p99_us, 196); /* 100 + 0.96 x 100 */
    assert_exact(summary, chunk_mem_delta_mean_mb, 8);  /* 4, -2, 6, 0, 32 */
    assert_exact(summary, chunk_mem_delta_min_mb, -2);
    assert_exact(summary, chunk_mem_delta_max_mb, 32);
    assert_exact(summary, memory_per_event_mean_bytes, 33.554432); /* 40 MiB / 1.25e6 */
    roast_summary_free(summary);
}

static void test_datasets(void **state)
{
    roast_summary *summary = example();
    size_t ttbar = row_of(summary, "per_dataset", "ttbar");
    size_t wjets = row_of(summary, "per_dataset", "wjets");

    (void)state;
    assert_true(number_at(summary, "per_dataset", ttbar, "num_chunks") == 3);
    assert_true(number_at(summary, "per_dataset", ttbar, "total_duration") == 50);
    assert_true(number_at(summary, "per_dataset", ttbar, "total_events") == 500000);
    assert_near(number_at(summary, "per_dataset", ttbar, "mean_duration"), 50 / 3.0);
    assert_true(number_at(summary, "per_dataset", wjets, "total_duration") == 75);
    assert_true(number_at(summary, "per_dataset", wjets, "mean_duration") == 37.5);
    assert_true(number_at(summary, "per_dataset", wjets, "mean_events_per_chunk") ==
                375000);
    roast_summary_free(summary);
}

/* Branches read only for their offsets do not count. */
static void test_files_and_branches(void **state)
{
    roast_summary *summary = example();
    size_t facts = row_of(summary, "file_metadata", "b.root");
    size_t reads = row_of(summary, "file_read_metrics", "a.root");

    (void)state;
    assert_true(number_at(summary, "file_metadata", facts, "compression_ratio") ==
                0.25);
    assert_true(number_at(summary, "file_metadata", facts, "total_branches") == 4);
    assert_true(number_at(summary, "file_metadata", facts, "total_tree_bytes") == 500);
    assert_true(number_at(summary, "file_read_metrics", reads, "branches_read") == 2);
    assert_true(
        number_at(summary, "file_read_metrics", reads, "branches_read_percent") == 25);
    assert_true(number_at(summary, "file_read_metrics", reads, "bytes_read") == 380);
    assert_true(number_at(summary, "file_read_metrics", reads, "bytes_read_percent") ==
                38);
    assert_exact(summary, total_branches_read, 2);        /* Jet_pt, Muon_pt */
    assert_exact(summary, avg_branches_read_percent, 25); /* 2 of 8 and 1 of 4 */
    assert_exact(summary, avg_bytes_read_percent, 31.5);  /* 380 / 1000, 125 / 500 */
    roast_summary_free(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_throughput_and_timing),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_efficiency),
        cmocka_unit_test(test_fine_metrics),
        cmocka_unit_test(test_chunk_statistics),
        cmocka_unit_test(test_datasets),
        cmocka_unit_test(test_files_and_branches),
    };
    return cmocka_run_group_tests_name("analyze/seed_formulas", tests, NULL, NULL);
}
