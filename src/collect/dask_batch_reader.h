/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch_reader.h - decodes the batches of one scheduler (dask_batch_items.def).
 *
 * The reader keeps the names of workers and prefixes from one batch to the next, and
 * turns the scheduler's clock into the client's. Bytes are untrusted: an invalid item
 * is skipped and counted, and the items after it are read. */
#ifndef ROAST_COLLECT_DASK_BATCH_READER_H
#define ROAST_COLLECT_DASK_BATCH_READER_H

#include "roast/dask_batch.h"
#include "roast/sample.h"
#include "roast/task.h"

/* Receives facts, whose texts are borrowed for the call. A negative status ends the
 * reading and is returned from it; after BAD_DATA the item is skipped instead. */
struct roast_dask_sink {
    void *context;
    int (*sample)(void *context, const roast_sample *sample);
    int (*joined)(void *context, const struct roast_member *member);
    int (*left)(void *context, const struct roast_departure *departure);
    int (*task)(void *context, const struct roast_task *task);
    /* Frames of an attempt, and the worker and task in which it ran. */
    int (*frames)(void *context, struct roast_str frames, struct roast_str worker,
                  uint32_t key_hash);
    /* How far the client's realtime clock is ahead of that of a host, which is named as
     * in joined(); called when it is first known and when it moves. */
    int (*offset)(void *context, struct roast_str host, int64_t offset_ns);
};

struct roast_dask_reader;

/* Returns owned. */
int roast__dask_reader_new(struct roast_dask_reader **out, roast_error *err);
void roast__dask_reader_free(struct roast_dask_reader *reader);

/* How far the client's clock is ahead of the scheduler's, for what is read from now
 * on. */
void roast__dask_reader_set_offset(struct roast_dask_reader *reader, int64_t offset_ns);

/* Reads a batch. BAD_DATA when some items are invalid; all others were passed to the
 * sink. After NO_MEMORY or an error of the sink, reading the same batch again continues
 * where it stopped. */
int roast__dask_reader_read(struct roast_dask_reader *reader, struct roast_str batch,
                            const struct roast_dask_sink *sink, roast_error *err);

struct roast_dask_reader_state {
    uint64_t dropped_samples; /* by the plugin, in all */
    uint64_t dropped_tasks;
    uint64_t dropped_frames;
    uint64_t workers; /* that the plugin has named */
    uint64_t unread;  /* invalid items; a cut batch counts as one */
};

struct roast_dask_reader_state roast__dask_reader_state(
    const struct roast_dask_reader *reader);

#endif
