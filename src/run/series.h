/* SPDX-License-Identifier: BSD-3-Clause */
/* series.h - reads the series of a worker, moment by moment. */
#ifndef ROAST_RUN_SERIES_H
#define ROAST_RUN_SERIES_H

#include "run/samples.h"

struct roast_series_cursor {
    struct roast_cursor times;
    struct roast_cursor changes;
    uint64_t tick;
    uint64_t ticks;
    int64_t time_us;
    int64_t step_us;
    uint64_t next_change; /* tick of the next entry; UINT64_MAX: none */
    int64_t next_value;
    int64_t value; /* in steps */
    double steps;
    bool next_known;
    bool known;
};

/* A series of a worker, borrowed until it changes; empty where it was never known. */
const struct roast_packed_series *roast__series_of(
    const struct roast_worker_samples *worker, enum roast_series series);

/* A series to write to, empty if new; NULL when out of memory. Moves the others of the
 * worker. */
struct roast_packed_series *roast__samples_series(struct roast_worker_samples *worker,
                                                  enum roast_series series);

/* Removes all moments. */
void roast__samples_drop(struct roast_worker_samples *worker);

/* Borrows the worker until it changes. */
void roast__series_open(struct roast_series_cursor *cursor,
                        const struct roast_worker_samples *worker,
                        enum roast_series series);

/* The next moment: 1 with *time_ns, and *value if *known; 0 at the end. */
int roast__series_next(struct roast_series_cursor *cursor, int64_t *time_ns,
                       double *value, bool *known);

/* Advances by one moment; time_us, value and known are the cursor's own. False at the
 * end. */
bool roast__series_step(struct roast_series_cursor *cursor);

/* Skips the next moments with the same value: returns how many, 0 at the end. *value is
 * NaN where unknown. Their times cannot be read afterwards. */
uint64_t roast__series_run(struct roast_series_cursor *cursor, double *value);

/* What Dask calls unmanaged: the memory of a worker without the results in it. They are
 * `nbytes` large, `spilled` of that is on disk. NaN where one is not known. */
static inline double roast__unmanaged_bytes(double memory, double nbytes,
                                            double spilled)
{
    double held = nbytes - spilled;
    double rest = memory - (held < 0 ? 0 : held);

    return rest < 0 ? 0 : rest;
}

enum { ROAST_SERIES_BLOCK = 256 };

/* Reads the next moments, at most ROAST_SERIES_BLOCK of them: how many, 0 at the end.
 * values gets NaN where nothing is known; times_ns may be NULL, in all calls or in
 * none. Much faster than one by one. */
size_t roast__series_block(struct roast_series_cursor *cursor, int64_t *times_ns,
                           double *values);

#endif
