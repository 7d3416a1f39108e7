/* SPDX-License-Identifier: BSD-3-Clause */
/* runs.h - a run with a known clock, and its contents.
 *
 * The client's monotonic clock is at MONO_0 when its realtime clock is at EPOCH_0. */
#ifndef ROAST_TESTS_RUN_RUNS_H
#define ROAST_TESTS_RUN_RUNS_H

#include "records.h"

static const int64_t SECOND = INT64_C(1000000000);
static const int64_t MONO_0 = INT64_C(5000000000000);
static const int64_t EPOCH_0 = INT64_C(1760000000000000000);

static inline roast_run *new_run(void)
{
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, MONO_0, EPOCH_0, NULL), ROAST_OK);
    assert_int_equal(roast_run_accept(run, RUN_ID, NULL), ROAST_OK);
    assert_int_equal(roast_run_set_host(run, roast_str_of("here"), NULL), ROAST_OK);
    return run;
}

static inline struct roast_tally add_from(roast_run *run, const roast_record *rec,
                                          enum roast_frames_from from)
{
    struct roast_buf frame = {0};
    struct roast_tally tally;

    append_frame(&frame, rec);
    char *tight = tight_copy(frame.data, frame.size_bytes);
    assert_int_equal(roast_run_add_frames(run, str_from(tight, frame.size_bytes), from,
                                          &tally, NULL),
                     ROAST_OK);
    free(tight);
    roast__buf_release(&frame);
    return tally;
}

/* Adds a record of a worker that must be new. */
static inline void add(roast_run *run, const struct test_record *record)
{
    assert_int_equal(add_from(run, &record->rec, ROAST_FROM_WORKERS).kept, 1);
}

static inline const struct roast_column *column(const roast_run *run,
                                                enum roast_attempt_column which)
{
    return &run->attempts.columns[which];
}

/* A cell that must be known, and one that must not. */
#define assert_cell(run, row, name, expected) \
    do { \
        assert_true(roast__column_has(column((run), ROAST_COLUMN_##name), (row))); \
        assert_true(column((run), ROAST_COLUMN_##name)->values[row] == (expected)); \
    } while (0)

#define assert_no_cell(run, row, name) \
    assert_false(roast__column_has(column((run), ROAST_COLUMN_##name), (row)))

#endif
