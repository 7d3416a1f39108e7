/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.h - reads what the plugin on Dask's scheduler noted (batch_items.def).
 *
 * The reader knows the names of workers and prefixes from one batch to the next, and
 * turns the scheduler's clock into the client's. Bytes are hostile: an item that makes
 * no sense is passed over and counted, and what follows it is read all the same. */
#ifndef ROAST_BATCH_H
#define ROAST_BATCH_H

#include "roast/error.h"
#include "roast/sample.h"
#include "roast/task.h"

#ifdef __cplusplus
extern "C" {
#endif

struct roast_batch_item {
    const char *name;
    const char *format;
    unsigned number;
    unsigned texts;
};

/* What the numbers of an item may be. */
enum {
    ROAST_BATCH_MOST_WORKERS = 1000000,
    ROAST_BATCH_MOST_PREFIXES = 65536,
    ROAST_BATCH_MOST_TEXT_BYTES = 1024
};
#define ROAST_BATCH_NOBODY UINT32_MAX /* the worker of a task that was never assigned */

/* The rows of batch_items.def; NULL past the last. */
const struct roast_batch_item *roast_batch_item(size_t index);

/* Where facts go; what they point to is borrowed for the call. A negative status ends
 * the reading and comes back from it, but for BAD_DATA: then the item is passed over. */
struct roast_batch_sink {
    void *context;
    int (*sample)(void *context, const roast_sample *sample);
    int (*joined)(void *context, const struct roast_member *member);
    int (*left)(void *context, const struct roast_departure *departure);
    int (*task)(void *context, const struct roast_task *task);
    /* Frames of an attempt, and the task and worker that it was. */
    int (*frames)(void *context, struct roast_str frames, struct roast_str worker,
                  uint32_t key_hash);
    /* How far the client's realtime clock is ahead of that of a host, which is named as
     * in joined(); when it is known, and when it is known better. */
    int (*offset)(void *context, struct roast_str host, int64_t offset_ns);
};

typedef struct roast_batch_reader roast_batch_reader;

/* Returns owned. */
int roast_batch_reader_new(roast_batch_reader **out, roast_error *err);
void roast_batch_reader_free(roast_batch_reader *reader);

/* How far the client's clock is ahead of the scheduler's; told again when it is better
 * known, and used for what is read from then on. */
void roast_batch_set_offset(roast_batch_reader *reader, int64_t offset_ns);

/* Reads a batch. BAD_DATA when items make no sense; all others have been given. NO_MEMORY
 * or what the sink said: given the same batch again, it goes on where it was. */
int roast_batch_read(roast_batch_reader *reader, struct roast_str batch,
                     const struct roast_batch_sink *sink, roast_error *err);

struct roast_batch_state {
    uint64_t dropped_samples; /* by the plugin, as it said last */
    uint64_t dropped_tasks;
    uint64_t dropped_frames;
    uint64_t workers; /* that it has named */
    uint64_t unread;  /* items that made no sense; the rest of a batch is one */
};

struct roast_batch_state roast_batch_state(const roast_batch_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
