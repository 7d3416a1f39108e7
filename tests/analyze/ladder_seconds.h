/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder_seconds.h - ladders of attempts, in seconds. */
#ifndef ROAST_TESTS_ANALYZE_LADDER_SECONDS_H
#define ROAST_TESTS_ANALYZE_LADDER_SECONDS_H

#include "blobs.h"
#include "frame.h"

static inline void set_item(struct roast_ladder *ladder, enum roast_ladder_item item,
                            double seconds)
{
    if (seconds > 0)
        roast_ladder_set(ladder, item, (uint64_t)NS(seconds));
}

/* A ladder with these seconds of compute and fetch. */
static inline struct roast_ladder steps(double compute, double fetch)
{
    struct roast_ladder ladder = {0};

    set_item(&ladder, ROAST_ITEM_compute, compute);
    set_item(&ladder, ROAST_ITEM_fetch, fetch);
    return ladder;
}

#endif
