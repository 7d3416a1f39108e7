/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_changes.h - changes of a run that are frames, one of each kind. */
#ifndef ROAST_TESTS_FILE_FRAME_CHANGES_H
#define ROAST_TESTS_FILE_FRAME_CHANGES_H

#include <math.h>

#include "run/runs.h"
#include "run/scheduler_events.h"

static const unsigned char OTHER_ID[ROAST_RUN_ID_BYTES] = "another";

static inline void change_begin(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_BEGIN, 7, 1);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, EPOCH_0 + SECOND);
    set_place(&record, "ttbar", "f.root", 5, 10);
    (void)add_from(run, &record.rec, ROAST_FROM_WORKERS);
}

static inline void change_chunk(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, 7, 1);
    set_file(&record, "ttbar", "f.root", 5, 10);
    set_text(&record, ROAST_FIELD_host, "here");
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_mono_ns, MONO_0 + 2 * SECOND);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, EPOCH_0 + 3 * SECOND);
    roast_record_set_u64(&record.rec, ROAST_FIELD_duration_ns, 9);
    roast_record_set_u64(&record.rec, ROAST_FIELD_monitor_errors, 1);
    set_text(&record, ROAST_FIELD_monitor_first_error, "no such thing");
    (void)add_from(run, &record.rec, ROAST_FROM_WORKERS);
}

static inline void change_end(roast_run *run, uint64_t task_ns)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_END, 7, 1);
    roast_record_set_u64(&record.rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    roast_record_set_u64(&record.rec, ROAST_FIELD_task_ns, task_ns);
    roast_record_set_u64(&record.rec, ROAST_FIELD_monitor_errors, 2);
    (void)add_from(run, &record.rec, ROAST_FROM_WORKERS);
}

/* A record of another run, from the user. */
static inline void change_by_user(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, 8, 2);
    identify(&record, OTHER_ID, 8, 2);
    (void)add_from(run, &record.rec, ROAST_FROM_USER);
}

/* Both are losses: something broken, and a frame of another run. */
static inline void change_broken(roast_run *run)
{
    struct roast_buf frames = {NULL, 0, 0, false};
    struct test_record record;

    roast__buf_put(&frames, "dirt", 4);
    init_record(&record, ROAST_FRAME_CHUNK, 8, 3);
    identify(&record, OTHER_ID, 8, 3);
    append_frame(&frames, &record.rec);
    assert_int_equal(
        roast_run_add_frames(run, buf_str(&frames), ROAST_FROM_WORKERS, NULL, NULL),
        ROAST_OK);
    roast__buf_release(&frames);
}

#endif
