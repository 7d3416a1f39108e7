/* SPDX-License-Identifier: BSD-3-Clause */
/* wall_time_model.h - how long chunks take on threads: the one model of the wall time.
 *
 * Chunks of about one length go over the threads in waves. Those of one wave end when
 * the longest does; of many waves the last one is on average half as long. However many
 * there are, one that is much longer than the rest is waited for. */
#ifndef ROAST_ANALYZE_FINDINGS_WALL_TIME_MODEL_H
#define ROAST_ANALYZE_FINDINGS_WALL_TIME_MODEL_H

#include <math.h>

enum { ROAST_WAVES_COUNTED = 4 }; /* with more it does not matter that they are whole */

struct roast_waves {
    double chunks;
    double threads;
    double mean_s; /* of a chunk */
    double longest_s;
};

/* Of chunks that vary, the one that is expected to take longest of those that run at
 * once; spread: their standard deviation / their seconds. */
static inline double roast__waves_longest_s(double chunk_s, double spread,
                                            double at_once)
{
    return chunk_s * (1 + spread * sqrt(2 * log(fmax(1, at_once))));
}

/* Wall time from the first begin to the last end. */
static inline double roast__waves_s(const struct roast_waves *waves)
{
    double chunks = waves->chunks, threads = waves->threads;

    if (chunks <= threads)
        return waves->longest_s;
    double tail_s = waves->longest_s * (1 - 1 / threads) / 2;
    double wall_s = chunks * waves->mean_s / threads + tail_s;
    if (chunks < ROAST_WAVES_COUNTED * threads)
        wall_s = fmax(wall_s, ceil(chunks / threads) * waves->mean_s);
    return fmax(wall_s, waves->longest_s);
}

#endif
