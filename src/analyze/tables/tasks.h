/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks.h - what the table `tasks` has from a scheduler. */
#ifndef ROAST_ANALYZE_TABLES_TASKS_H
#define ROAST_ANALYZE_TABLES_TASKS_H

#include "analyze/budget/task_joins.h"
#include "analyze/tables/job.h"

/* Adds what the scheduler knows of the attempt in the last row of the table. */
void roast__put_task_of_attempt(const struct roast_table_job *job,
                                const struct roast_task_joins *joins, size_t attempt);

/* A row for every task that was no attempt, in the order they arrived. */
void roast__put_other_tasks(const struct roast_table_job *job,
                            const struct roast_task_joins *joins);

#endif
