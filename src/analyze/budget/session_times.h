/* SPDX-License-Identifier: BSD-3-Clause */
/* session_times.h - which session of a worker a moment falls into, and what ended with it. */
#ifndef ROAST_ANALYZE_BUDGET_SESSION_TIMES_H
#define ROAST_ANALYZE_BUDGET_SESSION_TIMES_H

#include "run/run.h"

/* The session of a worker in which a moment lies, the first one for moments before all;
 * NULL: it has none. */
const struct roast_worker_session *roast__session_at(
    const struct roast_worker_sessions *sessions, int32_t worker, int64_t time_ns);

/* Moves the last sign of every process (roast__last_signs()) to when its worker left,
 * if it did: until then it lived. */
void roast__see_departures(int64_t *last_signs, const struct roast_run *run);

#endif
