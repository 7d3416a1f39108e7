/* SPDX-License-Identifier: BSD-3-Clause */
/* session_times.c - which session of a worker a moment falls into, and what ended with it.
 *
 * Nearly every worker has one session. Only if an address is used again are all sessions
 * searched. */
#include "analyze/budget/session_times.h"

const struct roast_worker_session *roast__session_at(
    const struct roast_worker_sessions *sessions, int32_t worker, int64_t time_ns)
{
    const struct roast_worker_session *latest = roast__latest_session(sessions, worker);
    const struct roast_worker_session *found = NULL;

    if (!latest || latest->joined_ns <= time_ns)
        return latest;
    for (size_t i = 0; i < sessions->count; i++) {
        const struct roast_worker_session *session = &sessions->items[i];
        if (session->worker == worker && (!found || session->joined_ns <= time_ns))
            found = session;
    }
    return found;
}

void roast__see_departures(int64_t *last_signs, const struct roast_run *run)
{
    const struct roast_worker_sessions *sessions = &run->scheduler.sessions;

    for (size_t i = 0; sessions->count > 0 && i < run->attempts.process_count; i++) {
        int32_t worker = run->attempts.processes[i].worker;
        const struct roast_worker_session *session =
            worker >= 0 ? roast__session_at(sessions, worker, last_signs[i]) : NULL;
        if (session && session->left_ns > last_signs[i])
            last_signs[i] = session->left_ns;
    }
}
