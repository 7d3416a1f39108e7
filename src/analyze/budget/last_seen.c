/* SPDX-License-Identifier: BSD-3-Clause */
/* last_seen.c - the last time at which processes are known to have been alive.
 *
 * Nearly every worker has one session. All sessions are searched only if an address was
 * used again. */
#include "analyze/budget/last_seen.h"

#include <math.h>

#include "analyze/budget/worker_match.h"
#include "analyze/calls.h"
#include "analyze/deaths.h"
#include "analyze/timeline.h"
#include "base/mem.h"

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

int64_t *roast__last_seen(const struct roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;
    int64_t *last = roast__alloc(attempts->process_count * sizeof(last[0]));

    for (size_t i = 0; last && i < attempts->process_count; i++)
        last[i] = INT64_MIN;
    for (size_t row = 0; last && row < attempts->count; row++) {
        int64_t start, end;
        if (roast__attempt_times(attempts, row, &start, &end) &&
            end > last[attempts->process[row]])
            last[attempts->process[row]] = end;
    }
    /* A process that was sampled in the last round may still be alive. */
    const struct roast_samples *samples = &run->samples;
    struct roast_hash_table by_pid = {0};
    int64_t last_round_ns = INT64_MIN;
    for (size_t i = 0; i < samples->count; i++) {
        if (samples->workers[i].last_use_ns > last_round_ns)
            last_round_ns = samples->workers[i].last_use_ns;
    }
    if (last && !roast__index_pids(&by_pid, samples)) {
        roast__free(last);
        last = NULL;
    }
    for (size_t i = 0; last && i < attempts->process_count; i++) {
        const struct roast_worker_process *process = &attempts->processes[i];
        if (process->pid == 0 || !roast__may_be_local(run, process))
            continue;
        for (size_t at = roast__hash_first(&by_pid, roast__hash_number(process->pid));
             roast__hash_holds(&by_pid, at); at = roast__hash_next(&by_pid, at)) {
            const struct roast_worker_samples *worker =
                &samples->workers[roast__hash_item(&by_pid, at)];
            if (worker->pid == process->pid && worker->last_use_ns > last[i] &&
                worker->last_use_ns < last_round_ns)
                last[i] = worker->last_use_ns;
        }
    }
    roast__hash_release(&by_pid);
    for (size_t i = 0; last && i < attempts->process_count; i++) {
        struct roast_death death;
        if (roast__death_find(&death, run, &attempts->processes[i]) &&
            death.time_ns > last[i])
            last[i] = death.time_ns;
    }
    /* A process was alive until its worker left. */
    const struct roast_worker_sessions *sessions = &run->scheduler.sessions;
    for (size_t i = 0; last && sessions->count > 0 && i < attempts->process_count;
         i++) {
        int32_t worker = attempts->processes[i].worker;
        const struct roast_worker_session *session =
            worker >= 0 ? roast__session_at(sessions, worker, last[i]) : NULL;
        if (session && session->left_ns > last[i])
            last[i] = session->left_ns;
    }
    return last;
}

double roast__lost_seconds(const struct roast_attempts *attempts, size_t row,
                           const int64_t *last_seen)
{
    int64_t start, end;

    if (!roast__attempt_times(attempts, row, &start, &end) ||
        last_seen[attempts->process[row]] <= start)
        return NAN;
    return roast__seconds_between(start, last_seen[attempts->process[row]]);
}
