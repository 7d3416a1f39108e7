/* SPDX-License-Identifier: BSD-3-Clause */
/* spool_help.h - a spool for every test, frames of any size for it, and a sink that
 * stores what it gets. */
#ifndef ROAST_TESTS_COLLECT_SPOOL_HELP_H
#define ROAST_TESTS_COLLECT_SPOOL_HELP_H

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

/* The state of a test. */
struct spool_test {
    char dir[64];
    roast_spool *spool;
    struct roast_buf got; /* all that was given */
    size_t calls;
    size_t refuse_at; /* the call that is refused; 0: none */
    size_t frames;    /* in calls of whole frames */
    size_t damaged;   /* calls of something else */
};

static inline const char *path_of(const struct spool_test *test, const char *name)
{
    static char path[400];

    (void)snprintf(path, sizeof(path), "%s/%s", test->dir, name);
    return path;
}

static inline void append(const struct spool_test *test, const char *name,
                          struct roast_str bytes)
{
    int fd = open(path_of(test, name), O_WRONLY | O_CREAT | O_APPEND, 0600);

    assert_true(fd >= 0);
    if (write(fd, bytes.data, bytes.size_bytes) != (ssize_t)bytes.size_bytes)
        fail_msg("cannot write %s", name);
    (void)close(fd);
}

static inline int take(void *context, struct roast_str frames)
{
    struct spool_test *test = context;

    assert_true(frames.size_bytes > 0);
    if (++test->calls == test->refuse_at)
        return ROAST_LIMIT;
    unsigned char *data = /* not libroast's memory, which may fail by intent */
        realloc(test->got.data, test->got.size_bytes + frames.size_bytes);
    assert_non_null(data);
    memcpy(data + test->got.size_bytes, frames.data, frames.size_bytes);
    test->got.data = data;
    test->got.size_bytes += frames.size_bytes;
    size_t whole = count_whole(frames);
    test->frames += whole;
    test->damaged += whole == 0;
    return ROAST_OK;
}

static inline int read_spool(struct spool_test *test)
{
    const struct roast_frames_sink sink = {take, test};
    return roast_spool_read(test->spool, &sink, NULL);
}

#endif
