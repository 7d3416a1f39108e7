/* SPDX-License-Identifier: BSD-3-Clause */
/* batch_read.h - batches read into a sink that writes down what it heard. */
#ifndef ROAST_TESTS_COLLECT_BATCH_READ_H
#define ROAST_TESTS_COLLECT_BATCH_READ_H

#include "batch_heard.h"
#include "support.h"

static inline int hear_task(void *context, const struct roast_task *task)
{
    struct heard *heard = context;

    heard->facts++;
    return say(heard, "task %.*s %.*s %x %s %d %g %g %g\n", SHOW(task->prefix),
               SHOW(task->worker), task->key_hash, task->ours ? "ours" : "foreign",
               (int)task->end, since_t0(task->assigned_ns), since_t0(task->start_ns),
               since_t0(task->stop_ns));
}

static inline int hear_frames(void *context, struct roast_str frames,
                              struct roast_str worker, uint32_t key_hash)
{
    struct heard *heard = context;

    heard->facts++;
    return say(heard, "frames %.*s %x %.*s\n", SHOW(worker), key_hash, SHOW(frames));
}

static inline int hear_offset(void *context, struct roast_str host, int64_t offset_ns)
{
    struct heard *heard = context;

    heard->facts++;
    return say(heard, "offset %.*s %g\n", SHOW(host), (double)offset_ns / 1e9);
}

static inline struct roast_batch_sink sink_of(struct heard *heard)
{
    return (struct roast_batch_sink){heard,     hear_sample, hear_joined, hear_left,
                                     hear_task, hear_frames, hear_offset};
}

static inline roast_batch_reader *new_reader(void)
{
    roast_batch_reader *reader = NULL;

    assert_int_equal(roast_batch_reader_new(&reader, NULL), ROAST_OK);
    return reader;
}

/* Reads from memory of exactly that size, then empties the batch. */
static inline int read_and_clear(roast_batch_reader *reader, struct roast_buf *batch,
                                 struct heard *heard)
{
    struct roast_batch_sink sink = sink_of(heard);
    char *tight = tight_copy(batch->data, batch->size_bytes);
    int status =
        roast_batch_read(reader, str_from(tight, batch->size_bytes), &sink, NULL);

    free(tight);
    roast__buf_release(batch);
    return status;
}

#endif
