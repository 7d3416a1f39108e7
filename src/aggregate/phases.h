/* SPDX-License-Identifier: BSD-3-Clause */
/* phases.h - what a run waited for at each moment: the reason why threads were idle.
 *
 * Within a call of the Runner files are asked, chunks begin, the last ones run, outputs
 * are merged. All other time is the client's. */
#ifndef ROAST_AGGREGATE_PHASES_H
#define ROAST_AGGREGATE_PHASES_H

#include "aggregate/schedule.h"

enum roast_phase {
    ROAST_PHASE_BEFORE, /* no task yet */
    ROAST_PHASE_PREPROCESS,
    ROAST_PHASE_CHUNKS, /* some are still to begin */
    ROAST_PHASE_TAIL,
    ROAST_PHASE_REDUCE,
    ROAST_PHASE_BETWEEN,
    ROAST_PHASE_AFTER,
    ROAST_PHASE_COUNT
};

struct roast_phase_step {
    int64_t from_ns; /* until the next one, or the end of the run */
    enum roast_phase phase;
};

/* Zeroed = empty and valid. */
struct roast_phases {
    struct roast_phase_step *steps; /* owned, by time; the first at the run's start */
    size_t count;
};

const char *roast__phase_name(enum roast_phase phase);

/* The slice that idle threads belong to in a phase. */
enum roast_slice roast__phase_slice(enum roast_phase phase);

/* False when out of memory. */
bool roast__phases_find(struct roast_phases *phases, const struct roast_study *study,
                        const struct roast_schedule *schedule);
void roast__phases_release(struct roast_phases *phases);

#endif
