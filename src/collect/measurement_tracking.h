/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_tracking.h - samples of workers that a measurement holds.
 *
 *     {"worker_counts": {time: n}, series: {worker: [[time, value], ...]}}
 *     {"worker_counts": [{"timestamp", "worker_count"}],
 *      series: {worker: [{"timestamp", value}]}}
 *
 * Both layouts are taken wherever either may be. 0.1.2 wrote times of its own zone and
 * did not say which: they are naive until somebody knows. */
#ifndef ROAST_COLLECT_MEASUREMENT_TRACKING_H
#define ROAST_COLLECT_MEASUREMENT_TRACKING_H

#include "collect/measurement.h"
#include "collect/measurement_names.h"

/* Zeroed = empty and valid. */
struct roast_tracking_draft {
    struct roast_buf points; /* of struct point, see the .c */
    struct roast_buf runs;   /* of struct run: points of a series of a worker */
    struct roast_buf counts; /* of struct point */
    struct roast_name_set workers;
    uint64_t unplaced; /* values that are none of a sample */
    bool any;          /* there was something of the kind */
};

/* Reads the value under `tracking_data`, or all of worker_tracking.json. What is none of
 * the series is copied to `rest`. */
int roast__tracking_read(struct roast_tracking_draft *draft,
                         struct roast_json_reader *in,
                         const struct roast_json_token *value,
                         struct roast_json_copy *rest, roast_error *err);

/* Makes naive times UTC. Dask's `last_seen` is a time of the epoch, taken with the
 * sample; else the last chunk ended before the last sample; else they are UTC. */
void roast__tracking_find_zone(struct roast_tracking_draft *draft, int64_t last_end_ns);

/* The first and last moments; false if there are none. */
bool roast__tracking_span(const struct roast_tracking_draft *draft, int64_t *first_ns,
                          int64_t *last_ns);

int roast__tracking_tell(struct roast_tracking_draft *draft,
                         const struct roast_measurement_sink *sink, roast_error *err);
void roast__tracking_clear(struct roast_tracking_draft *draft);
void roast__tracking_release(struct roast_tracking_draft *draft);

#endif
