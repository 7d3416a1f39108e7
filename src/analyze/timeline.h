/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.h - arithmetic on times that does not overflow, and search by time.
 *
 * Times come from frames and may have any value; add them with roast__sat_add(). */
#ifndef ROAST_ANALYZE_TIMELINE_H
#define ROAST_ANALYZE_TIMELINE_H

#include "base/array.h"

/* The time from from_ns to to_ns; 0 if to_ns is not later. */
static inline int64_t roast__time_between(int64_t from_ns, int64_t to_ns)
{
    int64_t gap;

    if (to_ns <= from_ns)
        return 0;
    return __builtin_sub_overflow(to_ns, from_ns, &gap) ? INT64_MAX : gap;
}

static inline double roast__seconds_between(int64_t from_ns, int64_t to_ns)
{
    return (double)roast__time_between(from_ns, to_ns) / 1e9;
}

static inline int64_t roast__time_clamp(int64_t time_ns, int64_t low, int64_t high)
{
    if (time_ns < low)
        return low;
    return time_ns > high ? high : time_ns;
}

/* The number of items that begin at or before time_ns, in an array sorted by time.
 * `times` points to the time inside the first item. */
static inline size_t roast__count_until(const int64_t *times, size_t item_bytes,
                                        size_t count, int64_t time_ns)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const int64_t *)((const char *)times + middle * item_bytes) <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
