/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch_help.h - reads batches into a sink that writes facts as lines. */
#ifndef ROAST_TESTS_COLLECT_DASK_BATCH_HELP_H
#define ROAST_TESTS_COLLECT_DASK_BATCH_HELP_H

#include "dask_batch_facts.h"

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
