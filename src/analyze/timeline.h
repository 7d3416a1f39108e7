/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.h - arithmetic on moments that does not overflow.
 *
 * Times come from frames and may be anything; sums are roast__sat_add(). */
#ifndef ROAST_ANALYZE_TIMELINE_H
#define ROAST_ANALYZE_TIMELINE_H

#include "base/array.h"

/* Time from one moment to a later one; 0 when it is not later. */
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

#endif
