/* SPDX-License-Identifier: BSD-3-Clause */
/* batch_heard.h - a sink that writes down what it heard, one line per fact. */
#ifndef ROAST_TESTS_COLLECT_BATCH_HEARD_H
#define ROAST_TESTS_COLLECT_BATCH_HEARD_H

#include <stdarg.h>
#include <stdio.h>

#include "roast/batch.h"

struct heard {
    char lines[8192]; /* what does not fit is left out */
    size_t used;
    size_t facts;
    size_t takes; /* so many facts, and then answers with what it refuses them by */
    int refuses;
};

static inline int say(struct heard *heard, const char *format, ...)
{
    size_t room = sizeof(heard->lines) - heard->used;
    va_list args;

    va_start(args, format);
    int size = vsnprintf(heard->lines + heard->used, room, format, args);
    va_end(args);
    if ((size_t)size < room)
        heard->used += (size_t)size;
    return heard->facts > heard->takes ? heard->refuses : ROAST_OK;
}

/* Seconds since T0, to the microsecond; -9 for not known. */
static inline double since_t0(int64_t time_ns)
{
    return time_ns == 0 ? -9 : (double)(time_ns / 1000 - 1760000000000000) / 1e6;
}

#define SHOW(text) \
    (text).data ? (int)(text).size_bytes : 1, (text).data ? (text).data : "-"

static inline int hear_sample(void *context, const roast_sample *sample)
{
    struct heard *heard = context;

    heard->facts++;
    say(heard, "sample %.*s %g", SHOW(sample->worker), since_t0(sample->time_ns));
    for (unsigned n = 0; n < ROAST_SERIES_COUNT; n++)
        if (roast_sample_has(sample, (enum roast_series)n))
            say(heard, " %u=%g", n, sample->values[n]);
    return say(heard, "\n");
}

static inline int hear_joined(void *context, const struct roast_member *member)
{
    struct heard *heard = context;

    heard->facts++;
    return say(heard, "joined %.*s %.*s@%.*s %g %u %u %u\n", SHOW(member->worker),
               SHOW(member->name), SHOW(member->host), since_t0(member->joined_ns),
               (unsigned)member->threads, (unsigned)member->memory_limit_bytes,
               (unsigned)member->pid);
}

static inline int hear_left(void *context, const struct roast_departure *departure)
{
    struct heard *heard = context;

    heard->facts++;
    return say(heard, "left %.*s %g %s %.*s\n", SHOW(departure->worker),
               since_t0(departure->left_ns), departure->expected ? "told" : "lost",
               SHOW(departure->reason));
}

#endif
