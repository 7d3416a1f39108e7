/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch_help.h - makes batches item by item, and reads them into a sink that
 * writes each fact as a line of text. */
#ifndef ROAST_TESTS_COLLECT_DASK_BATCH_HELP_H
#define ROAST_TESTS_COLLECT_DASK_BATCH_HELP_H

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "collect/dask_batch_reader.h"
#include "support.h"

enum { TICK = 1, SAMPLE, WORKER, JOINED, LEFT, PREFIX, TASK, FRAMES, DELAY, DROPPED };
static const double T0 = 1760000000; /* seconds */

static inline void put_uint(struct roast_buf *out, uint64_t value, size_t size_bytes)
{
    unsigned char bytes[8];

    roast__store_fixed(bytes, value, size_bytes);
    roast__buf_put(out, bytes, size_bytes);
}

static inline void put_real(struct roast_buf *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_uint(out, bits, 8);
}

static inline void put_field(struct roast_buf *out, char letter, va_list *args)
{
    if (letter == 'd')
        put_real(out, va_arg(*args, double));
    else if (letter == 'Q')
        put_uint(out, va_arg(*args, uint64_t), 8);
    else
        put_uint(out, va_arg(*args, unsigned),
                 letter == 'B' ? 1 : (letter == 'H' ? 2 : 4));
}

/* One item: double for d, uint64_t for Q, unsigned for the others, then texts. */
static inline void put(struct roast_buf *out, unsigned kind, ...)
{
    const struct roast_dask_batch_item *item = roast_dask_batch_item(kind - 1);
    va_list args;

    put_uint(out, kind, 1);
    va_start(args, kind);
    for (const char *letter = item->format; *letter; letter++)
        put_field(out, *letter, &args);
    for (unsigned i = 0; i < item->texts; i++) {
        const char *text = va_arg(args, const char *);
        put_uint(out, strlen(text), 2);
        roast__buf_put(out, text, strlen(text));
    }
    va_end(args);
}

/* Values are 1, 2, 3 ... from the lowest series on. */
static inline void put_sample(struct roast_buf *out, unsigned worker, uint32_t mask)
{
    double value = 1;

    put(out, SAMPLE, worker, mask);
    for (; mask; mask &= mask - 1)
        put_real(out, value++);
}

static inline void put_frames(struct roast_buf *out, unsigned worker, const char *bytes)
{
    put(out, FRAMES, worker, 0xbeefu, (unsigned)strlen(bytes));
    roast__buf_put(out, bytes, strlen(bytes));
}

static inline void put_tick(struct roast_buf *out, double time_s)
{
    put(out, TICK, time_s, 7u, 7u, 7u);
}

static inline void put_worker(struct roast_buf *out, unsigned number, const char *name)
{
    put(out, WORKER, number, name);
}

static inline void put_joined(struct roast_buf *out, unsigned worker, double limit,
                              const char *host)
{
    put(out, JOINED, worker, T0, 4u, limit, 1234u, "alice", host);
}

static inline void put_left(struct roast_buf *out, unsigned worker, unsigned expected,
                            const char *reason)
{
    put(out, LEFT, worker, T0 + 9, expected, reason);
}

static inline void put_prefix(struct roast_buf *out, unsigned number, const char *name)
{
    put(out, PREFIX, number, name);
}

static inline void put_task(struct roast_buf *out, unsigned worker, unsigned end,
                            double start_s)
{
    put(out, TASK, 0xfeedu, 0u, worker, end, T0 + 1, start_s, T0 + 3.5);
}

static inline void put_delay(struct roast_buf *out, unsigned worker, double delay_s)
{
    put(out, DELAY, worker, delay_s);
}

/* One of each, with names before what uses them. */
static inline void put_everything(struct roast_buf *out)
{
    put_worker(out, 0, "tcp://a:1");
    put_joined(out, 0, 2e9, "a");
    put_worker(out, 1, "tcp://b:2");
    put_prefix(out, 0, "Processor");
    put_tick(out, T0 + 2);
    put_sample(out, 0, 0x5);
    put_sample(out, 1, 0);
    put_task(out, 1, 128 + ROAST_TASK_ok, T0 + 2.25);
    put_frames(out, 0, "frame");
    put_delay(out, 0, 0.5);
    put_left(out, 0, 1, "retired");
    put(out, DROPPED, UINT64_C(3), UINT64_C(2), UINT64_C(1));
}

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
