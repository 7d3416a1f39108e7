/* SPDX-License-Identifier: BSD-3-Clause */
/* task_kinds.h - the purpose of each task that a scheduler ran. */
#ifndef ROAST_ANALYZE_TOTALS_TASK_KINDS_H
#define ROAST_ANALYZE_TOTALS_TASK_KINDS_H

#include "run/run.h"

/* The kind of every task of a run (enum roast_task_kind), by its number in
 * run->scheduler.tasks; the lock is held. Returns owned, for roast__free(); NULL when
 * out of memory. */
unsigned char *roast__task_kinds(const struct roast_run *run);

/* Whether a scheduler ran any of them: tasks of the client itself have no worker. */
bool roast__has_scheduled(const struct roast_tasks *tasks);

#endif
