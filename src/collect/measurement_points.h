/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_points.h - what the files about samples share. */
#ifndef ROAST_COLLECT_MEASUREMENT_POINTS_H
#define ROAST_COLLECT_MEASUREMENT_POINTS_H

#include "collect/measurement_tracking.h"

struct point {
    int64_t time_us;
    double
        value; /* with the sign bit set: the time is naive; values are not negative */
};

/* Points of one series of one worker, one behind the other. */
struct run {
    uint32_t worker;
    uint32_t series;
    size_t first;
    size_t count;
};

static inline struct point *roast__points(const struct roast_buf *buf, size_t *count)
{
    *count = buf->size_bytes / sizeof(struct point);
    return (void *)buf->data;
}

static inline struct run *roast__runs(const struct roast_tracking_draft *draft,
                                      size_t *count)
{
    *count = draft->runs.size_bytes / sizeof(struct run);
    return (void *)draft->runs.data;
}

/* By time and value, in place. */
void roast__points_sort(struct point *points, size_t count);

#endif
