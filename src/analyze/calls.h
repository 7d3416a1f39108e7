/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - the calls of Runner.run inside a run, and which attempt is of which.
 *
 * Calls do not overlap: one that was not left ends where the next begins, or with the
 * run. */
#ifndef ROAST_ANALYZE_CALLS_H
#define ROAST_ANALYZE_CALLS_H

#include "base/array.h"
#include "run/run.h"

enum { ROAST_NO_CALL = -1 };

struct roast_call {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t preprocess_ns;     /* time inside preprocessing */
    int64_t preprocess_end_ns; /* begin_ns when there was none */
    bool left;                 /* its end was seen */
    bool returned;             /* with an output; false: it raised, or not known */
};

/* Zeroed = empty and valid; everything is owned. */
struct roast_calls {
    struct roast_call *calls; /* by time */
    size_t count;
    int32_t *of_row; /* call in which the attempt started, or ROAST_NO_CALL */
};

/* How many calls began. */
size_t roast__calls_count(const struct roast_run *run);

/* False when out of memory. of_row is filled when there are calls at all. */
bool roast__calls_find(struct roast_calls *calls, const struct roast_run *run);
void roast__calls_release(struct roast_calls *calls);

/* What the calls of Runner.run returned. */
enum roast_returned {
    ROAST_RETURNED_ALL,     /* an output each, or there was nothing to do */
    ROAST_RETURNED_PART,    /* an output each, with an exception beside one */
    ROAST_RETURNED_NOTHING, /* one of them raised, or goes on, or was killed */
};

/* Calls that gave an output. */
double roast__run_outputs(const struct roast_run *run);

enum roast_returned roast__run_returned(const struct roast_run *run);

/* When an attempt started and ended, opening the file included where that is known.
 * False: not known. An end that is not known is the start. */
static inline bool roast__attempt_times(const struct roast_attempts *attempts,
                                        size_t row, int64_t *start_ns, int64_t *end_ns)
{
    const struct roast_column *columns = attempts->columns;
    bool task = roast__column_has(&columns[ROAST_COLUMN_task_start_ns], row);
    int start = task ? ROAST_COLUMN_task_start_ns : ROAST_COLUMN_start_ns;
    int length = task ? ROAST_COLUMN_task_ns : ROAST_COLUMN_duration_ns;

    if (!roast__column_has(&columns[start], row))
        return false;
    *start_ns = columns[start].values[row];
    *end_ns = roast__sat_add(*start_ns, roast__column_get(&columns[length], row, 0));
    return true;
}

/* The end of the run, or while it goes on the latest moment that was seen. */
int64_t roast__run_end(const struct roast_run *run);

#endif
