/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rules_resources.c - patterns, and findings about memory, reads, threads and the
 * client. */
#include "analyze/diagnosis.h"
#include "analyze/findings/finding_text.h"
#include "heap.h"

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

static roast_summary *diagnose_run(roast_run *run)
{
    roast_summary *summary = summary_of(run);

    check_texts(summary);
    roast_run_free(run);
    return summary;
}

/* ---- patterns -------------------------------------------------------------------- */

static void test_a_pattern_has_no_holes(void **state)
{
    struct roast_finding finding = {0};
    char text[ROAST_FINDING_TEXT_BYTES];

    (void)state;
    roast__set_number(&finding, "known", 2, "");
    roast__set_number(&finding, "unknown", NAN, "s");
    assert_int_equal(roast__fill_pattern(text, "a={unknown} b={known}", &finding), 0);
    assert_int_equal(roast__fill_pattern(text, "a={untold}", &finding), 0);
    assert_int_equal(roast__fill_pattern(text, NULL, &finding), 0);
    assert_true(roast__fill_pattern(text, "a={unknown} // b={known} // c", &finding));
    assert_string_equal(text, "b=2");
    assert_true(roast__fill_pattern(text, "b={known}{?unknown}{?untold}!", &finding));
    assert_string_equal(text, "b=2!");
    roast__set_from_pattern(&finding, "made", "; a={unknown}");
    assert_int_equal(roast__fill_pattern(text, "b={known}{made}", &finding), 0);
}

/* A rule without placeholders still has a title and advice. */
static void test_every_rule_can_do_without_numbers(void **state)
{
    static const struct {
        const char *id, *title, *evidence, *advice;
    } rules[] = {
#define R(id, title, evidence, advice) {#id, title, evidence, advice},
#include "roast/finding_rules.def"
#undef R
    };
    const struct roast_finding nothing = {0};
    char text[ROAST_FINDING_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (roast__fill_pattern(text, rules[i].title, &nothing) == 0 ||
            roast__fill_pattern(text, rules[i].advice, &nothing) == 0)
            fail_msg("%s needs its numbers", rules[i].id);
        assert_null(strstr(text, "{"));
        assert_false(has_hole(roast_str_of(text)));
        (void)roast__fill_pattern(text, rules[i].evidence, &nothing);
        assert_null(strstr(text, "{"));
    }
}

/* ---- memory ---------------------------------------------------------------------- */

static void sample(roast_run *run, int worker, double seconds, double bytes,
                   double limit)
{
    roast_sample sample = {.worker = roast_str_of(worker_named(worker)),
                           .time_ns = at(seconds)};

    roast_sample_set(&sample, ROAST_SERIES_memory, bytes);
    roast_sample_set(&sample, ROAST_SERIES_memory_limit, limit);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

/* Rules without a chunksize do not advise larger chunks either. */
static void test_no_larger_chunks_in_full_memory(void **state)
{
    static const char *const ids[] = {"own_cost", "no_work_sent"};
    const struct patient patients[] = {{.monitor = 0.06},
                                       {.chunks = 80, .compute = 1, .starved = 0.3}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        roast_run *run = patient_new(patients[i], NULL);
        sample(run, 0, 2, 3.6e9, 4e9);
        roast_summary *summary = diagnose_run(run);
        size_t row = (size_t)finding_row(summary, ids[i]);
        struct roast_str advice = text_at(summary, "findings", row, "advice");
        assert_false(contains(advice, "larger tasks"));
        assert_true(i > 0 || contains(advice, "more memory per worker, and then"));
        roast_summary_free(summary);
    }
}

/* The worker with most memory is not the one closest to its limit. */
static void test_pressure_names_the_fullest(void **state)
{
    roast_run *run = patient_new((struct patient){.chunks = 40}, NULL);

    (void)state;
    sample(run, 0, 1, 1e9, 4e9);
    sample(run, 0, 2, 3.6e9, 4e9);
    sample(run, 0, 3, 2e9, 4e9);
    sample(run, 1, 1, 20e9, 64e9);
    sample(run, 1, 2, 30e9, 64e9);
    roast_summary *summary = diagnose_run(run);
    assert_says(summary, "memory_pressure", "evidence",
                "90.0 % of the memory limit in use (3.60 GB of 4.00 GB, "
                "tcp://10.0.0.1:1)");
    assert_says(summary, "memory_pressure", "advice",
                "memory_limit='6GB' for tcp://10.0.0.1:1");
    roast_summary_free(summary);
}

/* Memory after the n-th chunk of a process, in MB. */
typedef uint64_t (*curve)(uint64_t process, uint64_t number);

static roast_summary *follow(curve memory_mb)
{
    roast_run *run = run_new();

    offer(run, 0, 10, 10);
    for (uint64_t number = 0; number < 20; number++) {
        for (uint64_t process = 1; process <= 10; process++)
            add_frame(run, (struct frame){.process = process,
                                          .first = process * 10000 + number * 100,
                                          .stop = process * 10000 + number * 100 + 100,
                                          .events = 100,
                                          .start = (double)number,
                                          .duration = 1,
                                          .before_mb = 500,
                                          .after_mb = memory_mb(process, number)});
    }
    roast_run_finish(run, NS(21));
    return diagnose_run(run);
}

/* Caches that fill up stop growing. */
static uint64_t warm_up(uint64_t process, uint64_t number)
{
    return 500 + process + 40 * (number < 10 ? number : 10);
}

static uint64_t one_grows(uint64_t process, uint64_t number)
{
    return process == 3 ? 500 + 40 * number : 500;
}

static uint64_t most_grow(uint64_t process, uint64_t number)
{
    return process <= 6 ? 500 + 40 * number : 500;
}

static void test_memory_that_stops_growing(void **state)
{
    static const curve harmless[] = {warm_up, one_grows};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        roast_summary *summary = follow(harmless[i]);
        assert_int_equal(finding_row(summary, "memory_leak"), -1);
        roast_summary_free(summary);
    }
}

static void test_memory_that_keeps_growing(void **state)
{
    roast_summary *summary = follow(most_grow);

    (void)state;
    assert_says(summary, "memory_leak", "evidence", "41.9 MB per chunk, 797 MB over");
    assert_says(summary, "memory_leak", "evidence", "seen in 6 of 10 processes");
    roast_summary_free(summary);
}

/* ---- reads ----------------------------------------------------------------------- */

/* Per chunk: how long each of two endpoints was waited for. */
static struct roast_str two_endpoints(uint64_t near_ms, uint64_t far_ms)
{
    const struct roast_endpoint all[] = {
        {.name = roast_str_of("/data/store"),
         .requests = 10,
         .ranges = 1000,
         .bytes = 900000,
         .wait_ns = near_ms * 1000000},
        {.name = roast_str_of("root://far.away:1094"),
         .requests = 10,
         .ranges = 10,
         .bytes = 40000,
         .wait_ns = far_ms * 1000000},
    };

    return endpoints_blob(all, 2);
}

static void test_the_slowest_endpoint_is_named(void **state)
{
    roast_summary *one =
        diagnose((struct patient){.fetch = 0.5, .endpoints = two_endpoints(100, 400)});
    roast_summary *both =
        diagnose((struct patient){.fetch = 0.5, .endpoints = two_endpoints(250, 250)});

    (void)state;
    assert_says(one, "waiting_for_data", "title", "from root://far.away:1094");
    assert_says(one, "waiting_for_data", "evidence",
                "16.0 s waiting for 1.60 MB (100 kB/s per thread), 400 requests of "
                "4.00 kB, of 20.0 s for 2 endpoints in all");
    assert_str_is(text_at(both, "findings", 0, "title"), "Waiting for data");
    assert_says(
        both, "waiting_for_data", "evidence",
        "20.0 s waiting for data from 2 endpoints; the longest for /data/store: "
        "10.0 s for 36.0 MB");
    assert_says(both, "waiting_for_data", "advice", "run closer to the data");
    roast_summary_free(one);
    roast_summary_free(both);
}

static void test_waiting_for_an_unknown_endpoint(void **state)
{
    roast_summary *summary = diagnose((struct patient){.fetch = 0.5});

    (void)state;
    assert_str_is(text_at(summary, "findings", 0, "title"), "Waiting for data");
    assert_says(summary, "waiting_for_data", "evidence", "20.0 s waiting for data");
    roast_summary_free(summary);
}

static struct roast_str facts(enum roast_codec codec)
{
    const struct roast_file_facts all = {
        .kind = ROAST_FILE_TTREE, .codec = codec, .branches = 2, .entries = 200000};

    return facts_blob(&all);
}

static void test_the_codec_of_most_files(void **state)
{
    const struct roast_branch branch = {.name = roast_str_of("Jet_pt"), .reads = 1};
    struct patient patient = {.chunks = 40,
                              .decompress = 0.6,
                              .branches = branches_blob(&branch, 1),
                              .facts = facts(ROAST_CODEC_ZSTD)};
    roast_run *run = patient_new(patient, NULL); /* of two files */

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        add_frame(run, (struct frame){.sequence = 500 + i,
                                      .file = (char[]){'x', (char)('a' + i), '\0'},
                                      .stop = 10,
                                      .start = 1,
                                      .duration = 0.01,
                                      .branches = patient.branches,
                                      .file_facts = facts(ROAST_CODEC_LZMA)});
    roast_summary *summary = diagnose_run(run);
    assert_says(summary, "decompression", "evidence", "decompressing lzma");
    roast_summary_free(summary);
}

static void test_columns_that_were_not_used(void **state)
{
    const struct roast_branch branch = {.name = roast_str_of("Jet_pt"),
                                        .flags = ROAST_BRANCH_PRELOADED,
                                        .reads = 1,
                                        .bytes = 1000000,
                                        .ns = 300000000};
    roast_summary *summary =
        diagnose((struct patient){.fetch = 0.05,
                                  .branches = branches_blob(&branch, 1),
                                  .facts = facts(ROAST_CODEC_ZSTD)});

    (void)state;
    assert_says(summary, "unused_columns", "advice", "preload fewer columns");
    roast_summary_free(summary);
}

/* ---- threads --------------------------------------------------------------------- */

/* Four chunks at a time, blocked for half of their second. */
static roast_summary *run_a_pool(uint64_t processes, uint64_t at_once, uint32_t chunks)
{
    struct patient shape = {.chunks = (int)chunks, .gil = processes > 1 ? 0 : 0.5};
    struct roast_ladder ladder = ladder_of(&shape, 0.95);
    struct roast_str blob = ladder_blob(&ladder);
    roast_run *run = run_new();

    offer(run, 0, 4, 4);
    for (uint32_t i = 0; i < chunks; i++) {
        struct frame chunk = {.process = 1 + i % processes,
                              .sequence = i + 1,
                              .first = i * 100,
                              .stop = i * 100 + 100,
                              .events = 100,
                              .concurrency = at_once,
                              .start = i / 4 + 0.05,
                              .duration = 0.95};
        struct frame end = {.kind = ROAST_FRAME_END,
                            .process = chunk.process,
                            .sequence = chunk.sequence,
                            .task_start = i / 4,
                            .task = 1,
                            .task_cpu = 0.5,
                            .ladder = blob};
        add_frame(run, chunk);
        add_frame(run, end);
    }
    roast_run_finish(run, NS(chunks / 4));
    return diagnose_run(run);
}

static void test_threads_of_a_pool_block_each_other(void **state)
{
    roast_summary *threads = run_a_pool(1, 4, 40);
    roast_summary *processes = run_a_pool(4, 1, 40);

    (void)state;
    assert_says(threads, "gil", "evidence",
                "20.0 s waiting for the GIL inside chunks, 50.0 %");
    assert_says(threads, "gil", "evidence", "4 threads in one process");
    assert_says(threads, "gil", "advice", "FuturesExecutor(workers=4)");
    assert_int_equal(finding_row(processes, "gil"), -1);
    roast_summary_free(threads);
    roast_summary_free(processes);
    threads = run_a_pool(1, 4, 12); /* processes take longer to start */
    assert_metric(threads, gil_wait_seconds, 6);
    assert_int_equal(finding_row(threads, "gil"), -1);
    roast_summary_free(threads);
}

/* process() cannot be told to make fewer objects if it made few. */
static void test_garbage_of_building_events(void **state)
{
    roast_summary *building =
        diagnose((struct patient){.form = 0.9, .compute = 0.05, .gc = 0.1});
    roast_summary *computing = diagnose((struct patient){.gc = 0.1});

    (void)state;
    assert_says(building, "garbage_collection", "advice",
                "skips them: most of it ran outside of your process()");
    assert_says(computing, "garbage_collection", "advice", "fewer Python objects");
    roast_summary_free(building);
    roast_summary_free(computing);
}

/* A thread with a core may wait for something else then. */
static void test_savings_that_are_not_known(void **state)
{
    static const char *const ids[] = {"garbage_collection", "overloaded"};
    const struct patient patients[] = {{.gc = 0.1}, {.runqueue = 0.4}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        roast_summary *summary = diagnose(patients[i]);
        size_t row = (size_t)finding_row(summary, ids[i]);
        assert_int_equal(cell_at(summary, "findings", row, "saves_wall_seconds").type,
                         ROAST_CELL_ABSENT);
        assert_true(number_at(summary, "findings", row, "cost_thread_seconds") > 2);
        roast_summary_free(summary);
    }
}

/* They are ranked by what they may save. */
static void test_unknown_savings_are_not_small(void **state)
{
    roast_summary *summary = diagnose((struct patient){.runqueue = 0.4, .begin = 3});

    (void)state;
    assert_int_equal(finding_row(summary, "overloaded"), 0);
    assert_int_equal(finding_row(summary, "client_imports"), 1);
    roast_summary_free(summary);
}

/* Waiting of an unknown kind is not counted as the GIL. */
static void test_waits_of_unknown_kind(void **state)
{
    struct patient shape = {.fetch = 0.5};
    struct roast_ladder knows = ladder_of(&shape, 0.45), silent = {0};
    roast_run *run = run_new();

    (void)state;
    set_part(&silent, ROAST_ITEM_compute, 1);
    set_part(&silent, ROAST_ITEM_runqueue, 0);
    for (uint32_t i = 1; i <= 2; i++) {
        add_frame(run, (struct frame){.sequence = i, .stop = i, .start = i});
        add_frame(run,
                  (struct frame){.kind = ROAST_FRAME_END,
                                 .sequence = i,
                                 .task_start = i,
                                 .task = 1,
                                 .task_cpu = 0.25,
                                 .ladder = ladder_blob(i == 1 ? &knows : &silent)});
    }
    roast_summary *summary = diagnose_run(run);
    assert_near(number_at(summary, "chunk_split", 0, "on_cpu"), 0.5);
    assert_near(number_at(summary, "chunk_split", 0, "fetch_wait"), 0.5);
    assert_near(number_at(summary, "chunk_split", 0, "blocked"), 0.25);
    assert_near(number_at(summary, "chunk_split", 0, "waiting"), 0.75);
    roast_summary_free(summary);
}

/* ---- the client ------------------------------------------------------------------ */

/* Without tasks there is no time before the first one. */
static void test_a_run_without_tasks_imported_nothing(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 4, 4);
    roast_run_finish(run, NS(30));
    roast_summary *summary = diagnose_run(run);
    assert_int_equal(finding_row(summary, "client_imports"), -1);
    roast_summary_free(summary);
}

/* Four processes with ten chunks of 1 s each, 3 s after the begin and 4 s before the
 * end, in which the client used so much CPU. */
static roast_summary *diagnose_pool(double client_cpu_s)
{
    roast_run *run = run_new();

    offer(run, 0, 4, 4);
    mark(run, ROAST_MARK_RUN_BEGIN, 3);
    for (uint32_t i = 0; i < 40; i++)
        add_frame(run, (struct frame){.process = 1 + i % 4,
                                      .first = i * 100,
                                      .stop = i * 100 + 100,
                                      .start = 3 + i / 4,
                                      .duration = 1});
    mark(run, ROAST_MARK_RUN_END, 17);
    roast_run_set_fact(run, ROAST_FACT_own_cpu_seconds, client_cpu_s);
    roast_run_finish(run, NS(17));
    return diagnose_run(run);
}

static void test_the_client_merges_in_wall_time(void **state)
{
    roast_summary *summary = diagnose_pool(7);

    (void)state;
    assert_says(summary, "merging", "evidence",
                "4.00 s of wall time merging, 16.0 s of worker time idle meanwhile");
    /* processes of a pool do not wait for the script: nothing is saved elsewhere */
    int64_t row = finding_row(summary, "client_imports");
    assert_true(row >= 0);
    assert_says(summary, "client_imports", "evidence", "3.00 s before the first task");
    assert_says(summary, "client_imports", "advice", "code of your own");
    assert_int_equal(
        cell_at(summary, "findings", (size_t)row, "saves_wall_seconds").type,
        ROAST_CELL_ABSENT);
    roast_summary_free(summary);
}

/* The script of a pool works on after its call: no thread waits for it. */
static void test_a_script_that_works_on(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    for (uint32_t i = 0; i < 5; i++)
        add_frame(run, (struct frame){.first = i * 100,
                                      .stop = i * 100 + 100,
                                      .start = i,
                                      .duration = 1});
    mark(run, ROAST_MARK_RUN_END, 5);
    roast_run_finish(run, NS(9));
    roast_summary *summary = diagnose_run(run);
    size_t row = (size_t)finding_row(summary, "client_busy");
    assert_str_is(text_at(summary, "findings", row, "title"),
                  "Your code outside of the Runner takes long");
    assert_says(summary, "client_busy", "advice", "code of your own");
    assert_int_equal(cell_at(summary, "findings", row, "saves_wall_seconds").type,
                     ROAST_CELL_ABSENT);
    roast_summary_free(summary);
}

/* The client waited for the processes of its pool to end. */
static void test_a_client_without_cpu_does_not_merge(void **state)
{
    roast_summary *summary = diagnose_pool(0.2);

    (void)state;
    assert_int_equal(finding_row(summary, "merging"), -1);
    roast_summary_free(summary);
}

/* Two chunks at once in one process of two threads: 10 s each, with so much CPU time of
 * its thread and of the process. */
static roast_summary *diagnose_threads(double chunk_s, double own_s, double process_s)
{
    roast_run *run = run_new();

    offer(run, 0, 1, 2);
    for (uint32_t i = 0; i < 2; i++) {
        add_frame(run, (struct frame){.sequence = 1 + i,
                                      .first = i * 100,
                                      .stop = i * 100 + 100,
                                      .start = 1,
                                      .duration = chunk_s,
                                      .concurrency = 2});
        add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                      .sequence = 1 + i,
                                      .task_start = 1,
                                      .task = chunk_s,
                                      .task_cpu = own_s,
                                      .process_cpu = process_s});
    }
    roast_run_finish(run, NS(chunk_s + 2));
    return diagnose_run(run);
}

static void test_cpu_of_chunks_at_once_is_not_that_of_others(void **state)
{
    roast_summary *summary = diagnose_threads(10, 4, 8);

    (void)state;
    assert_metric(summary, other_threads_cpu_seconds, 0);
    assert_int_equal(finding_row(summary, "other_threads"), -1);
    roast_summary_free(summary);
    summary = diagnose_threads(10, 4, 20);
    assert_metric(summary, other_threads_cpu_seconds, 12);
    assert_says(summary, "other_threads", "evidence", "used 12.0 s of CPU time");
    assert_says(summary, "other_threads", "evidence", "themselves 8.00 s");
    roast_summary_free(summary);
}

/* What a worker of Dask itself uses is much beside chunks that wait. */
static void test_a_little_cpu_beside_waiting_chunks_is_not_of_threads(void **state)
{
    roast_summary *summary = diagnose_threads(40, 0.5, 5);

    (void)state;
    assert_metric(summary, other_threads_cpu_seconds, 4);
    assert_int_equal(finding_row(summary, "other_threads"), -1);
    roast_summary_free(summary);
}

/* A chunk of 10 s, 3 s of them for imports and so many waiting for a core; the client is
 * the process with pid 7. */
static roast_summary *diagnose_imports(uint64_t pid, double runqueue_s)
{
    struct roast_ladder ladder = {0};
    roast_run *run = run_new();
    struct roast_sample sample = {.worker = roast_str_of("pid-7"),
                                  .time_ns = RUN_EPOCH_NS + NS(1)};

    set_part(&ladder, ROAST_ITEM_import, 3);
    set_part(&ladder, ROAST_ITEM_compute, 7);
    set_part(&ladder, ROAST_ITEM_runqueue, runqueue_s);
    roast_sample_set(&sample, ROAST_SERIES_client_memory, 3e8);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    offer(run, 0, 1, 1);
    add_frame(run,
              (struct frame){
                  .sequence = 1, .pid = pid, .stop = 100, .start = 3, .duration = 7});
    add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                  .sequence = 1,
                                  .pid = pid,
                                  .task = 10,
                                  .task_cpu = 10 - runqueue_s,
                                  .ladder = ladder_blob(&ladder)});
    roast_run_finish(run, NS(11));
    return diagnose_run(run);
}

static void test_imports_in_the_script_itself_are_not_of_workers(void **state)
{
    roast_summary *pool = diagnose_imports(8, 0);
    roast_summary *script = diagnose_imports(7, 0);

    (void)state;
    assert_says(pool, "worker_imports", "evidence", "3.00 s importing");
    assert_int_equal(finding_row(script, "worker_imports"), -1);
    roast_summary_free(pool);
    roast_summary_free(script);
}

static void test_slow_imports_on_a_busy_machine_are_no_cause(void **state)
{
    roast_summary *summary = diagnose_imports(8, 6);

    (void)state;
    assert_int_equal(finding_row(summary, "overloaded"), 0);
    assert_int_equal(finding_row(summary, "worker_imports"), -1);
    roast_summary_free(summary);
}

/* Twelve outputs of one second each, packed to 50 MB; the client has 300 MB, and grows by
 * so much with each. */
static roast_summary *diagnose_client(double grows_mb, uint64_t client_pid)
{
    roast_run *run = run_new();

    offer(run, 0, 1, 1);
    for (uint32_t i = 0; i < 12; i++) {
        struct roast_sample sample = {.worker = roast_str_of("pid-7"),
                                      .time_ns = RUN_EPOCH_NS + NS(i + 0.5)};
        roast_sample_set(&sample, ROAST_SERIES_client_memory,
                         (300 + grows_mb * i) * 1e6);
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
        add_frame(run, (struct frame){.sequence = 1 + i,
                                      .pid = client_pid,
                                      .first = i * 100,
                                      .stop = i * 100 + 100,
                                      .start = i,
                                      .before_mb = 300,
                                      .after_mb = 300 + (uint64_t)grows_mb * i,
                                      .duration = 1});
        add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                      .sequence = 1 + i,
                                      .pid = client_pid,
                                      .task_start = i,
                                      .task = 1,
                                      .output_bytes = 50000000});
    }
    roast_run_finish(run, NS(13));
    return diagnose_run(run);
}

static void test_a_client_that_grows_with_the_outputs(void **state)
{
    roast_summary *summary = diagnose_client(100, 8);

    (void)state;
    assert_says(summary, "client_memory", "evidence",
                "1.20 GB more while the outputs of 12 chunks arrived (600 MB packed)");
    assert_says(summary, "client_memory", "evidence", "it began with 300 MB");
    assert_metric(summary, client_memory_peak_bytes, 1400e6);
    roast_summary_free(summary);
    summary = diagnose_client(10, 8); /* not worth a word */
    assert_int_equal(finding_row(summary, "client_memory"), -1);
    roast_summary_free(summary);
    summary = diagnose_client(100, 7); /* chunks run in the client */
    assert_int_equal(finding_row(summary, "client_memory"), -1);
    assert_says(summary, "memory_leak", "advice", "outputs are merged in this process");
    roast_summary_free(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_of_chunks_at_once_is_not_that_of_others),
        cmocka_unit_test(test_a_little_cpu_beside_waiting_chunks_is_not_of_threads),
        cmocka_unit_test(test_imports_in_the_script_itself_are_not_of_workers),
        cmocka_unit_test(test_slow_imports_on_a_busy_machine_are_no_cause),
        cmocka_unit_test(test_a_client_that_grows_with_the_outputs),
        cmocka_unit_test_setup(test_a_pattern_has_no_holes, setup),
        cmocka_unit_test_setup(test_every_rule_can_do_without_numbers, setup),
        cmocka_unit_test_setup(test_no_larger_chunks_in_full_memory, setup),
        cmocka_unit_test_setup(test_pressure_names_the_fullest, setup),
        cmocka_unit_test_setup(test_memory_that_stops_growing, setup),
        cmocka_unit_test_setup(test_memory_that_keeps_growing, setup),
        cmocka_unit_test_setup(test_the_slowest_endpoint_is_named, setup),
        cmocka_unit_test_setup(test_waiting_for_an_unknown_endpoint, setup),
        cmocka_unit_test_setup(test_the_codec_of_most_files, setup),
        cmocka_unit_test_setup(test_columns_that_were_not_used, setup),
        cmocka_unit_test_setup(test_threads_of_a_pool_block_each_other, setup),
        cmocka_unit_test_setup(test_garbage_of_building_events, setup),
        cmocka_unit_test_setup(test_savings_that_are_not_known, setup),
        cmocka_unit_test_setup(test_unknown_savings_are_not_small, setup),
        cmocka_unit_test_setup(test_waits_of_unknown_kind, setup),
        cmocka_unit_test_setup(test_a_run_without_tasks_imported_nothing, setup),
        cmocka_unit_test_setup(test_the_client_merges_in_wall_time, setup),
        cmocka_unit_test_setup(test_a_script_that_works_on, setup),
        cmocka_unit_test_setup(test_a_client_without_cpu_does_not_merge, setup),
    };

    test_heap_install();
    return cmocka_run_group_tests_name("finding_health", tests, NULL, NULL);
}
