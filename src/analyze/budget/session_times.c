/* SPDX-License-Identifier: BSD-3-Clause */
/* session_times.c - which stay of a worker a moment falls into, and what ended with it.
 *
 * Nearly every worker has one stay. Only where an address is used again are all stays
 * looked through. */
#include "analyze/budget/session_times.h"

const struct roast_worker_session *roast__stay_at(
    const struct roast_worker_sessions *stays, int32_t worker, int64_t time_ns)
{
    const struct roast_worker_session *latest = roast__latest_session(stays, worker);
    const struct roast_worker_session *found = NULL;

    if (!latest || latest->joined_ns <= time_ns)
        return latest;
    for (size_t i = 0; i < stays->count; i++) {
        const struct roast_worker_session *stay = &stays->items[i];
        if (stay->worker == worker && (!found || stay->joined_ns <= time_ns))
            found = stay;
    }
    return found;
}

void roast__see_departures(int64_t *last_signs, const struct roast_run *run)
{
    const struct roast_worker_sessions *stays = &run->scheduler.sessions;

    for (size_t i = 0; stays->count > 0 && i < run->attempts.process_count; i++) {
        int32_t worker = run->attempts.processes[i].worker;
        const struct roast_worker_session *stay =
            worker >= 0 ? roast__stay_at(stays, worker, last_signs[i]) : NULL;
        if (stay && stay->left_ns > last_signs[i])
            last_signs[i] = stay->left_ns;
    }
}
