/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt_help.h - an attempt from its begin to the frames that it sends. */
#ifndef ROAST_TESTS_PROBE_ATTEMPT_HELP_H
#define ROAST_TESTS_PROBE_ATTEMPT_HELP_H

#include "chunk_help.h"

static const struct roast_chunk_end ended_ok = {.status = ROAST_CHUNK_OK};
static const struct roast_chunk_end ended_failed = {
    .status = ROAST_CHUNK_FAILED,
    .error_type = {"OSError", 7},
    .error_message = {"no such file", 12},
};

static inline roast_thread *begin_attempt(const struct roast_attempt_item *item)
{
    roast_thread *thread = roast_thread_get(NULL);

    assert_non_null(thread);
    assert_false(roast_attempt_active(thread));
    assert_non_null(roast_attempt_begin(thread, NULL, item).data);
    assert_true(roast_attempt_active(thread));
    return thread;
}

static inline struct sent_frames end_attempt(roast_thread *thread,
                                             struct roast_chunk_end end)
{
    struct roast_str frames = {NULL, 0};
    struct sent_frames sent;

    assert_int_equal(attempt_end(thread, &end, &frames, NULL), ROAST_OK);
    assert_false(roast_attempt_active(thread));
    assert_true(read_sent(&sent, frames));
    assert_true(sent.count > 0);
    assert_int_equal(sent.records[sent.count - 1].kind, ROAST_FRAME_END);
    return sent;
}

/* Runs one chunk inside the attempt. False when anything failed. */
static inline bool add_attempt_chunk(roast_thread *thread, const unsigned char *run_id)
{
    const struct roast_chunk_options options = {.run_id = run_id};
    struct roast_str frame = {NULL, 0};

    roast_chunk_begin(thread, &options);
    roast_chunk_start(thread);
    roast_chunk_stop(thread);
    return roast_chunk_finish(thread, &ended_ok, &frame, NULL) == ROAST_OK &&
           roast_attempt_add_frame(thread, frame, NULL) == ROAST_OK;
}

#endif
