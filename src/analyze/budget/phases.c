/* SPDX-License-Identifier: BSD-3-Clause */
/* phases.c - the phases of a run, which are the reasons why threads were idle.
 *
 * The borders of the phases of a call of Runner.run follow from its jobs: begin and end
 * of preprocessing, assignment of the first chunk, start of the last one, the first idle
 * thread after that, end of the last chunk, end of the last merge. Without a recorded
 * call, all jobs of the run count as one call. */
#include "analyze/budget/phases.h"

#include <stdlib.h>

#include "analyze/calls.h"
#include "analyze/timeline.h"
#include "base/mem.h"

const char *roast__phase_name(enum roast_phase phase)
{
    static const char *const names[ROAST_PHASE_COUNT] = {
        [ROAST_PHASE_BEFORE] = "before",
        [ROAST_PHASE_PREPROCESS] = "preprocess",
        [ROAST_PHASE_CHUNKS] = "chunks",
        [ROAST_PHASE_TAIL] = "tail",
        [ROAST_PHASE_REDUCE] = "merge",
        [ROAST_PHASE_BETWEEN] = "between",
        [ROAST_PHASE_AFTER] = "after",
        [ROAST_PHASE_UNKNOWN] = "not known",
        [ROAST_PHASE_POOL_START] = "pool start",
        [ROAST_PHASE_POOL_STOP] = "pool stop",
        [ROAST_PHASE_POSTPROCESS] = "postprocess",
        [ROAST_PHASE_MONITOR] = "roastcoffea",
    };
    return names[phase];
}

enum roast_slice roast__phase_slice(enum roast_phase phase)
{
    static const enum roast_slice slices[ROAST_PHASE_COUNT] = {
        [ROAST_PHASE_BEFORE] = ROAST_SLICE_idle_client_before,
        [ROAST_PHASE_PREPROCESS] = ROAST_SLICE_idle_preprocess,
        [ROAST_PHASE_CHUNKS] = ROAST_SLICE_idle_starved,
        [ROAST_PHASE_TAIL] = ROAST_SLICE_idle_tail,
        [ROAST_PHASE_REDUCE] = ROAST_SLICE_idle_reduce,
        [ROAST_PHASE_BETWEEN] = ROAST_SLICE_idle_client_between,
        [ROAST_PHASE_AFTER] = ROAST_SLICE_idle_client_after,
        [ROAST_PHASE_UNKNOWN] = ROAST_SLICE_unexplained,
        [ROAST_PHASE_POOL_START] = ROAST_SLICE_pool_start,
        [ROAST_PHASE_POOL_STOP] = ROAST_SLICE_pool_stop,
        [ROAST_PHASE_POSTPROCESS] = ROAST_SLICE_postprocess,
        [ROAST_PHASE_MONITOR] = ROAST_SLICE_monitor,
    };
    return slices[phase];
}

/* ---- the times of a call --------------------------------------------------------- */

/* Empty: from_ns > to_ns. */
struct time_range {
    int64_t from_ns;
    int64_t to_ns;
};

struct call_times {
    struct time_range preprocess;
    struct time_range chunks; /* from the first assignment */
    struct time_range reduce;
    struct time_range unknown; /* of a lost scheduler, beside what it reported */
    int64_t last_start_ns;     /* of a chunk, in its first attempt */
};

struct phase_search {
    const struct roast_summary_context *ctx;
    const struct roast_schedule *schedule;
    struct roast_calls calls;
    struct call_times *times; /* owned */
    size_t call_count;        /* of them */
};

static const struct time_range empty = {INT64_MAX, INT64_MIN};

static bool is_empty(const struct time_range *range)
{
    return range->from_ns > range->to_ns;
}

static void widen(struct time_range *range, int64_t from_ns, int64_t to_ns)
{
    range->from_ns = from_ns < range->from_ns ? from_ns : range->from_ns;
    range->to_ns = to_ns > range->to_ns ? to_ns : range->to_ns;
}

/* Chunks, and what belongs neither to coffea nor to other clients. */
static bool is_chunk_job(const struct roast_job *job)
{
    return job->kind == ROAST_SLICE_unexplained || job->kind == ROAST_SLICE_other;
}

/* Whether it started, and is not a retry: a retried chunk has started before. */
static bool is_first_start(const struct phase_search *search,
                           const struct roast_job *job)
{
    const struct roast_roles *roles = &search->ctx->totals->roles;
    const struct roast_retry *retry =
        job->row_count > 0
            ? roast__roles_retry(roles, search->schedule->rows[job->first_row])
            : NULL;

    return job->stop_ns > job->start_ns && (!retry || retry->attempt == 1);
}

static void add_job(struct call_times *times, const struct roast_job *job,
                    bool is_first)
{
    if (job->kind == ROAST_SLICE_preprocess)
        widen(&times->preprocess, job->assigned_ns, job->stop_ns);
    if (job->kind == ROAST_SLICE_reduce)
        widen(&times->reduce, job->assigned_ns, job->stop_ns);
    if (!is_chunk_job(job))
        return;
    widen(&times->chunks, job->assigned_ns, job->stop_ns);
    if (is_first && job->start_ns > times->last_start_ns)
        times->last_start_ns = job->start_ns;
}

/* The duration of preprocessing as the client measured it is used if its tasks were not
 * recorded, or if it has a pool of its own. Without a scheduler the pool has its chunks
 * when preprocessing ends, and the client merges, up to the end of the call if merging
 * was not recorded. */
static void add_call(struct call_times *times, const struct roast_call *call,
                     const struct roast_run *run, bool has_scheduler)
{
    int64_t preprocessed_ns = call->preprocess_end_ns;
    int64_t from_ns = roast__sat_sub(preprocessed_ns, call->preprocess_ns);
    const struct roast_offer *offer = roast__run_offer_at(run, from_ns);
    bool has_pool = !has_scheduler && offer && offer->workers > 1;

    if ((is_empty(&times->preprocess) || has_pool) && call->preprocess_ns > 0)
        widen(&times->preprocess, from_ns, preprocessed_ns);
    if (has_scheduler && !call->returned && run->facts[ROAST_FACT_lost_schedulers] > 0)
        widen(&times->unknown, preprocessed_ns, call->end_ns);
    if (has_scheduler || is_empty(&times->chunks))
        return;
    widen(&times->chunks, preprocessed_ns, times->chunks.to_ns);
    if (is_empty(&times->reduce) && call->returned)
        widen(&times->reduce, times->chunks.to_ns, call->end_ns);
}

/* The call in which a job was assigned; 0 if no call was recorded. */
static size_t call_of(const struct roast_calls *calls, const struct roast_job *job)
{
    size_t begun = calls->count > 0 ? roast__count_until(&calls->calls[0].begin_ns,
                                                         sizeof(calls->calls[0]),
                                                         calls->count, job->assigned_ns)
                                    : 0;

    return begun > 0 ? begun - 1 : 0;
}

/* ---- tails ----------------------------------------------------------------------- */

/* A chunk that was running when the last one of its call started. */
struct late_end {
    size_t call;
    int64_t stop_ns;
};

static int by_call_and_stop(const void *a, const void *b)
{
    const struct late_end *left = a, *right = b;

    if (left->call != right->call)
        return left->call < right->call ? -1 : 1;
    return (left->stop_ns > right->stop_ns) - (left->stop_ns < right->stop_ns);
}

/* Fills `late` (NULL: only counts). */
static size_t find_late(struct late_end *late, const struct phase_search *search)
{
    const struct roast_schedule *schedule = search->schedule;
    size_t count = 0;

    for (size_t i = 0; i < schedule->job_count; i++) {
        const struct roast_job *job = &schedule->jobs[i];
        size_t call = call_of(&search->calls, job);
        int64_t last_ns = search->times[call].last_start_ns;
        if (!is_chunk_job(job) || job->start_ns > last_ns || job->stop_ns <= last_ns)
            continue;
        if (late)
            late[count] = (struct late_end){call, job->stop_ns};
        count++;
    }
    return count;
}

static uint64_t threads_at(const struct roast_schedule *schedule, int64_t time_ns)
{
    uint64_t threads = 0;

    for (size_t i = 0; i < schedule->shift_count; i++) {
        const struct roast_shift *shift = &schedule->shifts[i];
        if (shift->from_ns <= time_ns && time_ns < shift->to_ns &&
            __builtin_add_overflow(threads, shift->threads, &threads))
            return UINT64_MAX;
    }
    return threads;
}

/* late[0 ... count) are the ends in one call, in order. If all threads are busy, the
 * first of these ends leaves a thread without a chunk. */
static struct roast_tail tail_of(const struct phase_search *search, size_t call,
                                 const struct late_end *late, size_t count)
{
    const struct call_times *times = &search->times[call];
    struct roast_tail tail = {.any = !is_empty(&times->chunks)};
    int64_t last_ns = times->last_start_ns;

    if (!tail.any)
        return tail;
    tail.to_ns = tail.from_ns = times->chunks.to_ns;
    if (last_ns == INT64_MIN)
        return tail; /* no chunk started */
    tail.threads = threads_at(search->schedule, last_ns);
    tail.from_ns = tail.threads > count ? last_ns
                   : tail.threads > 0   ? late[count - (size_t)tail.threads].stop_ns
                                        : tail.to_ns;
    return tail;
}

double roast__tail_lost_s(const struct roast_phases *phases,
                          const struct roast_tail *tail)
{
    return tail->any && tail->to_ns > tail->from_ns && tail->interval < phases->count
               ? phases->intervals[tail->interval].idle_s
               : 0;
}

/* ---- intervals -------------------------------------------------------------------- */

static void start_phase(struct roast_phases *phases, int64_t from_ns,
                        enum roast_phase phase)
{
    size_t count = phases->count;

    if (count > 0 && from_ns <= phases->intervals[count - 1].from_ns)
        phases->intervals[count - 1].phase = phase; /* the previous one took no time */
    else
        phases->intervals[phases->count++] =
            (struct roast_phase_interval){.from_ns = from_ns, .phase = phase};
}

/* Adds a phase in a time range, from *until_ns at the earliest. */
static void add_phase(struct roast_phases *phases, struct time_range range,
                      enum roast_phase phase, int64_t *until_ns)
{
    int64_t from_ns = range.from_ns > *until_ns ? range.from_ns : *until_ns;

    if (is_empty(&range) || range.to_ns <= from_ns)
        return;
    start_phase(phases, from_ns, phase);
    start_phase(phases, range.to_ns, ROAST_PHASE_BETWEEN);
    *until_ns = range.to_ns;
}

/* Replaces the phases of the times in which the client did work of its own; false when
 * out of memory. */
static bool lay_over(struct roast_phases *phases, int64_t end_ns)
{
    const struct roast_client_time *work = phases->client.items;
    size_t left = phases->client.count, count = 0;
    struct roast_phase_interval *cut =
        roast__alloc((phases->count + 2 * left) * sizeof(cut[0]) + sizeof(cut[0]));

    for (size_t i = 0; cut && i < phases->count; i++) {
        enum roast_phase phase = phases->intervals[i].phase;
        int64_t from_ns = phases->intervals[i].from_ns;
        int64_t to_ns =
            i + 1 < phases->count ? phases->intervals[i + 1].from_ns : INT64_MAX;
        for (; left > 0 && work->to_ns <= from_ns; left--)
            work++;
        for (; left > 0 && work->from_ns < to_ns; left--, work++) {
            enum roast_phase own = roast__client_phase(work->work);
            if (work->from_ns > from_ns)
                cut[count++] =
                    (struct roast_phase_interval){.from_ns = from_ns, .phase = phase};
            if (work->from_ns >= from_ns)
                cut[count++] = (struct roast_phase_interval){.from_ns = work->from_ns,
                                                             .phase = own};
            from_ns = work->to_ns < to_ns ? work->to_ns : to_ns;
            if (work->to_ns > to_ns)
                break;
        }
        if (from_ns < to_ns && from_ns < end_ns)
            cut[count++] =
                (struct roast_phase_interval){.from_ns = from_ns, .phase = phase};
    }
    if (!cut)
        return false;
    roast__free(phases->intervals);
    phases->intervals = cut;
    phases->count = count;
    for (size_t i = 0; i < phases->tail_count; i++) {
        struct roast_tail *tail = &phases->tails[i];
        tail->interval = roast__count_until(&cut[0].from_ns, sizeof(cut[0]), count,
                                            roast__sat_sub(tail->from_ns, 1));
        while (tail->interval < count && cut[tail->interval].phase != ROAST_PHASE_TAIL)
            tail->interval++;
    }
    return true;
}

bool roast__phases_find(struct roast_phases *phases,
                        const struct roast_summary_context *ctx,
                        const struct roast_schedule *schedule)
{
    struct phase_search search = {.ctx = ctx, .schedule = schedule};
    bool found = roast__calls_find(&search.calls, ctx->run);

    search.call_count = search.calls.count > 0 ? search.calls.count : 1;
    search.times = roast__alloc(search.call_count * sizeof(search.times[0]));
    found = found && search.times;
    if (found) {
        for (size_t i = 0; i < search.call_count; i++)
            search.times[i] =
                (struct call_times){empty, empty, empty, empty, INT64_MIN};
        for (size_t i = 0; i < schedule->job_count; i++) {
            const struct roast_job *job = &schedule->jobs[i];
            add_job(&search.times[call_of(&search.calls, job)], job,
                    is_first_start(&search, job));
        }
        for (size_t i = 0; i < search.calls.count; i++)
            add_call(&search.times[i], &search.calls.calls[i], search.ctx->run,
                     schedule->has_scheduler);
        size_t count = find_late(NULL, &search), from = 0;
        struct late_end *late = roast__alloc(count * sizeof(late[0]));
        phases->tails = roast__alloc(search.call_count * sizeof(phases->tails[0]));
        phases->tail_count = phases->tails ? search.call_count : 0;
        if (late && phases->tails) {
            (void)find_late(late, &search);
            qsort(late, count, sizeof(late[0]), by_call_and_stop);
        }
        for (size_t call = 0; late && call < phases->tail_count; call++) {
            size_t to = from;
            while (to < count && late[to].call == call)
                to++;
            phases->tails[call] = tail_of(&search, call, late + from, to - from);
            from = to;
        }
        found = late && phases->tails;
        roast__free(late);
    }
    size_t most = search.call_count * (2 * ROAST_PHASE_COUNT) + 2;
    phases->intervals = roast__alloc(most * sizeof(phases->intervals[0]));
    found = found && phases->intervals;
    if (found) {
        int64_t until_ns = search.ctx->run->start_ns;
        start_phase(phases, until_ns, ROAST_PHASE_BEFORE);
        for (size_t i = 0; i < search.call_count; i++) {
            struct time_range merging = search.times[i].reduce;
            add_phase(phases, search.times[i].preprocess, ROAST_PHASE_PREPROCESS,
                      &until_ns);
            struct roast_tail *tail = &phases->tails[i];
            struct time_range unreported = search.times[i].unknown;
            if (tail->any && search.times[i].chunks.from_ns < unreported.to_ns)
                unreported.to_ns = search.times[i].chunks.from_ns;
            add_phase(phases, unreported, ROAST_PHASE_UNKNOWN, &until_ns);
            if (tail->any) {
                struct time_range starting = {search.times[i].chunks.from_ns,
                                              tail->from_ns};
                add_phase(phases, starting, ROAST_PHASE_CHUNKS, &until_ns);
                if (tail->from_ns < until_ns)
                    tail->from_ns = until_ns < tail->to_ns ? until_ns : tail->to_ns;
                add_phase(phases, (struct time_range){tail->from_ns, tail->to_ns},
                          ROAST_PHASE_TAIL, &until_ns);
                tail->interval =
                    phases->count - 2; /* before the BETWEEN that follows */
                merging.from_ns = search.times[i].chunks.to_ns;
            }
            if (!is_empty(&search.times[i].reduce))
                add_phase(phases, merging, ROAST_PHASE_REDUCE, &until_ns);
            add_phase(phases, search.times[i].unknown, ROAST_PHASE_UNKNOWN, &until_ns);
        }
        if (phases->count > 1)
            phases->intervals[phases->count - 1].phase = ROAST_PHASE_AFTER;
    }
    roast__free(search.times);
    roast__calls_release(&search.calls);
    found = found && roast__client_times_find(&phases->client, ctx, schedule);
    if (found && phases->client.count > 0)
        found = lay_over(phases, ctx->end_ns);
    return found;
}

void roast__phases_release(struct roast_phases *phases)
{
    roast__free(phases->intervals);
    roast__free(phases->tails);
    roast__client_times_release(&phases->client);
    *phases = (struct roast_phases){0};
}
