/* SPDX-License-Identifier: BSD-3-Clause */
/* last_signs.c - until when processes and worker sessions are known to have lived.
 *
 * Nearly every worker has one session. Only if an address is used again are all
 * sessions searched. */
#include "analyze/budget/last_signs.h"

#include <math.h>

#include "analyze/budget/worker_match.h"
#include "analyze/calls.h"
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

/* The last moment at which anything was sampled: who was there then lives on. */
static int64_t last_round(const struct roast_samples *samples)
{
    int64_t latest = INT64_MIN;

    for (size_t i = 0; i < samples->count; i++) {
        if (samples->workers[i].last_use_ns > latest)
            latest = samples->workers[i].last_use_ns;
    }
    return latest;
}

/* When a process of this machine that is gone was sampled for the last time. */
static void see_process(int64_t *last, const struct roast_run *run,
                        const struct roast_hash_table *by_pid, uint64_t pid,
                        int64_t latest)
{
    for (size_t at = roast__hash_first(by_pid, roast__hash_number(pid));
         roast__hash_holds(by_pid, at); at = roast__hash_next(by_pid, at)) {
        const struct roast_worker_samples *worker =
            &run->samples.workers[roast__hash_item(by_pid, at)];
        if (worker->pid == pid && worker->last_use_ns > *last &&
            worker->last_use_ns < latest)
            *last = worker->last_use_ns;
    }
}

static bool see_samples(int64_t *last, const struct roast_run *run)
{
    struct roast_hash_table by_pid = {0};
    bool done = roast__index_pids(&by_pid, &run->samples);
    int64_t latest = last_round(&run->samples);

    for (size_t i = 0; done && i < run->attempts.process_count; i++) {
        const struct roast_worker_process *process = &run->attempts.processes[i];
        if (process->pid != 0 && roast__may_be_here(run, process))
            see_process(&last[i], run, &by_pid, process->pid, latest);
    }
    roast__hash_release(&by_pid);
    return done;
}

int64_t *roast__last_signs(const struct roast_run *run)
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
    if (last && !see_samples(last, run)) {
        roast__free(last);
        last = NULL;
    }
    /* A process lived until its worker left. */
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
                           const int64_t *last_signs)
{
    int64_t start, end;

    if (!roast__attempt_times(attempts, row, &start, &end) ||
        last_signs[attempts->process[row]] <= start)
        return NAN;
    return roast__seconds_between(start, last_signs[attempts->process[row]]);
}
