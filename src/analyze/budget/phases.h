/* SPDX-License-Identifier: BSD-3-Clause */
/* phases.h - the phases of a run, which are the reasons why threads were idle.
 *
 * A call of Runner.run has preprocessing, chunks, their tail, and merging of outputs;
 * pools are started and stopped, and postprocess() is called. All other time is the
 * client's. */
#ifndef ROAST_ANALYZE_BUDGET_PHASES_H
#define ROAST_ANALYZE_BUDGET_PHASES_H

#include "analyze/budget/client_times.h"

enum roast_phase {
    ROAST_PHASE_BEFORE, /* no task yet */
    ROAST_PHASE_PREPROCESS,
    ROAST_PHASE_CHUNKS, /* some have not started yet */
    ROAST_PHASE_TAIL,   /* see roast_tail */
    ROAST_PHASE_REDUCE,
    ROAST_PHASE_BETWEEN,
    ROAST_PHASE_AFTER,
    ROAST_PHASE_UNKNOWN, /* the scheduler was lost: what its workers did is not known */
    /* inside any of the others: see client_times.h */
    ROAST_PHASE_POOL_START,
    ROAST_PHASE_POOL_STOP,
    ROAST_PHASE_POSTPROCESS,
    ROAST_PHASE_MONITOR,
    ROAST_PHASE_COUNT
};

struct roast_phase_interval {
    int64_t from_ns; /* to the next interval, or the end of the run */
    enum roast_phase phase;
    double idle_s; /* of threads; set by the budget */
};

/* The end of a call of Runner.run: from the time at which all chunks have started and a
 * thread has none, to the end of the last chunk. A retried chunk started with its first
 * attempt. */
struct roast_tail {
    bool any; /* false: the call has no chunks */
    int64_t from_ns;
    int64_t to_ns;    /* = from_ns: all threads ended at the same time */
    uint64_t threads; /* at the start of the last chunk */
    size_t interval;  /* number of it; valid if to_ns > from_ns */
};

/* Zeroed = empty and valid. */
struct roast_phases {
    struct roast_phase_interval *intervals; /* owned, by time; the first: run start */
    size_t count;
    struct roast_tail *tails; /* owned; per call; one if no call was recorded */
    size_t tail_count;
    struct roast_client_times client;
    size_t last_row; /* attempt that ends the tail of the table `tail`, which sets it */
};

const char *roast__phase_name(enum roast_phase phase);

/* The slice of idle threads in a phase. */
enum roast_slice roast__phase_slice(enum roast_phase phase);

/* The phase of work of the client. */
static inline enum roast_phase roast__client_phase(enum roast_client_work work)
{
    return (enum roast_phase)((int)ROAST_PHASE_POOL_START + (int)work);
}

/* False when out of memory. */
bool roast__phases_find(struct roast_phases *phases,
                        const struct roast_summary_context *ctx,
                        const struct roast_schedule *schedule);

/* Idle seconds of threads during a tail. */
double roast__tail_lost_s(const struct roast_phases *phases,
                          const struct roast_tail *tail);
void roast__phases_release(struct roast_phases *phases);

#endif
