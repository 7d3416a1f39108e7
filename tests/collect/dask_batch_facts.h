/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch_facts.h - writes each fact that a sink gets as a line of text. */
#ifndef ROAST_TESTS_COLLECT_DASK_BATCH_FACTS_H
#define ROAST_TESTS_COLLECT_DASK_BATCH_FACTS_H

#include "dask_batch_items.h"

struct notes {
    char lines[8192]; /* what does not fit is left out */
    size_t used;
    size_t facts;
    size_t takes; /* number of facts to accept, then the status to return */
    int refuses;
};

static inline int note(struct notes *notes, const char *format, ...)
{
    size_t room = sizeof(notes->lines) - notes->used;
    va_list args;

    va_start(args, format);
    int size = vsnprintf(notes->lines + notes->used, room, format, args);
    va_end(args);
    if ((size_t)size < room)
        notes->used += (size_t)size;
    return notes->facts > notes->takes ? notes->refuses : ROAST_OK;
}

/* Seconds since T0, to the microsecond; -9 for not known. */
static inline double since_t0(int64_t time_ns)
{
    return time_ns == 0 ? -9 : (double)(time_ns / 1000 - 1760000000000000) / 1e6;
}

#define SHOW(text) \
    (text).data ? (int)(text).size_bytes : 1, (text).data ? (text).data : "-"

static inline int note_sample(void *context, const roast_sample *sample)
{
    struct notes *notes = context;

    notes->facts++;
    note(notes, "sample %.*s %g", SHOW(sample->worker), since_t0(sample->time_ns));
    for (unsigned n = 0; n < ROAST_SERIES_COUNT; n++)
        if (roast_sample_has(sample, (enum roast_series)n))
            note(notes, " %u=%g", n, sample->values[n]);
    return note(notes, "\n");
}

static inline int note_joined(void *context, const struct roast_member *member)
{
    struct notes *notes = context;

    notes->facts++;
    return note(notes, "joined %.*s %.*s@%.*s %g %u %u %u\n", SHOW(member->worker),
                SHOW(member->name), SHOW(member->host), since_t0(member->joined_ns),
                (unsigned)member->threads, (unsigned)member->memory_limit_bytes,
                (unsigned)member->pid);
}

static inline int note_left(void *context, const struct roast_departure *departure)
{
    struct notes *notes = context;

    notes->facts++;
    return note(notes, "left %.*s %g %s %.*s\n", SHOW(departure->worker),
                since_t0(departure->left_ns), departure->expected ? "expected" : "lost",
                SHOW(departure->reason));
}

#endif
