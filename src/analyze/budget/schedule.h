/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.h - the shifts of workers and the jobs of their threads: input of the budget.
 *
 * On a cluster a shift is a worker session, and jobs are tasks. Without a scheduler a
 * shift is the time in which an executor offers a slot of its pool, and jobs are
 * attempts. */
#ifndef ROAST_ANALYZE_BUDGET_SCHEDULE_H
#define ROAST_ANALYZE_BUDGET_SCHEDULE_H

#include "analyze/summary.h"

enum roast_slice {
#define S(name, shown, text) ROAST_SLICE_##name,
#include "roast/budget_slices.def"
#undef S
    ROAST_SLICES
};

struct roast_shift {
    int64_t from_ns; /* both inside the run */
    int64_t to_ns;
    uint64_t threads;
    int32_t session; /* number of the worker session, or -1 */
    int32_t process; /* the latest one in this slot of a pool, or -1 */
};

/* Rows [first_row, first_row + row_count) of roast_schedule.rows are its attempts: several
 * if an attempt was repeated inside a task. */
struct roast_job {
    uint32_t shift;
    uint32_t first_row;
    uint32_t row_count;
    unsigned char slice; /* roast_slice: of the time outside its attempts */
    unsigned char kind;  /* the slice if it was successful; unexplained: a chunk */
    bool start_unknown;  /* start_ns is the assignment, and it started later */
    int64_t assigned_ns; /* = start_ns without a scheduler */
    int64_t start_ns;
    int64_t stop_ns; /* = start_ns: it was assigned and never started */
};

/* Zeroed = empty and valid; everything is owned. */
struct roast_schedule {
    struct roast_shift *shifts;
    size_t shift_count;
    struct roast_job *jobs; /* by shift, then by start */
    size_t job_count;
    uint32_t *rows;     /* of attempts */
    bool has_scheduler; /* assigned_ns is known */
    bool any_start_unknown;
    uint64_t unplaced_jobs; /* jobs of unknown workers */
    double unplaced_s;      /* their seconds inside the run */
};

/* False when out of memory. A run without workers has no shifts. */
bool roast__schedule_find(struct roast_schedule *schedule,
                          const struct roast_summary_context *ctx);
void roast__schedule_release(struct roast_schedule *schedule);

#endif
