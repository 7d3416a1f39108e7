/* SPDX-License-Identifier: BSD-3-Clause */
/* record_help.h - decodes frames and reads fields of records. Functions that return a
 * failure instead of failing the test can be used in other threads and processes. */
#ifndef ROAST_TESTS_PROBE_RECORD_HELP_H
#define ROAST_TESTS_PROBE_RECORD_HELP_H

#include "attempt_frames.h"
#include "base/clock.h"
#include "roast/probe.h"
#include "roast/probe_ladder.h"
#include "roast/record.h"
#include "support.h"

enum { MAX_SENT = 8 };

/* The decoded frames of an attempt; borrows them. */
struct sent_frames {
    size_t count;
    roast_record records[MAX_SENT];
};

/* False unless there are only whole frames. */
static inline bool read_sent(struct sent_frames *sent, struct roast_str frames)
{
    size_t used;

    for (sent->count = 0; frames.size_bytes > 0; sent->count++) {
        if (sent->count == MAX_SENT ||
            roast_record_decode(&sent->records[sent->count], &used, frames, NULL) < 0)
            return false;
        frames = str_from(frames.data + used, frames.size_bytes - used);
    }
    return true;
}

/* The number of frames; UINT64_MAX unless all are whole. */
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

static inline uint64_t number(const roast_record *rec, enum roast_field field)
{
    if (!roast_record_has(rec, field))
        fail_msg("no %s", roast_field_info(field)->name);
    return rec->values[field].u64;
}

static inline struct roast_str text(const roast_record *rec, enum roast_field field)
{
    if (!roast_record_has(rec, field))
        fail_msg("no %s", roast_field_info(field)->name);
    return rec->values[field].str;
}

#endif
