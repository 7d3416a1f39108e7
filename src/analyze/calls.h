/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - the calls of Runner.run inside a run, and the call of every attempt.
 *
 * Calls do not overlap: one without a recorded end ends where the next one begins, or
 * with the run. */
#ifndef ROAST_ANALYZE_CALLS_H
#define ROAST_ANALYZE_CALLS_H

#include "base/array.h"
#include "run/run.h"

enum { ROAST_NO_CALL = -1 };

struct roast_call {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t preprocess_ns;     /* time inside preprocessing */
    int64_t preprocess_end_ns; /* begin_ns if there was none */
    bool has_end;              /* its end was recorded */
    bool raised;               /* that it raised was recorded */
    bool returned;             /* an output; false: it raised, or not known */
};

/* Zeroed = empty and valid; everything is owned. */
struct roast_calls {
    struct roast_call *calls; /* by time */
    size_t count;
    int32_t *of_row; /* call in which the attempt started, or ROAST_NO_CALL */
};

/* The number of calls that began. */
size_t roast__calls_count(const struct roast_run *run);

/* False when out of memory. of_row is NULL if there are no calls. */
bool roast__calls_find(struct roast_calls *calls, const struct roast_run *run);
void roast__calls_release(struct roast_calls *calls);

/* What the calls of Runner.run returned. */
enum roast_returned {
    ROAST_RETURNED_ALL,     /* an output each, or there were no calls */
    ROAST_RETURNED_PART,    /* an output each, one of them with an exception */
    ROAST_RETURNED_NOTHING, /* one of them raised, is running, or was killed */
};

/* Calls that returned an output; if not counted, those that ended without failure. */
double roast__run_outputs(const struct roast_run *run);

enum roast_returned roast__run_returned(const struct roast_run *run);

/* Start and end of an attempt, opening the file included if that was measured. False:
 * not known. Without an end, *end_ns is the start. */
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

/* The end of the run, or while it is running the latest recorded time. */
int64_t roast__run_end(const struct roast_run *run);

#endif
