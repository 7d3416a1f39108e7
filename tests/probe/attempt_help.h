/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt_help.h - an attempt from its begin to the frames it tells at its end. */
#ifndef ROAST_TESTS_ATTEMPT_HELP_H
#define ROAST_TESTS_ATTEMPT_HELP_H

#include "probe/chunk_help.h"

enum { MOST_TOLD = 8 };

/* What the frames of an attempt say; borrows them. */
struct told {
    size_t count;
    roast_record records[MOST_TOLD];
};

static const struct roast_chunk_end ended_ok = {.status = ROAST_CHUNK_OK};
static const struct roast_chunk_end ended_failed = {
    .status = ROAST_CHUNK_FAILED,
    .error_type = {"OSError", 7},
    .error_message = {"no such file", 12},
};

/* False when there is anything but whole frames. */
static inline bool read_told(struct told *told, struct roast_str frames)
{
    size_t used;

    for (told->count = 0; frames.size_bytes > 0; told->count++) {
        if (told->count == MOST_TOLD ||
            roast_record_decode(&told->records[told->count], &used, frames, NULL) < 0)
            return false;
        frames = str_from(frames.data + used, frames.size_bytes - used);
    }
    return true;
}

static inline roast_record decoded(struct roast_str frame)
{
    roast_record rec = {.present = 0};

    assert_int_equal(roast_record_decode(&rec, NULL, frame, NULL), ROAST_OK);
    return rec;
}

static inline roast_thread *begin_attempt(const struct roast_attempt_item *item)
{
    roast_thread *thread = roast_thread_get(NULL);

    assert_non_null(thread);
    assert_false(roast_attempt_active(thread));
    assert_non_null(roast_attempt_begin(thread, NULL, item).data);
    assert_true(roast_attempt_active(thread));
    return thread;
}

static inline struct told end_attempt(roast_thread *thread, struct roast_chunk_end end)
{
    struct roast_str frames = {NULL, 0};
    struct told told;

    assert_int_equal(roast_attempt_end(thread, &end, &frames, NULL), ROAST_OK);
    assert_false(roast_attempt_active(thread));
    assert_true(read_told(&told, frames));
    assert_true(told.count > 0);
    assert_int_equal(told.records[told.count - 1].kind, ROAST_FRAME_END);
    return told;
}

/* One chunk, kept by the attempt. False when anything failed. */
static inline bool keep_chunk(roast_thread *thread, const unsigned char *run_id)
{
    const struct roast_chunk_options options = {.run_id = run_id};
    struct roast_str frame = {NULL, 0};

    roast_chunk_begin(thread, &options);
    roast_chunk_start(thread);
    roast_chunk_stop(thread);
    return roast_chunk_finish(thread, &ended_ok, &frame, NULL) == ROAST_OK &&
           roast_attempt_keep(thread, frame, NULL) == ROAST_OK;
}

static inline struct roast_identity identity_of(const roast_record *rec)
{
    struct roast_identity id = {.sequence = 0};

    (void)roast_identity_unpack(&id, rec->values[ROAST_FIELD_identity].str, NULL);
    return id;
}

static inline bool same_identity(const roast_record *a, const roast_record *b)
{
    return roast_record_has(a, ROAST_FIELD_identity) &&
           str_equal(a->values[ROAST_FIELD_identity].str,
                     b->values[ROAST_FIELD_identity].str);
}

#endif
