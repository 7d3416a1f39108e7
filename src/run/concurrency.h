/* SPDX-License-Identifier: BSD-3-Clause */
/* concurrency.h - how many attempts run in the process of a sampled worker at a moment. */
#ifndef ROAST_RUN_CONCURRENCY_H
#define ROAST_RUN_CONCURRENCY_H

#include "run/run.h"

/* A begin or an end of an attempt in a worker. */
struct roast_edge {
    size_t worker; /* index in samples */
    int64_t time_ns;
};

/* Zeroed = empty and valid. */
struct roast_concurrency {
    bool *is_worker; /* owned; by worker: its process ran attempts of this run */
    struct roast_edge *begins; /* owned, by worker and time */
    size_t begin_count;
    struct roast_edge *ends; /* owned, by worker and time */
    size_t end_count;
};

/* Looks through all attempts; false when out of memory. The lock is held. */
bool roast__concurrency_make(struct roast_concurrency *out,
                             const struct roast_run *run);

uint64_t roast__concurrency_at(const struct roast_concurrency *running, size_t worker,
                               int64_t time_ns);

void roast__concurrency_release(struct roast_concurrency *running);

#endif
