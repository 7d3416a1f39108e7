/* SPDX-License-Identifier: BSD-3-Clause */
/* columns_tasks.h - what the table `tasks` has from a scheduler. */
#ifndef ROAST_AGGREGATE_COLUMNS_TASKS_H
#define ROAST_AGGREGATE_COLUMNS_TASKS_H

#include "aggregate/columns_job.h"
#include "aggregate/task_joins.h"

/* Adds what the scheduler knows of the attempt in the last row of the table. */
void roast__put_task_of_attempt(const struct roast_columns_job *job,
                                const struct roast_task_joins *joins, size_t attempt);

/* A row for every task that was no attempt, in the order they were told. */
void roast__put_other_tasks(const struct roast_columns_job *job,
                            const struct roast_task_joins *joins);

#endif
