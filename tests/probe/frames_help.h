/* SPDX-License-Identifier: BSD-3-Clause */
/* frames_help.h - decodes the frames of an attempt. Nothing but decoded() fails a test,
 * so that other threads and processes can use it. */
#ifndef ROAST_TESTS_PROBE_FRAMES_HELP_H
#define ROAST_TESTS_PROBE_FRAMES_HELP_H

#include "roast/record.h"
#include "support.h"

enum { MOST_TOLD = 8 };

/* The decoded frames of an attempt; borrows them. */
struct told {
    size_t count;
    roast_record records[MOST_TOLD];
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

/* How many frames; UINT64_MAX when there is anything but whole ones. */
static inline uint64_t count_frames(struct roast_str frames)
{
    roast_record rec;
    uint64_t count = 0;
    size_t used;

    for (; frames.size_bytes > 0; frames.size_bytes -= used, frames.data += used) {
        if (roast_record_decode(&rec, &used, frames, NULL) < 0)
            return UINT64_MAX; /* not whole */
        count++;
    }
    return count;
}

static inline roast_record decoded(struct roast_str frame)
{
    roast_record rec = {.present = 0};

    assert_int_equal(roast_record_decode(&rec, NULL, frame, NULL), ROAST_OK);
    return rec;
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
