/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.h - which part of each job of a shift had a thread. */
#ifndef ROAST_ANALYZE_BUDGET_THREADS_H
#define ROAST_ANALYZE_BUDGET_THREADS_H

#include "analyze/budget/schedule.h"

struct roast_keyed;

/* The jobs of a shift, by their start, and the part of each that had a thread. */
struct roast_shift_jobs {
    const struct roast_shift *shift;
    const struct roast_job *jobs;
    int64_t (*fitted)[2]; /* per job: [from, to); equal: there was no thread for it */
    size_t count;
};

/* Scratch memory for the largest shift. Zeroed = empty and valid; everything is owned. */
struct roast_threads {
    struct roast_keyed *free_at; /* per thread: when it is free */
    struct thread_event *events; /* see threads.c */
};

/* For shifts of up to so many jobs; false when out of memory. */
bool roast__threads_reserve(struct roast_threads *threads,
                            const struct roast_schedule *schedule, size_t most_jobs);
void roast__threads_release(struct roast_threads *threads);

/* Fills `fitted`. Returns the seconds within `run` ([from, to]) that did not fit: more
 * threads were busy than there are, or the worker had not joined yet. */
double roast__threads_fit(struct roast_threads *threads,
                          const struct roast_shift_jobs *shift_jobs,
                          const int64_t run[2]);

#endif
