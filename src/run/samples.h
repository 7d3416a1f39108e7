/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.h - series of workers over time, packed.
 *
 * A worker has moments (ticks); at each moment some series have a value. Moments are
 * kept as varints of the change of their distance, values as (moments since the last
 * change, change), so that a constant value costs nothing. Above ROAST_MOST_TICKS every
 * second moment is dropped, and after that only every second one is added. */
#ifndef ROAST_RUN_SAMPLES_H
#define ROAST_RUN_SAMPLES_H

#include "base/buf.h"
#include "base/hash_table.h"
#include "roast/sample.h"

enum { ROAST_MOST_TICKS = 1 << 20 };

struct roast_packed_series {
    struct roast_buf changes; /* empty: never known. See samples.c */
    int64_t last;             /* in steps */
    uint32_t last_tick;       /* of the last entry */
    bool known;               /* false: the last entry is "unknown from here on" */
};

/* Most workers have few of the series, and a run may have many workers: only series
 * with at least one known value are stored. */
struct roast_worker_samples {
    int32_t name;                       /* number of a string */
    uint32_t has;                       /* bit n: series n is in `series` */
    struct roast_packed_series *series; /* owned; in the order of the bits */
    uint64_t ticks;                     /* below 2^32 */
    struct roast_buf times; /* zigzag varints of the change of the distance, in us */
    int64_t last_time_us;
    int64_t last_step_us;
    uint64_t stride;  /* one in so many moments is kept; 0 is 1 */
    uint64_t skipped; /* since the last one that was kept */
    /* of processes of this machine: totals of the last use, to derive rates */
    uint64_t last_cpu_ns;
    bool last_io_known;
    uint64_t last_read_bytes;
    uint64_t last_write_bytes;
    int64_t last_use_ns;
    uint64_t started_ticks;
    uint64_t pid; /* 0: unknown */
    uint64_t parent_pid;
};

/* Zeroed = empty and valid. */
struct roast_samples {
    struct roast_worker_samples *workers; /* owned */
    size_t count;
    size_t cap;
    struct roast_hash_table slots; /* by name */
};

/* Finds, or adds, the worker called by this string; NULL: none, or out of memory. */
struct roast_worker_samples *roast__samples_find(const struct roast_samples *samples,
                                                 int32_t name);
struct roast_worker_samples *roast__samples_worker(struct roast_samples *samples,
                                                   int32_t name);

/* A moment in the form that is packed. */
struct roast_tick {
    int64_t time_us;
    uint32_t present; /* bit n: steps[n] is known */
    int64_t steps[ROAST_SERIES_COUNT];
};

struct roast_tick roast__tick_of(const roast_sample *sample);

/* Adds one moment; times may go back. *thinned gets the number of dropped moments.
 * False when out of memory, and then nothing was added. */
bool roast__samples_put(struct roast_worker_samples *worker,
                        const struct roast_tick *tick, uint64_t *thinned);

/* Derives the other state of a worker from its `times` and `changes`. False if they are
 * invalid: times must fit when multiplied by 1000, and every entry of a series must be
 * at an existing moment. */
bool roast__samples_restore(struct roast_worker_samples *worker);

void roast__samples_release(struct roast_samples *samples);

#endif
