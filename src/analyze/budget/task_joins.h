/* SPDX-License-Identifier: BSD-3-Clause */
/* task_joins.h - joins attempts with the tasks of a scheduler. */
#ifndef ROAST_ANALYZE_BUDGET_TASK_JOINS_H
#define ROAST_ANALYZE_BUDGET_TASK_JOINS_H

#include "run/run.h"

/* Zeroed = empty and valid; everything is owned. */
struct roast_task_joins {
    int32_t *task_of;       /* per attempt: number of its task, or -1 */
    unsigned char *has_row; /* per task: 1 if it has an attempt */
};

/* The run is locked and its sources are resolved. False when out of memory. */
bool roast__task_joins_find(struct roast_task_joins *joins,
                            const struct roast_run *run);
void roast__task_joins_release(struct roast_task_joins *joins);

#endif
