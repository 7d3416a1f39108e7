/* SPDX-License-Identifier: BSD-3-Clause */
/* runs.h - runs made by hand: frames to the store, a summary out, all of it through the
 * public interface. */
#ifndef ROAST_TESTS_ANALYZE_RUNS_H
#define ROAST_TESTS_ANALYZE_RUNS_H

#include "cells.h"
#include "frame_bytes.h"
#include "metric_checks.h"

static inline roast_run *run_new(void)
{
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, 0, RUN_EPOCH_NS, NULL), ROAST_OK);
    assert_int_equal(roast_run_set_host(run, roast_str_of("here"), NULL), ROAST_OK);
    return run;
}

/* Adds a frame; out of memory is for the caller to see. */
static inline int try_frame(roast_run *run, struct frame frame)
{
    char bytes[FRAME_BYTES];
    struct roast_str encoded = str_from(bytes, encode_frame(bytes, frame));

    return roast_run_add_frames(run, encoded, ROAST_FROM_USER, NULL, NULL);
}

static inline void add_frame(roast_run *run, struct frame frame)
{
    assert_int_equal(try_frame(run, frame), ROAST_OK);
}

static inline void mark(roast_run *run, enum roast_mark what, double seconds)
{
    assert_int_equal(roast_run_mark(run, what, NS(seconds), NULL), ROAST_OK);
}

static inline void offer(roast_run *run, double seconds, uint64_t workers,
                         uint64_t threads)
{
    assert_int_equal(
        roast_run_offer(run, RUN_EPOCH_NS + NS(seconds), workers, threads, NULL),
        ROAST_OK);
}

static inline roast_summary *summary_of(roast_run *run)
{
    roast_summary *summary = NULL;

    assert_int_equal(roast_summarize(&summary, run, NULL), ROAST_OK);
    return summary;
}

#endif
