/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch_sink.h - batches read into a sink that notes each fact as a line. */
#ifndef ROAST_TESTS_COLLECT_DASK_BATCH_SINK_H
#define ROAST_TESTS_COLLECT_DASK_BATCH_SINK_H

#include <stdarg.h>
#include <stdio.h>

#include "collect/dask_batch_reader.h"
#include "support.h"

struct notes {
    char lines[8192]; /* what does not fit is left out */
    size_t used;
    size_t facts;
    size_t takes; /* so many facts, and then answers with what it refuses them by */
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

static inline int note_task(void *context, const struct roast_task *task)
{
    struct notes *notes = context;

    notes->facts++;
    return note(notes, "task %.*s %.*s %x %s %d %g %g %g\n", SHOW(task->prefix),
                SHOW(task->worker), task->key_hash, task->ours ? "ours" : "foreign",
                (int)task->end, since_t0(task->assigned_ns), since_t0(task->start_ns),
                since_t0(task->stop_ns));
}

static inline int note_frames(void *context, struct roast_str frames,
                              struct roast_str worker, uint32_t key_hash)
{
    struct notes *notes = context;

    notes->facts++;
    return note(notes, "frames %.*s %x %.*s\n", SHOW(worker), key_hash, SHOW(frames));
}

static inline int note_offset(void *context, struct roast_str host, int64_t offset_ns)
{
    struct notes *notes = context;

    notes->facts++;
    return note(notes, "offset %.*s %g\n", SHOW(host), (double)offset_ns / 1e9);
}

static inline struct roast_dask_sink sink_of(struct notes *notes)
{
    return (struct roast_dask_sink){notes,     note_sample, note_joined, note_left,
                                    note_task, note_frames, note_offset};
}

static inline struct roast_dask_reader *new_reader(void)
{
    struct roast_dask_reader *reader = NULL;

    assert_int_equal(roast__dask_reader_new(&reader, NULL), ROAST_OK);
    return reader;
}

/* Reads from memory of exactly that size, then empties the batch. */
static inline int read_and_clear(struct roast_dask_reader *reader,
                                 struct roast_buf *batch, struct notes *notes)
{
    struct roast_dask_sink sink = sink_of(notes);
    char *tight = tight_copy(batch->data, batch->size_bytes);
    int status = roast__dask_reader_read(reader, str_from(tight, batch->size_bytes),
                                         &sink, NULL);

    free(tight);
    roast__buf_release(batch);
    return status;
}

#endif
