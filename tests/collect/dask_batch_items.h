/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch_items.h - items with default values, and one of each kind. */
#ifndef ROAST_TESTS_COLLECT_DASK_BATCH_ITEMS_H
#define ROAST_TESTS_COLLECT_DASK_BATCH_ITEMS_H

#include "dask_batch_write.h"

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

#endif
