/* SPDX-License-Identifier: BSD-3-Clause */
/* runs.h - runs made by hand: frames to the store, a summary out, all of it through the
 * public interface. */
#ifndef ROAST_TESTS_AGGREGATE_RUNS_H
#define ROAST_TESTS_AGGREGATE_RUNS_H

#include "cells.h"
#include "frame_fill.h"
#include "look.h"

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
    static uint32_t next_sequence = 1000;
    unsigned char identity[ROAST_IDENTITY_BYTES], place[ROAST_PLACE_BYTES];
    struct roast_identity id = {
        .run_id = {1},
        .process_id = frame.process ? frame.process : 1,
        .sequence = frame.sequence ? frame.sequence : next_sequence++,
    };
    roast_record rec = {.kind = frame.kind ? frame.kind : ROAST_FRAME_CHUNK};
    char bytes[4096];

    roast_identity_pack(identity, &id);
    roast_record_set_str(&rec, ROAST_FIELD_identity,
                         str_from(identity, sizeof(identity)));
    if (rec.kind == ROAST_FRAME_BEGIN) {
        fill_begin(&rec, &frame, place);
    } else {
        roast_record_set_u64(&rec, ROAST_FIELD_status, frame.status ? frame.status : 1);
        roast_record_set_u64(&rec, ROAST_FIELD_pid,
                             frame.pid ? frame.pid : 100 + id.process_id);
        set_text(&rec, ROAST_FIELD_error_type, frame.error_type, NULL);
    }
    if (rec.kind == ROAST_FRAME_CHUNK)
        fill_chunk(&rec, &frame);
    if (rec.kind == ROAST_FRAME_END)
        fill_end(&rec, &frame);
    int64_t size = roast_record_encode(bytes, sizeof(bytes), &rec, NULL);
    assert_true(size > 0);
    return roast_run_add_frames(run, str_from(bytes, (size_t)size), ROAST_FROM_USER,
                                NULL, NULL);
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
