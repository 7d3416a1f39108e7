/* SPDX-License-Identifier: BSD-3-Clause */
/* tracking.h - the series of a run, one line after the other. */
#ifndef ROAST_RUN_TRACKING_H
#define ROAST_RUN_TRACKING_H

#include "run/run.h"

enum { ROAST_ALL_SERIES = -1 };

/* Looks at a line, whose worker is `name`, absent for the number of workers; one who
 * zeroes it keeps its points. False when out of memory. */
typedef bool roast__take_line(void *context, struct roast_timeline *line,
                              struct roast_str name);

/* Gives the lines of one series, or of all and the number of workers first, as
 * roast_run_tracking() has them. False when out of memory. The lock is held. */
bool roast__tracking_each(const struct roast_run *run, int only, roast__take_line *take,
                          void *context);

#endif
