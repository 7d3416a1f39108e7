/* SPDX-License-Identifier: BSD-3-Clause */
/* worker_match.c - which of the sampled processes are workers, and on which machine.
 *
 * Records and samples are matched by the name of the worker, else by the pid on the
 * client's host, the only host whose processes we sample ourselves. */
#include "analyze/budget/worker_match.h"

#include <string.h>

#include "analyze/key_table.h"
#include "base/mem.h"

static struct roast_str text_of(const struct roast_run *run, int32_t number)
{
    return roast__strings_get(&run->strings, number);
}

/* ---- processes that ran attempts ------------------------------------------------- */

/* Entries with the same host and pid are one process, unless it is several workers of a
 * cluster. */
static bool same_process(const struct roast_worker_process *a,
                         const struct roast_worker_process *b)
{
    if (a->worker != b->worker && a->worker != ROAST_NO_STRING &&
        b->worker != ROAST_NO_STRING)
        return false;
    if (a->pid == 0 || b->pid == 0)
        return a->id == b->id && a->pid == b->pid;
    return a->pid == b->pid && a->host == b->host;
}

static uint64_t hash_process(const void *table, uint32_t item)
{
    const struct roast_worker_process *process =
        (const struct roast_worker_process *)table + item;

    return roast__hash_number(process->pid != 0 ? process->pid : process->id);
}

/* The first entry of the same process, added to slots if it is new; -1: out of memory. */
static int64_t first_entry(struct roast_hash_table *slots, size_t used,
                           const struct roast_worker_process *processes, uint32_t item)
{
    if (!roast__hash_room(slots, used, hash_process, processes))
        return -1;
    uint64_t hash = hash_process(processes, item);
    for (size_t at = roast__hash_first(slots, hash); roast__hash_holds(slots, at);
         at = roast__hash_next(slots, at)) {
        uint32_t other = roast__hash_item(slots, at);
        if (same_process(&processes[other], &processes[item]))
            return other;
    }
    roast__hash_put(slots, hash, item);
    return item;
}

/* ---- sampled processes ----------------------------------------------------------- */

static uint64_t hash_sampled(const void *table, uint32_t item)
{
    return roast__hash_number(((const struct roast_worker_samples *)table)[item].pid);
}

bool roast__index_pids(struct roast_hash_table *by_pid,
                       const struct roast_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++) {
        if (!roast__hash_room(by_pid, i, hash_sampled, samples->workers))
            return false;
        if (samples->workers[i].pid != 0)
            roast__hash_put(by_pid, hash_sampled(samples->workers, (uint32_t)i),
                            (uint32_t)i);
    }
    return true;
}

/* Marks all samples of this process; returns whether there were any. */
static bool match_process(struct roast_worker_match *match, const struct roast_run *run,
                          const struct roast_hash_table *by_pid, size_t number)
{
    const struct roast_worker_process *process = &run->attempts.processes[number];
    const struct roast_worker_samples *workers = run->samples.workers;
    const struct roast_worker_samples *named =
        process->worker != ROAST_NO_STRING
            ? roast__samples_find(&run->samples, process->worker)
            : NULL;
    bool matched = named != NULL;

    if (named)
        match->process[named - workers] = (int32_t)number;
    if (process->pid == 0 || !roast__may_be_local(run, process))
        return matched;
    for (size_t at = roast__hash_first(by_pid, roast__hash_number(process->pid));
         roast__hash_holds(by_pid, at); at = roast__hash_next(by_pid, at)) {
        uint32_t sampled = roast__hash_item(by_pid, at);
        if (workers[sampled].pid != process->pid)
            continue;
        match->process[sampled] = (int32_t)number;
        matched = true;
    }
    return matched;
}

static bool match_all(struct roast_worker_match *match, const struct roast_run *run,
                      const struct roast_hash_table *by_pid)
{
    const struct roast_attempts *attempts = &run->attempts;
    struct roast_hash_table distinct = {0};
    bool *ran = roast__alloc(attempts->process_count * sizeof(ran[0]));
    bool done = ran != NULL;

    for (size_t i = 0; i < attempts->count && done; i++)
        ran[attempts->process[i]] = true;
    for (size_t i = 0; i < attempts->process_count && done; i++) {
        if (!ran[i])
            continue; /* its attempts came from another worker too */
        int64_t first = first_entry(&distinct, i, attempts->processes, (uint32_t)i);
        done = first >= 0;
        if (first != (int64_t)i)
            continue;
        bool matched = match_process(match, run, by_pid, i);
        if (!roast__process_is_known(&attempts->processes[i]))
            continue; /* records without a process */
        match->seen++;
        if (!matched)
            match->unsampled++;
    }
    roast__hash_release(&distinct);
    roast__free(ran);
    return done;
}

static const struct roast_worker_session *session_of(const struct roast_run *run,
                                                     int32_t worker)
{
    return worker >= 0 ? roast__latest_session(&run->scheduler.sessions, worker) : NULL;
}

/* With a scheduler, a process sampled on this machine is a worker only if it ran attempts
 * of another executor: workers of the scheduler are sampled under their address. */
static bool is_worker(const struct roast_worker_match *match,
                      const struct roast_run *run, size_t sampled)
{
    const struct roast_worker_samples *samples = &run->samples.workers[sampled];
    int32_t process = match->process[sampled];

    if (samples->pid == 0)
        return run->scheduler.sessions.count == 0 || session_of(run, samples->name);
    return process >= 0 && !session_of(run, run->attempts.processes[process].worker);
}

/* ---- machines -------------------------------------------------------------------- */

/* The host inside an address like tcp://10.0.0.7:4321; absent when it is none. */
static struct roast_str host_in(struct roast_str name)
{
    size_t from = 0, to = name.size_bytes;

    while (from + 3 <= to && memcmp(name.data + from, "://", 3) != 0)
        from++;
    if (from + 3 > to)
        return (struct roast_str){NULL, 0};
    from += 3;
    while (to > from && name.data[to - 1] != ':')
        to--;
    if (to == from)
        return (struct roast_str){NULL, 0};
    return (struct roast_str){name.data + from, to - 1 - from};
}

static struct roast_str host_of(const struct roast_worker_match *match,
                                const struct roast_run *run, size_t sampled)
{
    const struct roast_worker_session *session =
        session_of(run, run->samples.workers[sampled].name);
    int32_t process = match->process[sampled];
    struct roast_str host = {NULL, 0};

    if (session && session->host >= 0) /* spelled alike for all workers */
        host = text_of(run, session->host);
    else if (process >= 0)
        host = text_of(run, run->attempts.processes[process].host);
    if (!host.data && run->samples.workers[sampled].pid != 0)
        host = text_of(run, run->host);
    return host.data ? host : host_in(text_of(run, run->samples.workers[sampled].name));
}

/* A process without a host is its own machine. */
static bool find_machines(struct roast_worker_match *match, const struct roast_run *run)
{
    struct roast_key_table machines = {.keys = NULL};
    bool done = true;

    for (uint32_t i = 0; i < run->samples.count && done; i++) {
        struct roast_key key = {.name = host_of(match, run, i)};
        key.a = key.name.data ? 0 : i + UINT64_C(1);
        int64_t number = roast__key_number(&machines, key, ROAST_NO_HINT);
        done = number >= 0;
        match->machine[i] = (uint32_t)number;
    }
    roast__key_table_release(&machines);
    return done;
}

/* ---- all ------------------------------------------------------------------------- */

bool roast__worker_match_find(struct roast_worker_match *match,
                              const struct roast_run *run)
{
    size_t count = run->samples.count;
    struct roast_hash_table by_pid = {0};

    match->is_worker = roast__alloc(count * sizeof(match->is_worker[0]));
    match->process = roast__alloc(count * sizeof(match->process[0]));
    match->machine = roast__alloc(count * sizeof(match->machine[0]));
    bool done = match->is_worker && match->process && match->machine;
    for (size_t i = 0; done && i < count; i++)
        match->process[i] = -1;
    done = done && roast__index_pids(&by_pid, &run->samples) &&
           match_all(match, run, &by_pid);
    if (done) {
        const struct roast_samples *samples = &run->samples;
        bool any = run->scheduler.sessions.count > 0;
        for (size_t i = 0; i < samples->count; i++) {
            bool backend = samples->workers[i].pid == 0;
            match->is_worker[i] = is_worker(match, run, i);
            any = any || match->is_worker[i];
            match->seen += backend && match->is_worker[i] && match->process[i] < 0;
        }
        for (size_t i = 0; !any && i < samples->count; i++) {
            match->is_worker[i] = true;
            match->seen += run->attempts.count == 0;
        }
    }
    done = done && find_machines(match, run);
    roast__hash_release(&by_pid);
    return done;
}

void roast__worker_match_release(struct roast_worker_match *match)
{
    roast__free(match->is_worker);
    roast__free(match->process);
    roast__free(match->machine);
    *match = (struct roast_worker_match){0};
}
