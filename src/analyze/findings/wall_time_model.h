/* SPDX-License-Identifier: BSD-3-Clause */
/* wall_time_model.h - how long chunks take on threads: the one model of the wall time.
 *
 * Chunks of about one length run in rounds of one chunk per thread. A single round ends
 * with its longest chunk; of many rounds the last one lasts half as long on average. The
 * run never ends before its longest chunk. */
#ifndef ROAST_ANALYZE_FINDINGS_WALL_TIME_MODEL_H
#define ROAST_ANALYZE_FINDINGS_WALL_TIME_MODEL_H

#include <math.h>

enum { ROAST_COUNTED_ROUNDS = 4 }; /* with more rounds, whole rounds do not matter */

struct roast_wall_time_model {
    double chunks;
    double threads;
    double mean_s; /* of a chunk */
    double longest_s;
};

/* Expected time of the longest of the chunks that run at once; spread: standard
 * deviation / mean of their times. */
static inline double roast__longest_chunk_s(double chunk_s, double spread,
                                            double at_once)
{
    return chunk_s * (1 + spread * sqrt(2 * log(fmax(1, at_once))));
}

/* Wall time from the first start to the last end. */
static inline double roast__wall_time_s(const struct roast_wall_time_model *model)
{
    double chunks = model->chunks, threads = model->threads;

    if (chunks <= threads)
        return model->longest_s;
    double tail_s = model->longest_s * (1 - 1 / threads) / 2;
    double wall_s = chunks * model->mean_s / threads + tail_s;
    if (chunks < ROAST_COUNTED_ROUNDS * threads)
        wall_s = fmax(wall_s, ceil(chunks / threads) * model->mean_s);
    return fmax(wall_s, model->longest_s);
}

#endif
