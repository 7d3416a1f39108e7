/* SPDX-License-Identifier: BSD-3-Clause */
/* client_times.h - what the client did itself, by its marks: pools that it started and
 * stopped, postprocess(), and waiting for the monitor.
 *
 * A pool starts until the first of its jobs begins. */
#ifndef ROAST_ANALYZE_BUDGET_CLIENT_TIMES_H
#define ROAST_ANALYZE_BUDGET_CLIENT_TIMES_H

#include "analyze/budget/schedule.h"

enum roast_client_work {
    ROAST_CLIENT_POOL_START,
    ROAST_CLIENT_POOL_STOP,
    ROAST_CLIENT_POSTPROCESS,
    ROAST_CLIENT_MONITOR,
};

struct roast_client_time {
    int64_t from_ns;
    int64_t to_ns;
    enum roast_client_work work;
};

/* A pool, from the beginning of its start to the beginning of its stop. */
struct roast_pool {
    int64_t from_ns;
    int64_t to_ns;
    int64_t first_job_ns; /* INT64_MAX: it had none */
};

/* Zeroed = empty and valid; everything is owned. */
struct roast_client_times {
    struct roast_client_time *items; /* by time, without overlaps */
    size_t count;
    struct roast_pool *pools; /* by from_ns */
    size_t pool_count;
};

/* False when out of memory. */
bool roast__client_times_find(struct roast_client_times *times,
                              const struct roast_summary_context *ctx,
                              const struct roast_schedule *schedule);
void roast__client_times_release(struct roast_client_times *times);

/* The pool at a time; NULL: none. */
const struct roast_pool *roast__pool_at(const struct roast_client_times *times,
                                        int64_t time_ns);

#endif
