/* SPDX-License-Identifier: BSD-3-Clause */
/* heard.h - what a sink of a measurement was told, as lines of text. */
#ifndef ROAST_TESTS_COLLECT_HEARD_H
#define ROAST_TESTS_COLLECT_HEARD_H

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "roast/error.h"
#include "support.h"

struct heard {
    struct roast_buf frames;
    struct roast_buf lines;
    uint64_t lost;
    size_t restarts;
    size_t refuse_at; /* the call that is refused; 0: none */
    size_t calls;
};

static inline int heard_call(struct heard *heard, roast_error *err)
{
    if (++heard->calls == heard->refuse_at)
        return roast_error_set(err, ROAST_UNAVAILABLE, "enough");
    return ROAST_OK;
}

__attribute__((format(printf, 3, 4))) static inline int heard_line(struct heard *heard,
                                                                   roast_error *err,
                                                                   const char *format,
                                                                   ...)
{
    char line[8000];
    va_list args;

    va_start(args, format);
    int size = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    assert_true(size >= 0 && (size_t)size < sizeof(line));
    roast__buf_put(&heard->lines, line, (size_t)size);
    roast__buf_put(&heard->lines, "\n", 1);
    return heard_call(heard, err);
}

/* Whether a line was told. */
static inline bool was_told(const struct heard *heard, const char *line)
{
    size_t size = strlen(line);

    for (size_t i = 0; i + size < heard->lines.size_bytes; i++) {
        bool starts = i == 0 || heard->lines.data[i - 1] == '\n';
        if (starts && heard->lines.data[i + size] == '\n' &&
            memcmp(heard->lines.data + i, line, size) == 0)
            return true;
    }
    return false;
}

#define assert_told(heard, line) \
    do { \
        if (!was_told((heard), (line))) \
            fail_msg("not told: %s\nbut: %.*s", (line), \
                     (int)(heard)->lines.size_bytes, \
                     (const char *)(heard)->lines.data); \
    } while (0)

static inline void heard_release(struct heard *heard)
{
    roast__buf_release(&heard->frames);
    roast__buf_release(&heard->lines);
}

#endif
