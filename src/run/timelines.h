/* SPDX-License-Identifier: BSD-3-Clause */
/* timelines.h - the series of a run, one line after the other. */
#ifndef ROAST_RUN_TIMELINES_H
#define ROAST_RUN_TIMELINES_H

#include "run/run.h"

enum { ROAST_ALL_SERIES = -1 };

/* Gets a line and the name of its worker, absent for the number of workers. A callback
 * that takes the points zeroes the line. False when out of memory. */
typedef bool roast__line_visitor(void *context, struct roast_timeline *line,
                                 struct roast_str name);

/* The interval at which workers are sampled, in seconds; 0: not known, or not sampled. */
double roast__sampling_interval(const struct roast_run *run);

/* Passes the lines of one series, or the number of workers and then all series, as
 * roast_run_tracking() returns them. False when out of memory. The lock is held. */
bool roast__timelines_each(const struct roast_run *run, int only,
                           roast__line_visitor *take, void *context);

#endif
