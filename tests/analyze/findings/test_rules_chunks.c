/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rules_chunks.c - advice on splitting the work: sizes that fit into memory,
 * files that can be merged, savings, causes of idle threads. */
#include "analyze/diagnosis.h"
#include "analyze/findings/finding_text.h"
#include "heap.h"

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

static double saves_of(const roast_summary *summary, const char *id)
{
    int64_t row = finding_row(summary, id);

    assert_true(row >= 0);
    return number_at(summary, "findings", (size_t)row, "saves_wall_seconds");
}

/* ---- memory ---------------------------------------------------------------------- */

/* Chunks whose opening takes seven times as long as their events. */
static struct patient with_small_chunks(uint64_t events)
{
    return (struct patient){.chunks = 400,
                            .per_file = 200,
                            .events = events,
                            .limit = 2000000000,
                            .form = 0.7,
                            .compute = 0.1};
}

/* Few events in 50 MB of buffers do not take 10 MB each: larger chunks are advised. */
static void test_buffers_of_a_chunk_are_not_those_of_its_events(void **state)
{
    for (int threads = 1; threads <= 2; threads++) {
        struct patient patient = with_small_chunks(4);
        (void)state;
        patient.threads = threads;
        patient.takes_mb = 50;
        roast_summary *summary = diagnose(patient);
        assert_says(summary, "chunks_too_small", "advice", "(now 4)");
        assert_says(summary, "chunks_too_small", "advice",
                    "memory per worker about 577 MB of 2.00 GB now, check it");
        roast_summary_free(summary);
    }
}

/* A chunk of many events takes more than buffers: ten times as much would not fit. */
static void test_memory_that_must_be_of_the_events(void **state)
{
    struct patient patient = with_small_chunks(10000);

    (void)state;
    patient.takes_mb = 800;
    roast_summary *summary = diagnose(patient);
    assert_int_equal(finding_row(summary, "chunks_too_small"), -1);
    roast_summary_free(summary);
    patient.takes_mb = 100; /* if all of it is of events there is room for more */
    summary = diagnose(patient);
    assert_says(summary, "chunks_too_small", "advice",
                "about 629 MB -> at most about ");
    roast_summary_free(summary);
}

/* Of the bookkeeping around reads it is not known how much goes with larger chunks. */
static void test_reading_may_save_more(void **state)
{
    struct patient patient = with_small_chunks(1000);
    roast_summary *plain = diagnose(patient);

    (void)state;
    patient.bookkeeping = 0.4;
    roast_summary *many_columns = diagnose(patient);
    assert_says(plain, "chunks_too_small", "saving", "about ");
    assert_says(many_columns, "chunks_too_small", "saving", "at least ");
    roast_summary_free(plain);
    roast_summary_free(many_columns);
}

/* Both threads of a worker fill its memory: 524 MB, and 105 + 10 or 30 for events. */
static void test_two_sizes_show_the_memory_per_event(void **state)
{
    struct patient patient = with_small_chunks(1000);

    (void)state;
    patient.event_kb = 10;
    patient.larger = 3;
    roast_summary *summary = diagnose(patient);
    assert_says(summary, "chunks_too_small", "advice",
                "(now 3_000); memory per worker ");
    assert_says(summary, "chunks_too_small", "advice", " -> about ");
    roast_summary_free(summary);
    patient.event_kb = 1000; /* 1 GB for those of now already */
    summary = diagnose(patient);
    assert_int_equal(finding_row(summary, "chunks_too_small"), -1);
    roast_summary_free(summary);
}

/* The memory of imports and caches in the first chunk of a process stays. */
static void test_the_first_chunk_of_a_process_is_left_out(void **state)
{
    struct patient patient = with_small_chunks(4);
    roast_run *run = patient_new(patient, NULL);

    (void)state;
    for (uint64_t process = 1; process <= 2; process++) {
        struct frame first = {.process = process,
                              .sequence = 5000,
                              .host = "red-c1",
                              .file = "f0.root",
                              .first = 900000 + process,
                              .stop = 900001 + process,
                              .events = 1,
                              .start = 0.01,
                              .duration = 0.02,
                              .before_mb = 50,
                              .peak_mb = 4000};
        struct frame end = {.kind = ROAST_FRAME_END,
                            .process = process,
                            .sequence = 5000,
                            .task_start = 0.01,
                            .task = 0.03};
        add_frame(run, first);
        add_frame(run, end);
    }
    roast_summary *summary = summary_of(run);
    assert_says(summary, "chunks_too_small", "advice",
                "memory per worker about 629 MB");
    roast_summary_free(summary);
    roast_run_free(run);
}

static roast_summary *diagnose_used(double used_bytes)
{
    roast_run *run = patient_new(with_small_chunks(1000), NULL);
    roast_sample sample = {.worker = roast_str_of(worker_named(0)), .time_ns = at(1)};

    roast_sample_set(&sample, ROAST_SERIES_memory_limit, 2e9);
    roast_sample_set(&sample, ROAST_SERIES_memory, used_bytes);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    roast_summary *summary = summary_of(run);
    roast_run_free(run);
    return summary;
}

/* Two findings must not advise larger and smaller chunks. */
static void test_no_larger_chunks_near_the_limit_of_memory(void **state)
{
    roast_summary *fine = diagnose_used(1.1e9), *full = diagnose_used(1.7e9);

    (void)state;
    assert_true(finding_row(fine, "chunks_too_small") >= 0);
    assert_int_equal(finding_row(fine, "memory_pressure"), -1);
    assert_int_equal(finding_row(full, "chunks_too_small"), -1);
    assert_true(finding_row(full, "memory_pressure") >= 0);
    roast_summary_free(fine);
    roast_summary_free(full);
}

/* Other workers have less memory than one with many threads. */
static void test_memory_is_that_of_the_smallest_worker(void **state)
{
    struct patient patient = {.chunks = 400,
                              .per_file = 200,
                              .events = 1000,
                              .workers = 4,
                              .threads = 1,
                              .event_kb = 100,
                              .larger = 3,
                              .form = 0.7,
                              .compute = 0.1};
    const struct roast_member large = {.worker = roast_str_of(worker_named(9)),
                                       .host = roast_str_of("red-c9"),
                                       .joined_ns = at(0),
                                       .threads = 16};
    roast_run *run = patient_new(patient, NULL);

    (void)state;
    roast_summary *alike = diagnose(patient);
    assert_says(alike, "chunks_too_small", "advice", "chunksize=6_000 (now 3_000)");
    assert_int_equal(roast_run_add_member(run, &large, NULL), ROAST_OK);
    leave_for(run, worker_named(9), 0.01, "it was too large");
    roast_summary *mixed = summary_of(run);
    assert_says(mixed, "chunks_too_small", "advice", "chunksize=6_000 (now 3_000)");
    roast_summary_free(alike);
    roast_summary_free(mixed);
    roast_run_free(run);
}

/* ---- files ----------------------------------------------------------------------- */

/* Only files of one dataset can be merged. */
static void test_datasets_are_not_merged(void **state)
{
    struct patient patient = {.chunks = 400,
                              .per_file = 1,
                              .events = 1000,
                              .form = 0.7,
                              .compute = 0.1,
                              .apart = true};
    roast_summary *apart = diagnose(patient);

    (void)state;
    patient.apart = false;
    roast_summary *together = diagnose(patient);
    assert_int_equal(finding_row(apart, "files_too_small"), -1);
    assert_says(together, "files_too_small", "evidence", "400 files of 1_000 events");
    assert_says(together, "files_too_small", "advice",
                "memory per worker about 629 MB");
    roast_summary_free(apart);
    roast_summary_free(together);
}

/* Parquet has no hadd, and RNTuple no haddnano.py. */
static void test_files_are_merged_by_their_kind(void **state)
{
    static const struct {
        enum roast_file_kind kind;
        const char *tool;
    } kinds[] = {{ROAST_FILE_TTREE, "(hadd; haddnano.py for NanoAOD) into"},
                 {ROAST_FILE_RNTUPLE, "(hadd) into"},
                 {ROAST_FILE_PARQUET, "(pyarrow) into"}};
    const struct roast_branch branch = {.name = roast_str_of("Jet_pt"), .reads = 1};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct roast_file_facts facts = {
            .kind = kinds[i].kind, .branches = 1, .entries = 1000};
        roast_summary *summary =
            diagnose((struct patient){.chunks = 400,
                                      .per_file = 1,
                                      .events = 1000,
                                      .form = 0.7,
                                      .compute = 0.1,
                                      .branches = branches_blob(&branch, 1),
                                      .facts = facts_blob(&facts)});
        assert_says(summary, "files_too_small", "advice", kinds[i].tool);
        roast_summary_free(summary);
    }
}

/* Two calls read one file of 20 chunks: it does not have twice the events. */
static void test_two_calls_over_the_same_file(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    for (uint64_t call = 0; call < 2; call++) {
        mark(run, ROAST_MARK_RUN_BEGIN, (double)call * 30 + 1);
        for (uint64_t i = 0; i < 20; i++) {
            uint32_t number = (uint32_t)(1 + call * 20 + i);
            double start = (double)(1 + call * 30 + i);
            add_frame(run, (struct frame){.sequence = number,
                                          .first = i * 1000,
                                          .stop = i * 1000 + 1000,
                                          .events = 1000,
                                          .start = start + 0.9,
                                          .duration = 0.01});
            add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                          .sequence = number,
                                          .task_start = start,
                                          .task = 1});
        }
        mark(run, ROAST_MARK_RUN_END, (double)call * 30 + 22);
    }
    roast_run_finish(run, NS(55));
    roast_summary *summary = summary_of(run);
    assert_says(summary, "chunks_too_small", "advice", "chunksize=20_000 (now 1_000)");
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- sending --------------------------------------------------------------------- */

/* Waiting of preprocessing tasks is no cost of sending chunks. */
static void test_waiting_of_other_tasks_is_left_out(void **state)
{
    const struct patient patient = {.chunks = 2000,
                                    .per_file = 500,
                                    .form = 0.001,
                                    .compute = 0.02,
                                    .gap = 0.01,
                                    .begin = 10};
    roast_run *run = patient_new(patient, NULL);
    const struct roast_task asked = {.prefix = roast_str_of("get_metadata"),
                                     .worker = roast_str_of(worker_named(0)),
                                     .key_hash = 90000,
                                     .ours = true,
                                     .end = ROAST_TASK_ok,
                                     .assigned_ns = at(1),
                                     .start_ns = at(8),
                                     .stop_ns = at(9)};
    const struct roast_task before = {.prefix = roast_str_of("get_metadata"),
                                      .worker = roast_str_of(worker_named(0)),
                                      .key_hash = 90001,
                                      .ours = true,
                                      .end = ROAST_TASK_ok,
                                      .assigned_ns = at(0.5),
                                      .start_ns = at(0.5),
                                      .stop_ns = at(1)};

    (void)state;
    assert_int_equal(roast_run_add_task(run, &before, NULL), ROAST_OK);
    assert_int_equal(roast_run_add_task(run, &asked, NULL), ROAST_OK);
    roast_summary *summary = summary_of(run);
    assert_true(number_at(summary, "budget", 0, "dispatch") > 26);
    int64_t row = finding_row(summary, "tasks_too_short");
    assert_true(row >= 0);
    assert_true(number_at(summary, "findings", (size_t)row, "cost_thread_seconds") <
                21);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* 400 chunks of 10_000 events and 0.2 s on 4 threads, 20 s of it for sending tasks. */
static struct roast_finding short_tasks(double per_chunk_s, double best_size)
{
    struct roast_file_sizes sizes[] = {{4, 1e6}};
    static struct roast_job jobs[400];
    struct roast_shift shift = {.to_ns = NS(25), .threads = 4};
    struct roast_phase_interval phase = {.phase = ROAST_PHASE_CHUNKS};
    struct roast_budget budget = {.schedule = {.shifts = &shift,
                                               .shift_count = 1,
                                               .jobs = jobs,
                                               .job_count = 400,
                                               .has_scheduler = true},
                                  .phases = {.intervals = &phase, .count = 1},
                                  .end_ns = NS(25)};
    struct roast_schedule_model *schedule = NULL;
    roast_summary *summary = diagnose((struct patient){.chunks = 400});
    const struct roast_summary_context ctx = {.summary = summary, .budget = &budget};

    budget.by_phase[ROAST_PHASE_CHUNKS][ROAST_SLICE_dispatch] = 20;
    for (int i = 0; i < 400; i++) {
        int64_t assigned_ns = i / 4 * NS(0.25);
        jobs[i] = (struct roast_job){.kind = ROAST_SLICE_unexplained,
                                     .assigned_ns = assigned_ns,
                                     .start_ns = assigned_ns + NS(0.05),
                                     .stop_ns = assigned_ns + NS(0.25)};
    }
    const struct roast_rule_input at = {.ctx = &ctx,
                                        .schedule = &schedule,
                                        .slices = (const roast_slices){0},
                                        .offered_s = 100,
                                        .wall_s = 25,
                                        .threads = 4,
                                        .chunk_time_s = 80,
                                        .on_cluster = true,
                                        .model = {.chunks = 400,
                                                  .events = 4e6,
                                                  .per_chunk_s = per_chunk_s,
                                                  .per_event_s = 2e-5,
                                                  .dispatch_s = 20,
                                                  .threads = 4,
                                                  .current_size = 1e4,
                                                  .sizes = sizes,
                                                  .size_count = 1,
                                                  .base_bytes = NAN,
                                                  .per_event_bytes = NAN,
                                                  .limit_bytes = NAN,
                                                  .threads_per_worker = 1},
                                        .best_size = best_size};
    struct roast_finding finding = {.saves_s = NAN};

    roast__rule_tasks_too_short(&at, &finding);
    roast__schedule_model_free(schedule);
    roast_summary_free(summary);
    return finding;
}

/* Tasks are too short only where longer ones are faster, and the saving is that of the
 * model: 20 thread-seconds less 10 (or 1) per cent, and a longer tail. */
static void test_longer_tasks_are_advised_where_they_are_quicker(void **state)
{
    (void)state;
    assert_false(short_tasks(0.05, 5e3).found);
    assert_false(short_tasks(0.001, 1e4).found);
    assert_false(short_tasks(0.01, 1e5).found); /* 0.2 s of 25 */
    struct roast_finding best = short_tasks(0.05, 1e5);
    assert_true(best.found);
    assert_near(best.saves_s, (400 - 40) * 0.05 / 4 - (2.05 - 0.25) * 0.75 / 2);
    struct roast_finding usual = short_tasks(0.05, 1e4); /* 2 s each */
    assert_true(usual.found);
    assert_true(fabs(usual.saves_s - best.saves_s) < 0.1);
}

/* A lost chunk does not explain threads that wait for other chunks. */
static void test_no_work_beside_a_lost_chunk(void **state)
{
    struct frame begin = {.kind = ROAST_FRAME_BEGIN,
                          .process = 9,
                          .sequence = 2000,
                          .file = "lost.root",
                          .stop = 1000,
                          .start = 2};
    const struct roast_task lost = {.prefix = roast_str_of("Processor"),
                                    .worker = roast_str_of(worker_named(2)),
                                    .key_hash = 2000,
                                    .ours = true,
                                    .end = ROAST_TASK_lost,
                                    .assigned_ns = at(2),
                                    .stop_ns = at(22)};
    roast_run *run = patient_new((struct patient){.chunks = 80, .starved = 0.5}, NULL);

    (void)state;
    join_on(run, worker_named(2), "red-c2", 2);
    add_frame_of_task(run, begin, worker_named(2), 2000);
    assert_int_equal(roast_run_add_task(run, &lost, NULL), ROAST_OK);
    leave_for(run, worker_named(2), 22, "it died");
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "budget", 0, "lost"), 20);
    assert_true(finding_row(summary, "no_work_sent") >= 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- the tail -------------------------------------------------------------------- */

/* 41 chunks on four threads, the last one 8.05 s long after ten rounds of 1.05 s. If it
 * comes first, 24 others run beside it and four rounds follow. */
static void test_what_a_slow_chunk_costs(void **state)
{
    roast_summary *summary =
        diagnose((struct patient){.chunks = 41, .last = 8, .last_dataset = "qcd"});
    double lost_s = number_at(summary, "tail", 0, "thread_seconds_lost");

    (void)state;
    assert_near(lost_s, 3 * 8.05);
    assert_near(number_at(summary, "budget", 0, "idle_tail"), lost_s);
    assert_near(saves_of(summary, "last_chunks"), 10.5 + 8.05 - (8 + 4) * 1.05);
    assert_int_equal(finding_row(summary, "uneven_datasets"), -1); /* of one chunk */
    assert_says(summary, "last_chunks", "evidence",
                "8.05 s with idle threads while 1 chunk still ran; the last one: "
                "f2.root on red-c1, 8.05 s");
    assert_says(summary, "last_chunks", "advice", "took so long on red-c1");
    roast_summary_free(summary);
}

/* Two rounds of 1.05 s, then 8.05 s; another chunk is in front of it if it is the first
 * one in the fileset, too. */
static void test_a_scheduler_sends_two_chunks_at_once(void **state)
{
    roast_summary *summary = diagnose((struct patient){.chunks = 9, .last = 8});

    (void)state;
    assert_near(saves_of(summary, "last_chunks"), 1.05);
    roast_summary_free(summary);
}

/* Unknown file and host are left out. */
static void test_a_last_chunk_of_which_nothing_is_known(void **state)
{
    struct roast_finding finding = {0};
    char text[ROAST_FINDING_TEXT_BYTES];
    const struct roast_str absent = {NULL, 0};

    (void)state;
    roast__set_file(&finding, "file", absent);
    roast__set_text(&finding, "host", absent);
    (void)roast__fill_pattern(text, "{file} on {host} // the last chunk{?file}",
                              &finding);
    assert_string_equal(text, "the last chunk");
}

/* 5 long chunks on 4 threads: with smaller ones all would be busy longer. */
static void test_another_size_saves_what_the_model_says(void **state)
{
    roast_summary *summary =
        diagnose((struct patient){.chunks = 5, .per_file = 5, .compute = 10});
    double idle_s = number_at(summary, "budget", 0, "idle_tail");

    (void)state;
    assert_says(summary, "last_chunks", "advice", "(now 10_000)");
    assert_near(idle_s, 3 * 10.05);
    double saves_s = saves_of(summary, "last_chunks");
    assert_true(saves_s > 4); /* not all that is idle: there is always an end */
    assert_true(saves_s < 0.9 * idle_s / 4);
    roast_summary_free(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_buffers_of_a_chunk_are_not_those_of_its_events,
                               setup),
        cmocka_unit_test_setup(test_memory_that_must_be_of_the_events, setup),
        cmocka_unit_test_setup(test_two_sizes_show_the_memory_per_event, setup),
        cmocka_unit_test_setup(test_the_first_chunk_of_a_process_is_left_out, setup),
        cmocka_unit_test_setup(test_no_larger_chunks_near_the_limit_of_memory, setup),
        cmocka_unit_test_setup(test_memory_is_that_of_the_smallest_worker, setup),
        cmocka_unit_test_setup(test_reading_may_save_more, setup),
        cmocka_unit_test_setup(test_datasets_are_not_merged, setup),
        cmocka_unit_test_setup(test_files_are_merged_by_their_kind, setup),
        cmocka_unit_test_setup(test_two_calls_over_the_same_file, setup),
        cmocka_unit_test_setup(test_waiting_of_other_tasks_is_left_out, setup),
        cmocka_unit_test_setup(test_longer_tasks_are_advised_where_they_are_quicker,
                               setup),
        cmocka_unit_test_setup(test_no_work_beside_a_lost_chunk, setup),
        cmocka_unit_test_setup(test_what_a_slow_chunk_costs, setup),
        cmocka_unit_test_setup(test_a_scheduler_sends_two_chunks_at_once, setup),
        cmocka_unit_test_setup(test_a_last_chunk_of_which_nothing_is_known, setup),
        cmocka_unit_test_setup(test_another_size_saves_what_the_model_says, setup),
    };

    test_heap_install();
    return cmocka_run_group_tests_name("finding_chunks", tests, NULL, NULL);
}
