/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_runs.h - runs to save, with all kinds of data that a run can have. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_RUNS_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_RUNS_H

#include "file/scheduler_changes.h"
#include "saved_extremes.h"

static inline void add_many_samples(roast_run *run, int workers, int moments)
{
    for (int w = 0; w < workers; w++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "tcp://host:%d", w);
        for (int i = 0; i < moments; i++) {
            roast_sample sample = {.worker = roast_str_of(name),
                                   .time_ns = EPOCH_0 + i * SECOND + w * 1000};
            roast_sample_set(&sample, ROAST_SERIES_memory, 1e9 + (i * 37 % 11) * 4096);
            if (i % 3 == 0)
                roast_sample_set(&sample, ROAST_SERIES_cpu, 50 + i % 50);
            roast_sample_set(&sample, ROAST_SERIES_cores, 4);
            assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
        }
    }
}

static inline void add_notes(roast_run *run)
{
    set_note(run, ROAST_NOTES_run, "id", "0123456789abcdef0123456789abcdef");
    set_note(run, ROAST_NOTES_run, "processor", "MyProcessor");
    set_note(run, ROAST_NOTES_run, "executor", "Futures, 4 workers");
    set_note(run, ROAST_NOTES_label, "site", "T2");
    set_note(run, ROAST_NOTES_label, "user", "me");
    set_note(run, ROAST_NOTES_provenance, "coffea", "2026.1");
    set_note(run, ROAST_NOTES_document, "fileset", "{\"ttbar\": [\"one.root\"]}");
}

/* Complete attempts on several workers, including a retried and a failed one. */
static inline void add_attempts(roast_run *run, size_t count)
{
    struct roast_str ladder = some_ladder();

    for (size_t i = 0; i < count; i++) {
        struct chunk_at at = {.process = 10 + i % 5,
                              .sequence = (uint32_t)(i / 5 + 1),
                              .file = i % 3 ? "root://host//one.root" : "two.root",
                              .entry = i * 100,
                              .second = (int64_t)(1 + i / 5),
                              .status =
                                  i % 7 == 3 ? ROAST_CHUNK_FAILED : ROAST_CHUNK_OK};
        add_chunk_frame(run, &at);
        add_end_frame(run, &at, ladder);
    }
    add_chunk_frame(run, &(struct chunk_at){20, 1, "root://host//one.root", 1000, 90,
                                            ROAST_CHUNK_OK}); /* retried, and ok */
}

static inline void add_lost(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_BEGIN, 11, 999);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns,
                         EPOCH_0 + 50 * SECOND);
    set_place(&record, "ttbar", "two.root", 777, 888);
    add(run, &record);
}

static inline roast_run *rich_run(void)
{
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, MONO_0, EPOCH_0, NULL), ROAST_OK);
    assert_int_equal(roast_run_set_host(run, roast_str_of("here"), NULL), ROAST_OK);
    make_changes(run);
    make_task_changes(run);
    add_notes(run);
    add_attempts(run, 40);
    add_lost(run);
    add_unusual_ladders(run);
    add_extremes(run);
    add_handmade(run);
    add_many_samples(run, 3, 50);
    roast_run_finish(run, MONO_0 + 100 * SECOND);
    return run;
}

/* A typical run: a few chunks that succeeded. */
static inline roast_run *plain_run(size_t chunks)
{
    roast_run *run = new_run();

    add_notes(run);
    assert_int_equal(roast_run_offer(run, EPOCH_0, 4, 8, NULL), ROAST_OK);
    add_attempts(run, chunks);
    add_many_samples(run, 2, 20);
    roast_run_finish(run, MONO_0 + 100 * SECOND);
    return run;
}

#endif
