/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch.h - batches of the plugin on Dask's scheduler, into a run.
 *
 * A batch is a sequence of the items of dask_batch_items.def. */
#ifndef ROAST_DASK_BATCH_H
#define ROAST_DASK_BATCH_H

#include "roast/run.h"

#ifdef __cplusplus
extern "C" {
#endif

struct roast_dask_batch_item {
    const char *name;
    const char *format;
    unsigned number;
    unsigned texts;
};

/* Limits of the numbers in an item. */
enum {
    ROAST_DASK_MOST_WORKERS = 1000000,
    ROAST_DASK_MOST_PREFIXES = 65536,
    ROAST_DASK_MOST_TEXT_BYTES = 1024
};
#define ROAST_DASK_NO_WORKER UINT32_MAX /* of a task that was never assigned */

/* The rows of dask_batch_items.def; NULL past the last. */
const struct roast_dask_batch_item *roast_dask_batch_item(size_t index);

/* The schedulers that report to one run. Any thread may add. */
typedef struct roast_dask_batches roast_dask_batches;

/* Returns owned; borrows the run until it is freed. */
int roast_dask_batches_new(roast_dask_batches **out, roast_run *run, roast_error *err);
void roast_dask_batches_free(roast_dask_batches *batches);

/* One batch of a scheduler, whose clock is offset_ns behind the client's. Each
 * scheduler numbers its own workers, so its name must be the same each time. BAD_DATA
 * when some items are invalid; all others are added to the run. After NO_MEMORY the
 * same batch may be added again, and nothing is counted twice. Losses are counted in
 * the run. */
struct roast_dask_batch {
    const char *scheduler;
    struct roast_str bytes;
    int64_t offset_ns;
};

int roast_dask_batches_add(roast_dask_batches *batches,
                           const struct roast_dask_batch *batch, roast_error *err);

#ifdef __cplusplus
}
#endif

#endif
