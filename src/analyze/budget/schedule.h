/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.h - who was there, and who did what when: the ground of the budget.
 *
 * A shift is a worker while it was there, a job what one of its threads did. On a
 * cluster they are the sessions of workers and their tasks; without a scheduler a worker
 * is a place of the executor's pool, and its jobs are the attempts. */
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
    int32_t session; /* number of it, or -1 */
    int32_t process; /* the latest one that had this place of a pool, or -1 */
};

/* Rows [first_row, first_row + row_count) of roast_schedule.rows are its attempts: one
 * after the other where an attempt was repeated inside of a task. */
struct roast_job {
    uint32_t shift;
    uint32_t first_row;
    uint32_t row_count;
    unsigned char slice; /* roast_slice: of the time outside its attempts */
    unsigned char kind;  /* the slice if all went well; unexplained: a chunk */
    bool guessed;        /* its begin is not known: at its assignment or later */
    int64_t assigned_ns; /* as start_ns without a scheduler */
    int64_t start_ns;
    int64_t stop_ns; /* = start_ns: it was assigned and never began */
};

/* Zeroed = empty and valid; everything is owned. */
struct roast_schedule {
    struct roast_shift *shifts;
    size_t shift_count;
    struct roast_job *jobs; /* by shift, then by start */
    size_t job_count;
    uint32_t *rows;     /* of attempts */
    bool has_scheduler; /* assigned_ns is known */
    bool any_guessed;
    uint64_t placeless; /* jobs of unknown workers */
    double placeless_s; /* their seconds inside the run */
};

/* False when out of memory. A run without workers has no shifts. */
bool roast__schedule_find(struct roast_schedule *schedule,
                          const struct roast_summary_context *ctx);
void roast__schedule_release(struct roast_schedule *schedule);

#endif
