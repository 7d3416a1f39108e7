/* SPDX-License-Identifier: BSD-3-Clause */
/* spool_help.h - a spool for every test, and a sink that stores what it gets. */
#ifndef ROAST_TESTS_COLLECT_SPOOL_HELP_H
#define ROAST_TESTS_COLLECT_SPOOL_HELP_H

#include "spool_frames.h"

/* The state of a test. */
struct spool_test {
    char dir[64];
    roast_spool *spool;
    struct roast_buf got; /* all bytes that the sink got */
    size_t calls;
    size_t refuse_at; /* the call that is refused; 0: none */
    size_t frames;    /* in calls of whole frames */
    size_t damaged;   /* calls with damaged bytes */
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
    unsigned char *data = /* not libroast's heap, which may fail intentionally */
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
