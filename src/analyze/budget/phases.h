/* SPDX-License-Identifier: BSD-3-Clause */
/* phases.h - what a run waited for at each moment: the reason why threads were idle.
 *
 * Within a call of the Runner entries of files are counted, chunks begin, the last ones run, outputs
 * are merged. All other time is the client's. */
#ifndef ROAST_ANALYZE_BUDGET_PHASES_H
#define ROAST_ANALYZE_BUDGET_PHASES_H

#include "analyze/budget/schedule.h"

enum roast_phase {
    ROAST_PHASE_BEFORE, /* no task yet */
    ROAST_PHASE_PREPROCESS,
    ROAST_PHASE_CHUNKS, /* some are still to begin */
    ROAST_PHASE_TAIL,   /* see roast_tail */
    ROAST_PHASE_REDUCE,
    ROAST_PHASE_BETWEEN,
    ROAST_PHASE_AFTER,
    ROAST_PHASE_COUNT
};

struct roast_phase_step {
    int64_t from_ns; /* until the next one, or the end of the run */
    enum roast_phase phase;
    double idle_s; /* of threads; the budget fills it in */
};

/* The end of a call of the Runner: from when no chunk is left to begin and a thread has
 * none, to the end of the last one. A chunk that is tried again had begun before. */
struct roast_tail {
    bool any; /* false: the call has no chunks */
    int64_t from_ns;
    int64_t to_ns;    /* = from_ns: all threads ended together */
    uint64_t threads; /* that there were when the last chunk began */
    size_t step;      /* of it; valid unless it took no time */
};

/* Zeroed = empty and valid. */
struct roast_phases {
    struct roast_phase_step *steps; /* owned, by time; the first at the run's start */
    size_t count;
    struct roast_tail *tails; /* owned; per call, of one where none was seen */
    size_t tail_count;
};

const char *roast__phase_name(enum roast_phase phase);

/* The slice that idle threads belong to in a phase. */
enum roast_slice roast__phase_slice(enum roast_phase phase);

/* False when out of memory. */
bool roast__phases_find(struct roast_phases *phases,
                        const struct roast_summary_context *ctx,
                        const struct roast_schedule *schedule);

/* Seconds of threads without work while a tail lasted. */
double roast__tail_lost_s(const struct roast_phases *phases,
                          const struct roast_tail *tail);
void roast__phases_release(struct roast_phases *phases);

#endif
