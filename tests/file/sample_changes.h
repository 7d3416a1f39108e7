/* SPDX-License-Identifier: BSD-3-Clause */
/* sample_changes.h - changes of a run that are samples, one of each kind. */
#ifndef ROAST_TESTS_FILE_SAMPLE_CHANGES_H
#define ROAST_TESTS_FILE_SAMPLE_CHANGES_H

#include "frame_changes.h"

static inline void add_sample(roast_run *run, const char *worker, int64_t seconds,
                              double value)
{
    roast_sample sample = {.worker = roast_str_of(worker),
                           .time_ns = EPOCH_0 + seconds * SECOND + 123456};

    roast_sample_set(&sample, ROAST_SERIES_memory, value);
    roast_sample_set(&sample, ROAST_SERIES_last_seen, (double)seconds + 1.76e9);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

/* Values that no reader of /proc returns. */
static inline void change_extreme_sample(roast_run *run)
{
    roast_sample sample = {.worker = {NULL, 0}, .time_ns = INT64_MIN};

    for (int i = 0; i < ROAST_SERIES_COUNT; i++)
        roast_sample_set(&sample, (enum roast_series)i, 1.0e15 + i / 7.0);
    roast_sample_set(&sample, ROAST_SERIES_cpu, (double)NAN);
    roast_sample_set(&sample, ROAST_SERIES_nbytes, 1e300);
    roast_sample_set(&sample, ROAST_SERIES_occupancy, -1e300);
    roast_sample_set(&sample, ROAST_SERIES_gil, 4503599627.370497);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

static inline void add_use(roast_run *run, uint64_t parent, uint64_t started,
                           int64_t seconds)
{
    uint64_t io_known = seconds != 4;
    struct roast_process_use use = {
        .pid = 5,
        .parent_pid = parent,
        .started_ticks = started,
        .time_ns = EPOCH_0 + seconds * SECOND + 1,
        .cpu_ns = (uint64_t)seconds * 700000001,
        .reaped_cpu_ns = 5,
        .rss_bytes = 1 << 30,
        .threads = 3,
        .io_known = io_known,
        .read_bytes = io_known * (uint64_t)seconds * 12345,
        .write_bytes = io_known * (uint64_t)seconds * 4096,
    };

    assert_int_equal(roast_run_add_use(run, &use, NULL), ROAST_OK);
}

static inline void change_process_use(roast_run *run)
{
    add_use(run, 1, 77, 2);
}

static inline void change_process_use_again(roast_run *run)
{
    add_use(run, 1, 77, 3);
}

static inline void change_parent(roast_run *run)
{
    add_use(run, 4, 77, 4);
}

static inline void change_process(roast_run *run)
{
    add_use(run, 4, 99, 5); /* another process with the same pid */
}

#endif
