/* SPDX-License-Identifier: BSD-3-Clause */
/* last_seen.h - the last time at which processes are known to have been alive. */
#ifndef ROAST_ANALYZE_BUDGET_LAST_SEEN_H
#define ROAST_ANALYZE_BUDGET_LAST_SEEN_H

#include "run/run.h"

/* The session of a worker at a time, or its first one; NULL: it has none. */
const struct roast_worker_session *roast__session_at(
    const struct roast_worker_sessions *sessions, int32_t worker, int64_t time_ns);

/* Per process the latest end of an attempt, sample, or leave of its worker; returns
 * owned, NULL when out of memory. */
int64_t *roast__last_seen(const struct roast_run *run);

/* Seconds from the start of a lost attempt until its process was last seen; NaN: not
 * known. */
double roast__lost_seconds(const struct roast_attempts *attempts, size_t row,
                           const int64_t *last_seen);

#endif
