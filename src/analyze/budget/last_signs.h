/* SPDX-License-Identifier: BSD-3-Clause */
/* last_signs.h - until when processes and worker sessions are known to have lived. */
#ifndef ROAST_ANALYZE_BUDGET_LAST_SIGNS_H
#define ROAST_ANALYZE_BUDGET_LAST_SIGNS_H

#include "run/run.h"

/* The session of a worker at a time, the first one for times before all; NULL: it has
 * none. */
const struct roast_worker_session *roast__session_at(
    const struct roast_worker_sessions *sessions, int32_t worker, int64_t time_ns);

/* Per process the latest time at which an attempt of it is known to have run, it was
 * sampled, or its worker left; returns owned, NULL when out of memory. */
int64_t *roast__last_signs(const struct roast_run *run);

/* From the start of a lost attempt to the last sign of life of its process; NaN when
 * there is none. */
double roast__lost_seconds(const struct roast_attempts *attempts, size_t row,
                           const int64_t *last_signs);

#endif
