/* SPDX-License-Identifier: BSD-3-Clause */
/* spool_frames.h - frames of any size for a spool, and counting them. */
#ifndef ROAST_TESTS_COLLECT_SPOOL_FRAMES_H
#define ROAST_TESTS_COLLECT_SPOOL_FRAMES_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames.h"
#include "heap.h"
#include "roast/collect.h"

/* The number of frames when there is nothing else, else 0. */
static inline size_t count_whole(struct roast_str frames)
{
    size_t count = 0;

    while (frames.size_bytes > 0) {
        roast_record rec;
        size_t used = 0;
        if (roast_record_decode(&rec, &used, frames, NULL) != ROAST_OK)
            return 0;
        frames = str_from(frames.data + used, frames.size_bytes - used);
        count++;
    }
    return count;
}

/* Appends a frame with a payload of this size to out. */
static inline void put_frame(struct roast_buf *out, uint64_t number, size_t size_bytes)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    char *payload = calloc(1, size_bytes + 1);

    assert_non_null(payload);
    memset(payload, 'p', size_bytes);
    roast_record_set_u64(&rec, ROAST_FIELD_num_events, number);
    roast_record_set_str(&rec, ROAST_FIELD_dataset, str_from(payload, size_bytes));
    size_t bound = roast_record_bound(&rec);
    roast__buf_reserve(out, bound);
    assert_true(roast__buf_ok(out));
    int64_t size = roast_record_encode(out->data + out->size_bytes, bound, &rec, NULL);
    assert_true(size > 0);
    out->size_bytes += (size_t)size;
    free(payload);
}

static inline struct roast_str part(const struct roast_buf *buf, size_t begin,
                                    size_t end)
{
    return str_from(buf->data + begin, end - begin);
}

#endif
