/* SPDX-License-Identifier: BSD-3-Clause */
/* moments.h - what happens at a time of the timeline: the realtime clock of the client.
 */
#ifndef ROAST_RUN_MOMENTS_H
#define ROAST_RUN_MOMENTS_H

#include "roast/run.h"

struct roast_offer {
    int64_t time_ns;
    uint64_t workers;
    uint64_t threads;
};

struct roast_moment {
    enum roast_mark mark;
    int64_t time_ns;
};

struct roast_count {
    int64_t time_ns;
    uint64_t workers;
};

#endif
