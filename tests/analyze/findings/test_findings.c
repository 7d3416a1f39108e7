/* SPDX-License-Identifier: BSD-3-Clause */
/* test_findings.c - every problem is found with its numbers; a healthy run has none. */
#include "analyze/diagnosis.h"
#include "heap.h"

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

/* ---- healthy runs ---------------------------------------------------------------- */

static void test_a_healthy_run_has_nothing_to_change(void **state)
{
    (void)state;
    assert_healthy((struct patient){.chunks = 40});
    assert_healthy((struct patient){.chunks = 400, .threads = 1});
    assert_healthy((struct patient){.chunks = 1, .workers = 1, .threads = 1});
}

static void test_the_verdict_is_a_text(void **state)
{
    roast_summary *summary = diagnose((struct patient){.chunks = 40});

    (void)state;
    assert_int_equal(roast_table_shape(ROAST_TABLE_verdict), ROAST_SHAPE_SCALAR);
    assert_int_equal(rows_of(summary, "verdict"), 1);
    assert_true(contains(text_at(summary, "verdict", 0, "verdict"), "your process()"));
    roast_summary_free(summary);
}

static void test_short_runs_have_no_findings(void **state)
{
    (void)state;
    assert_healthy((struct patient){
        .chunks = 8, .form = 0.02, .compute = 0.001, .merge = 0.1, .begin = 0.4});
}

/* A small amount of each problem. */
static void test_small_problems_are_no_findings(void **state)
{
    const struct patient patients[] = {
        {.chunks = 400, .per_file = 200, .form = 0.1},
        {.chunks = 41, .last = 1.1},
        {.chunks = 80, .starved = 0.02, .gap = 0.005},
        {.chunks = 9, .workers = 4, .compute = 0.2},
        {.fetch = 0.05, .decompress = 0.1},
        {.workers = 4, .joined = 0.2, .begin = 0.2},
        {.merge = 0.2, .after = 0.5},
        {.import = 0.02, .monitor = 0.005},
        {.blocked = 0.05, .runqueue = 0.05, .gil = 0.05, .gc = 0.02},
        {.foreign = 0.5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(patients) / sizeof(patients[0]); i++)
        assert_healthy(patients[i]);
}

static void test_an_empty_run_has_a_verdict(void **state)
{
    roast_run *run = run_new();
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_int_equal(rows_of(summary, "findings"), 0);
    assert_true(
        contains(text_at(summary, "verdict", 0, "verdict"), "No chunk was measured"));
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- problems -------------------------------------------------------------------- */

/* 40 kB in half a second, by so many reads. */
static struct roast_str endpoint(const char *name, uint64_t ranges)
{
    struct roast_endpoint all = {.name = roast_str_of(name),
                                 .requests = 10,
                                 .ranges = ranges,
                                 .bytes = 40000,
                                 .wait_ns = 500000000};

    return endpoints_blob(&all, 1);
}

static struct roast_str two_branches(void)
{
    struct roast_branch all[] = {
        {.name = roast_str_of("Jet_pt"),
         .flags = ROAST_BRANCH_DATA | ROAST_BRANCH_PRELOADED,
         .reads = 1,
         .ns = 10000000},
        {.name = roast_str_of("Jet_eta"),
         .flags = ROAST_BRANCH_PRELOADED,
         .reads = 1,
         .bytes = 1000000,
         .ns = 300000000},
    };

    return branches_blob(all, 2);
}

static struct roast_str facts(enum roast_codec codec)
{
    struct roast_file_facts all = {
        .kind = ROAST_FILE_TTREE, .codec = codec, .branches = 2, .entries = 200000};

    return facts_blob(&all);
}

struct problem {
    const char *id;
    struct patient patient;
    const char *evidence;
    const char *advice;
};

static void check_problem(const struct problem *problem)
{
    roast_summary *summary = diagnose(problem->patient);

    assert_says(summary, problem->id, "evidence", problem->evidence);
    assert_says(summary, problem->id, "advice", problem->advice);
    size_t row = (size_t)finding_row(summary, problem->id);
    assert_true(number_at(summary, "findings", row, "cost_thread_seconds") >= 2);
    roast_summary_free(summary);
}

static void test_wrong_chunk_sizes(void **state)
{
    const struct problem problems[] = {
        {"chunks_too_small",
         {.chunks = 400, .per_file = 200, .events = 1000, .form = 0.7, .compute = 0.1},
         "700 ms per chunk",
         "(now 1_000)"},
        {"files_too_small",
         {.chunks = 400, .per_file = 1, .events = 1000, .form = 0.7, .compute = 0.1},
         "400 files of 1_000 events",
         "merge the files of each dataset (hadd; haddnano.py"},
        {"small_input", /* one file per dataset */
         {.chunks = 4, .per_file = 1, .apart = true, .form = 0.7},
         "2.80 s opening files, building NanoEvents and packing, 38.9 % of the worker "
         "time: 700 ms in each of 4 chunks",
         "test with larger files"},
        {"last_chunks",
         {.chunks = 41, .last = 8},
         "f2.root on red-c1, 8.05 s",
         "put f2.root first in the fileset; see why it took so long on red-c1"},
        {"uneven_datasets",
         {.chunks = 42, .slow = 2, .last = 8, .last_dataset = "qcd"},
         "a chunk of qcd takes 8.05 s, of the others 1.05 s",
         "put qcd first in the fileset"},
        {"few_threads_busy",
         {.chunks = 5, .workers = 4, .compute = 10},
         "5 chunks for 8 threads",
         "(now 10_000)"},
        {"tasks_too_short",
         {.chunks = 2000, .per_file = 500, .form = 0.001, .compute = 0.02, .gap = 0.01},
         "2000 chunks",
         "(now 10_000)"},
        {"no_work_sent",
         {.chunks = 80, .starved = 0.5},
         "80 chunks, 4 threads",
         "worker-saturation"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++)
        check_problem(&problems[i]);
}

/* The thread that reads a local file has no core and no GIL either; storage elsewhere needs
 * none. */
static void test_local_reads_without_a_core(void **state)
{
    roast_summary *locked = diagnose((struct patient){
        .fetch = 0.25, .gil = 0.9, .endpoints = endpoint("/data/store", 1000)});
    roast_summary *local = diagnose((struct patient){
        .fetch = 0.25, .runqueue = 0.9, .endpoints = endpoint("/data/store", 1000)});
    roast_summary *far =
        diagnose((struct patient){.fetch = 0.25,
                                  .runqueue = 0.9,
                                  .endpoints = endpoint("root://far:1094", 1000)});

    (void)state;
    assert_int_equal(finding_row(locked, "waiting_for_data"), -1);
    assert_true(finding_row(locked, "gil") >= 0);
    roast_summary_free(locked);
    assert_int_equal(finding_row(local, "waiting_for_data"), -1);
    assert_true(finding_row(local, "overloaded") >= 0);
    assert_true(finding_row(far, "waiting_for_data") >= 0);
    roast_summary_free(local);
    roast_summary_free(far);
}

static void test_slow_reads(void **state)
{
    const struct problem problems[] = {
        {"waiting_for_data",
         {.fetch = 0.5, .endpoints = endpoint("root://far.away:1094", 1000)},
         "20.0 s waiting for 1.60 MB (80.0 kB/s per thread)",
         "run closer to the data"},
        {"waiting_for_data",
         {.fetch = 0.5, .endpoints = endpoint("/data/store", 1000)},
         "20.0 s waiting",
         "passing bytes between threads"},
        {"waiting_for_data", /* mounted, and far away */
         {.fetch = 0.5, .endpoints = endpoint("/eos/store", 10)},
         "20.0 s waiting",
         "run closer to the data"},
        {"decompression",
         {.decompress = 0.6,
          .branches = two_branches(),
          .facts = facts(ROAST_CODEC_LZMA)},
         "24.0 s decompressing lzma",
         "ZSTD or LZ4"},
        {"decompression",
         {.decompress = 0.6,
          .branches = two_branches(),
          .facts = facts(ROAST_CODEC_ZSTD)},
         "decompressing zstd",
         "read fewer columns"},
        {"unused_columns",
         {.fetch = 0.05, .branches = two_branches(), .facts = facts(ROAST_CODEC_ZSTD)},
         "1 of 2 columns",
         "preload=['Jet_pt']"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++)
        check_problem(&problems[i]);
}

/* The list is too long for a line, and names where the whole list is. */
static void test_a_list_of_columns_is_never_cut_in_the_middle(void **state)
{
    enum { BRANCHES = 30 };
    struct roast_branch all[BRANCHES];
    char names[BRANCHES][32];

    (void)state;
    for (int i = 0; i < BRANCHES; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "Electron_value_%02d", i);
        all[i] = (struct roast_branch){.name = roast_str_of(names[i]),
                                       .flags = ROAST_BRANCH_DATA,
                                       .reads = 1,
                                       .bytes = 1000,
                                       .ns = 1000000};
    }
    roast_summary *summary =
        diagnose((struct patient){.fetch = 0.5,
                                  .endpoints = endpoint("root://far.away:1094", 1000),
                                  .branches = branches_blob(all, BRANCHES),
                                  .facts = facts(ROAST_CODEC_ZSTD)});
    assert_says(summary, "waiting_for_data", "advice",
                "preload=['Electron_value_00', 'Electron_value_01', ");
    assert_says(summary, "waiting_for_data", "advice",
                ", ...] (all 30: get_metrics()['preload'])");
    roast_summary_free(summary);
}

static void test_waiting_clusters(void **state)
{
    const struct problem problems[] = {
        {"waiting_for_workers",
         {.workers = 4, .joined = 5, .begin = 5},
         "30.0 s of worker time were missing in the first 5.00 s: 2 of 8 threads",
         "client.wait_for_workers(4)"},
        {"merging",
         {.merge = 4},
         "4.00 s of worker time merging, 12.0 s of worker time idle",
         "fewer bins and axes, no columns; or fewer of them: larger chunks"},
        {"client_imports",
         {.begin = 3},
         "3.00 s before the first task",
         "import dask.dataframe"},
        {"client_busy", {.after = 5}, "5.00 s without any task", "out of the block"},
        {"worker_imports", {.import = 3}, "12.0 s importing", "--preload"},
        {"large_processor",
         {.unpack = 0.3},
         "10.8 s unpacking it in 36 chunks",
         "load them in process()"},
        {"foreign_tasks", {.foreign = 4}, "8.00 s of worker time", "of your own"},
        {"own_cost", {.monitor = 0.06}, "2.40 s at least", "larger chunks"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++)
        check_problem(&problems[i]);
}

static void test_chunks_without_cpu(void **state)
{
    const struct problem problems[] = {
        {"gil",
         {.gil = 0.5},
         "20.0 s waiting for the GIL",
         "4 workers x 1 thread, each with 1/2 of the memory of one now"},
        {"overloaded",
         {.runqueue = 0.4},
         "16.0 s waiting for a core",
         "no more threads per node than it has cores"},
        {"garbage_collection", {.gc = 0.1}, "4.00 s in", "gc.freeze()"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++)
        check_problem(&problems[i]);
    assert_healthy((struct patient){.gil = 0.5, .threads = 1, .workers = 4});
}

/* A sleeping chunk does not wait for the GIL. */
static void test_sleeping_chunks(void **state)
{
    (void)state;
    assert_healthy((struct patient){.blocked = 0.98, .form = 0.001});
    assert_healthy((struct patient){.blocked = 0.5});
}

/* ---- memory ---------------------------------------------------------------------- */

static void sample(roast_run *run, const char *worker, double seconds,
                   enum roast_series series, double value)
{
    roast_sample sample = {.worker = roast_str_of(worker), .time_ns = at(seconds)};

    roast_sample_set(&sample, ROAST_SERIES_memory_limit, 4e9);
    roast_sample_set(&sample, ROAST_SERIES_memory, 1e9);
    roast_sample_set(&sample, series, value);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

static roast_summary *diagnose_sampled(enum roast_series series, double value)
{
    roast_run *run = patient_new((struct patient){.limit = 4000000000}, NULL);

    sample(run, worker_named(0), 1, ROAST_SERIES_memory, 1e9);
    sample(run, worker_named(0), 2, series, value);
    roast_summary *summary = summary_of(run);
    check_texts(summary);
    roast_run_free(run);
    return summary;
}

static void test_memory_near_its_limit(void **state)
{
    roast_summary *full = diagnose_sampled(ROAST_SERIES_memory, 3.6e9);
    roast_summary *fine = diagnose_sampled(ROAST_SERIES_memory, 3e9);

    (void)state;
    assert_says(full, "memory_pressure", "evidence", "90.0 % of the memory limit");
    assert_says(full, "memory_pressure", "evidence", "3.60 GB of 4.00 GB");
    assert_says(full, "memory_pressure", "advice", "memory_limit='6GB'");
    assert_says(full, "memory_pressure", "severity", "medium");
    assert_int_equal(cell_at(full, "findings", 0, "saves_wall_seconds").type,
                     ROAST_CELL_ABSENT);
    assert_int_equal(finding_row(fine, "memory_pressure"), -1);
    roast_summary_free(full);
    roast_summary_free(fine);
}

/* 1,000 reads of 0.5 ms each: the disk is close enough. */
static void test_small_requests_to_a_local_disk(void **state)
{
    const struct roast_branch branch = {.name = roast_str_of("Jet_pt"),
                                        .flags = ROAST_BRANCH_DATA,
                                        .reads = 1,
                                        .bytes = 1000,
                                        .ns = 1000000};
    const struct patient patient = {.fetch = 0.5,
                                    .branches = branches_blob(&branch, 1),
                                    .facts = facts(ROAST_CODEC_ZSTD),
                                    .endpoints = endpoint("/data/store", 1000)};
    roast_run *run = patient_new(patient, NULL);

    (void)state;
    sample(run, worker_named(0), 2, ROAST_SERIES_disk_read, 1e6);
    roast_summary *summary = summary_of(run);
    int64_t row = finding_row(summary, "waiting_for_data");
    assert_true(row >= 0);
    assert_str_is(text_at(summary, "findings", (size_t)row, "advice"),
                  "requests are small: fetch columns in bulk, preload=['Jet_pt']");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_spilling(void **state)
{
    roast_summary *much = diagnose_sampled(ROAST_SERIES_spilled_disk, 5e8);
    roast_summary *little = diagnose_sampled(ROAST_SERIES_spilled_disk, 1e6);

    (void)state;
    assert_says(much, "spilling", "evidence", "500 MB on disk");
    assert_says(much, "spilling", "advice", "memory_limit='3GB'");
    assert_int_equal(finding_row(little, "spilling"), -1);
    roast_summary_free(much);
    roast_summary_free(little);
}

static void test_memory_that_grows(void **state)
{
    roast_summary *leak = diagnose((struct patient){.grows_mb = 50});

    (void)state;
    assert_says(leak, "memory_leak", "evidence", "in a process that began with 524 MB");
    assert_says(leak, "memory_leak", "evidence", "seen in 2 of 2 processes");
    assert_says(leak, "memory_leak", "advice", "after process()");
    roast_summary_free(leak);
    assert_healthy((struct patient){.grows_mb = 1});
}

/* Workers keep outputs until they are merged. */
static void test_outputs_are_no_leak(void **state)
{
    roast_summary *kept = diagnose((struct patient){.grows_mb = 50, .gives_mb = 50});
    roast_summary *leak = diagnose((struct patient){.grows_mb = 50, .gives_mb = 5});

    (void)state;
    assert_says(kept, "memory_leak", "evidence", "outputs of its chunks are 1.05 GB");
    assert_says(kept, "memory_leak", "advice", "smaller outputs");
    assert_says(leak, "memory_leak", "advice", "no lists or caches on self; clear");
    roast_summary_free(kept);
    roast_summary_free(leak);
}

/* ---- failures -------------------------------------------------------------------- */

static void fail_chunk(roast_run *run, const char *file)
{
    const struct roast_endpoint endpoint = {
        .name = roast_str_of("root://host"), .requests = 3, .errors = 1};
    struct frame failed = {.sequence = 1000,
                           .file = file,
                           .stop = 10,
                           .start = 3.2,
                           .duration = 0.5,
                           .status = ROAST_CHUNK_FAILED,
                           .error_type = "OSError",
                           .error_message = "no route\nto host",
                           .endpoints = endpoints_blob(&endpoint, 1)};

    add_frame(run, failed);
}

static void test_failures_come_first(void **state)
{
    roast_run *run = patient_new((struct patient){.begin = 3}, NULL);

    (void)state;
    fail_chunk(run, "bad.root");
    roast_summary *summary = summary_of(run);
    check_texts(summary);
    assert_int_equal(finding_row(summary, "failures"), 0);
    assert_int_equal(finding_row(summary, "client_imports"), 1);
    assert_says(summary, "failures", "severity", "high");
    assert_says(summary, "failures", "evidence", "OSError: no route to host");
    assert_says(summary, "failures", "evidence", "no route to host in bad.root");
    assert_says(summary, "failures", "advice", "run what is missing again");
    assert_true(contains(text_at(summary, "verdict", 0, "verdict"), "First: Failures"));
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_long_names_keep_their_end(void **state)
{
    roast_run *run = patient_new((struct patient){.chunks = 40}, NULL);

    (void)state;
    fail_chunk(run,
               "root://xrootd.example.org//store/mc/a_campaign_with_a_long_name/"
               "a_dataset_whose_name_is_even_longer/NANOAODSIM/of_v1/0520A7B8.root");
    roast_summary *summary = summary_of(run);
    assert_says(summary, "failures", "evidence",
                "root://xrootd.example.org//store/mc/");
    assert_says(summary, "failures", "evidence", "/of_v1/0520A7B8.root");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_workers_that_died(void **state)
{
    struct frame begin = {.kind = ROAST_FRAME_BEGIN,
                          .process = 1,
                          .sequence = 2000,
                          .first = 900,
                          .stop = 1000,
                          .start = 2};
    roast_run *run = patient_new((struct patient){.limit = 4000000000}, NULL);

    (void)state;
    sample(run, worker_named(0), 4, ROAST_SERIES_memory, 3.9e9);
    add_frame_of_task(run, begin, worker_named(0), 2000);
    leave_for(run, worker_named(0), 5, "its nanny ended it for its memory: 3.9 GB");
    roast_summary *summary = summary_of(run);
    check_texts(summary);
    assert_int_equal(finding_row(summary, "workers_died"), 0);
    assert_int_equal(finding_row(summary, "no_work_sent"), -1);
    assert_says(summary, "workers_died", "evidence", "1 killed for memory");
    assert_says(summary, "workers_died", "evidence", "3.90 GB of 4.00 GB");
    assert_says(summary, "workers_died", "advice", "memory_limit='7GB'");
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- ranks ----------------------------------------------------------------------- */

static void test_what_saves_more_comes_first(void **state)
{
    roast_summary *summary =
        diagnose((struct patient){.begin = 3, .merge = 8, .foreign = 4});

    (void)state;
    assert_true(rows_of(summary, "findings") >= 3);
    for (size_t i = 1; i < rows_of(summary, "findings"); i++)
        assert_true(cell_at(summary, "findings", i - 1, "saves_wall_seconds").number >=
                    cell_at(summary, "findings", i, "saves_wall_seconds").number);
    roast_summary_free(summary);
}

static void test_overlapping_findings_name_each_other(void **state)
{
    roast_summary *summary = diagnose((struct patient){
        .fetch = 0.5, .branches = two_branches(), .facts = facts(ROAST_CODEC_ZSTD)});
    size_t row = (size_t)finding_row(summary, "waiting_for_data");

    (void)state;
    assert_int_equal(items_at(summary, "findings", row, "overlaps"), 1);
    assert_str_is(item_at(summary, "findings", row, "overlaps", 0), "unused_columns");
    assert_true(contains(text_at(summary, "verdict", 0, "verdict"), "Savings overlap"));
    roast_summary_free(summary);
}

/* ---- memory that runs out -------------------------------------------------------- */

static void test_any_allocation_may_fail(void **state)
{
    roast_run *run = patient_new((struct patient){.chunks = 41,
                                                  .last = 8,
                                                  .last_dataset = "qcd",
                                                  .grows_mb = 50,
                                                  .begin = 3,
                                                  .fetch = 0.5},
                                 NULL);

    (void)state;
    fail_chunk(run, "bad.root");
    size_t live = test_heap.live_blocks;
    for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
        bool failed = true;
        for (size_t n = 1; failed; n++) {
            roast_summary *summary = NULL;
            test_heap_fail(n, from_then_on == 1);
            int status = roast_summarize(&summary, run, NULL);
            failed = test_heap_failed();
            test_heap_fail(0, false);
            assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
            roast_summary_free(summary);
            assert_int_equal(test_heap.live_blocks, live);
        }
    }
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_healthy_run_has_nothing_to_change, setup),
        cmocka_unit_test_setup(test_the_verdict_is_a_text, setup),
        cmocka_unit_test_setup(test_short_runs_have_no_findings, setup),
        cmocka_unit_test_setup(test_small_problems_are_no_findings, setup),
        cmocka_unit_test_setup(test_an_empty_run_has_a_verdict, setup),
        cmocka_unit_test_setup(test_wrong_chunk_sizes, setup),
        cmocka_unit_test_setup(test_small_requests_to_a_local_disk, setup),
        cmocka_unit_test_setup(test_slow_reads, setup),
        cmocka_unit_test_setup(test_local_reads_without_a_core, setup),
        cmocka_unit_test_setup(test_a_list_of_columns_is_never_cut_in_the_middle,
                               setup),
        cmocka_unit_test_setup(test_waiting_clusters, setup),
        cmocka_unit_test_setup(test_chunks_without_cpu, setup),
        cmocka_unit_test_setup(test_sleeping_chunks, setup),
        cmocka_unit_test_setup(test_long_names_keep_their_end, setup),
        cmocka_unit_test_setup(test_memory_near_its_limit, setup),
        cmocka_unit_test_setup(test_spilling, setup),
        cmocka_unit_test_setup(test_memory_that_grows, setup),
        cmocka_unit_test_setup(test_outputs_are_no_leak, setup),
        cmocka_unit_test_setup(test_failures_come_first, setup),
        cmocka_unit_test_setup(test_workers_that_died, setup),
        cmocka_unit_test_setup(test_what_saves_more_comes_first, setup),
        cmocka_unit_test_setup(test_overlapping_findings_name_each_other, setup),
        cmocka_unit_test_setup(test_any_allocation_may_fail, setup),
    };

    test_heap_install();
    return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
