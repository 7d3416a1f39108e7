/* SPDX-License-Identifier: BSD-3-Clause */
/* load_tasks.h - what a scheduler saw, out of a run file. */
#ifndef ROAST_FILE_SQLITE_LOAD_TASKS_H
#define ROAST_FILE_SQLITE_LOAD_TASKS_H

#include "file/sqlite/load.h"

/* Into a run that has its strings. Fails when memory or the disk does. */
int roast__load_tasks(struct roast_loading *loading, roast_error *err);

#endif
