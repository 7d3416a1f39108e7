/* SPDX-License-Identifier: BSD-3-Clause */
/* live.h - a run on disk while it grows.
 *
 * A live file is the list of calls that changed a run, in blocks with a checksum
 * (docs/format.md). One thread writes it, fed through a queue inside the run; the disk
 * is synced every few seconds. What was synced is acknowledged: it outlives any crash.
 * A slow or full disk never blocks a thread that adds to the run: when the queue is
 * full, changes are dropped, and the file has their number. */
#ifndef ROAST_LIVE_H
#define ROAST_LIVE_H

#include "roast/run.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ROAST_LIVE_SUFFIX ".roast-live"
#define ROAST_FILE_SUFFIX ".roast"

typedef struct roast_live roast_live;

/* Zeroed: the defaults. */
struct roast_live_options {
    size_t queue_bytes;     /* 0: 16 MiB */
    int64_t write_every_ns; /* 0: 0.25 s */
    int64_t sync_every_ns;  /* 0: 5 s */
};

/* Starts to write a run that has only clocks and host so far; any other run is refused
 * with LIMIT. The file must not exist; fails at once where it cannot be made. Returns
 * owned; the run must outlive it. */
int roast_live_open(roast_live **out, roast_run *run, const char *path,
                    const struct roast_live_options *options, roast_error *err);

/* All but errors are numbers of changes of the run, since it was opened. */
struct roast_live_state {
    uint64_t queued;       /* put in the queue */
    uint64_t written;      /* of them, in blocks that were written */
    uint64_t acknowledged; /* synced: they outlive any crash */
    uint64_t dropped;      /* not in the file: the queue was full */
    uint64_t errors;       /* of the disk */
    char first_error[160]; /* one line; "" for none */
};

void roast_live_state(roast_live *live, struct roast_live_state *out);

/* Writes and syncs what is queued, now; for tests and for the end. */
int roast_live_sync(roast_live *live, roast_error *err);

/* The run is about to end: writes what is queued, without a sync. The thread goes on,
 * and does not sync any more unless its queue becomes half full. */
void roast_live_flush(roast_live *live);

/* Writes what is queued, ends the thread and closes. `remove` removes the file
 * unwritten, because a finished run file has replaced it. In a forked child: frees
 * nothing, writes nothing. */
int roast_live_close(roast_live *live, bool remove, roast_error *err);

#ifdef __cplusplus
}
#endif

#endif
