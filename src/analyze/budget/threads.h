/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.h - which part of each job of a shift had a thread. */
#ifndef ROAST_ANALYZE_BUDGET_THREADS_H
#define ROAST_ANALYZE_BUDGET_THREADS_H

#include "analyze/budget/schedule.h"

/* Some jobs of a shift, by their start, and which part of each had a thread. */
struct roast_crowd {
    const struct roast_shift *shift;
    const struct roast_job *jobs;
    int64_t (*fitted)[2]; /* per job: [from, to); equal: there was no thread for it */
    size_t count;
};

/* Room for the largest shift. Zeroed = empty and valid; everything is owned. */
struct roast_threads {
    int64_t *free_ns;   /* when each thread is free */
    struct turn *turns; /* see threads.c */
};

/* For shifts of up to so many jobs; false when out of memory. */
bool roast__threads_reserve(struct roast_threads *threads, size_t jobs,
                            bool any_guessed);
void roast__threads_release(struct roast_threads *threads);

/* Fills `fitted`. Gives the seconds within `run` ([from, to]) that did not fit: more
 * threads were busy than there are, or none was there yet. */
double roast__threads_fit(struct roast_threads *threads,
                          const struct roast_crowd *crowd, const int64_t run[2]);

#endif
