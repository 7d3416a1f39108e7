/* SPDX-License-Identifier: BSD-3-Clause */
/* phases.c - what a run waited for at each moment: the reason why threads were idle.
 *
 * Every call of the Runner is cut at a few moments, which follow from its jobs: when the
 * first file was opened for its entries and the last one counted, when the first chunk was sent, the
 * last one began and a thread was left without, the last one ended, the last output was
 * merged. Where no call was seen, the tasks of the whole run are taken for those of
 * one. */
#include "analyze/budget/phases.h"

#include <stdlib.h>

#include "analyze/calls.h"
#include "analyze/timeline.h"
#include "base/mem.h"

const char *roast__phase_name(enum roast_phase phase)
{
    static const char *const names[ROAST_PHASE_COUNT] = {
        [ROAST_PHASE_BEFORE] = "before", [ROAST_PHASE_PREPROCESS] = "preprocess",
        [ROAST_PHASE_CHUNKS] = "chunks", [ROAST_PHASE_TAIL] = "tail",
        [ROAST_PHASE_REDUCE] = "merge",  [ROAST_PHASE_BETWEEN] = "between",
        [ROAST_PHASE_AFTER] = "after",
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
    };
    return slices[phase];
}

/* ---- the moments of a call ------------------------------------------------------- */

/* An interval of time; empty: from_ns > to_ns. */
struct interval {
    int64_t from_ns;
    int64_t to_ns;
};

struct moments {
    struct interval preprocess;
    struct interval chunks; /* from the first assignment on */
    struct interval reduce;
    int64_t last_begin_ns; /* of a chunk, at its first attempt */
};

/* What is known while phases are looked for. */
struct finding {
    const struct roast_summary_context *ctx;
    const struct roast_schedule *schedule;
    struct roast_calls calls;
    struct moments *moments; /* owned */
    size_t call_count;       /* of them */
};

static const struct interval nothing = {INT64_MAX, INT64_MIN};

static bool is_empty(const struct interval *interval)
{
    return interval->from_ns > interval->to_ns;
}

static void widen(struct interval *interval, int64_t from_ns, int64_t to_ns)
{
    interval->from_ns = from_ns < interval->from_ns ? from_ns : interval->from_ns;
    interval->to_ns = to_ns > interval->to_ns ? to_ns : interval->to_ns;
}

/* Chunks, and what belongs neither to coffea nor to other clients. */
static bool is_chunk_job(const struct roast_job *job)
{
    return job->kind == ROAST_SLICE_unexplained || job->kind == ROAST_SLICE_other;
}

/* Whether it began, and not because another attempt at its chunk came to nothing: who
 * waits for that waits for a chunk which had begun. */
static bool is_first_begin(const struct finding *finding, const struct roast_job *job)
{
    const struct roast_roles *roles = &finding->ctx->totals->roles;
    const struct roast_tried *tried =
        job->row_count > 0
            ? roast__roles_tried(roles, finding->schedule->rows[job->first_row])
            : NULL;

    return job->stop_ns > job->start_ns && (!tried || tried->attempt == 1);
}

static void see_job(struct moments *moments, const struct roast_job *job, bool begins)
{
    if (job->kind == ROAST_SLICE_preprocess)
        widen(&moments->preprocess, job->assigned_ns, job->stop_ns);
    if (job->kind == ROAST_SLICE_reduce)
        widen(&moments->reduce, job->assigned_ns, job->stop_ns);
    if (!is_chunk_job(job))
        return;
    widen(&moments->chunks, job->assigned_ns, job->stop_ns);
    if (begins && job->start_ns > moments->last_begin_ns)
        moments->last_begin_ns = job->start_ns;
}

/* The clock around preprocessing is used if its tasks were not recorded, or if a pool is
 * started and ended for it: the client only waits meanwhile. Without a scheduler the
 * pool has its chunks as soon as preprocessing is over, and the client merges, up to the
 * end of the call if merging was not recorded. */
static void see_call(struct moments *moments, const struct roast_call *call,
                     const struct roast_run *run, bool has_scheduler)
{
    int64_t preprocessed_ns = call->preprocess_end_ns;
    int64_t from_ns = roast__sat_sub(preprocessed_ns, call->preprocess_ns);
    const struct roast_offer *offer = roast__run_offer_at(run, from_ns);
    bool has_pool = !has_scheduler && offer && offer->workers > 1;

    if ((is_empty(&moments->preprocess) || has_pool) && call->preprocess_ns > 0)
        widen(&moments->preprocess, from_ns, preprocessed_ns);
    if (has_scheduler || is_empty(&moments->chunks))
        return;
    widen(&moments->chunks, preprocessed_ns, moments->chunks.to_ns);
    if (is_empty(&moments->reduce) && call->returned)
        widen(&moments->reduce, moments->chunks.to_ns, call->end_ns);
}

/* The call in which a job was sent; a call of the whole run where none was seen. */
static size_t call_of(const struct roast_calls *calls, const struct roast_job *job)
{
    size_t low = 0, high = calls->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (calls->calls[middle].begin_ns <= job->assigned_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : 0;
}

/* ---- tails ----------------------------------------------------------------------- */

/* A chunk that was running when the last one of its call began. */
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
static size_t find_late(struct late_end *late, const struct finding *finding)
{
    const struct roast_schedule *schedule = finding->schedule;
    size_t count = 0;

    for (size_t i = 0; i < schedule->job_count; i++) {
        const struct roast_job *job = &schedule->jobs[i];
        size_t call = call_of(&finding->calls, job);
        int64_t last_ns = finding->moments[call].last_begin_ns;
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

/* late[0 ... count) are the ends in one call, in order: with as many as there are
 * threads, the first of them leaves one without a chunk. */
static struct roast_tail tail_of(const struct finding *finding, size_t call,
                                 const struct late_end *late, size_t count)
{
    const struct moments *moments = &finding->moments[call];
    struct roast_tail tail = {.any = !is_empty(&moments->chunks)};
    int64_t last_ns = moments->last_begin_ns;

    if (!tail.any)
        return tail;
    tail.to_ns = tail.from_ns = moments->chunks.to_ns;
    if (last_ns == INT64_MIN)
        return tail; /* none of them began */
    tail.threads = threads_at(finding->schedule, last_ns);
    tail.from_ns = tail.threads > count ? last_ns
                   : tail.threads > 0   ? late[count - (size_t)tail.threads].stop_ns
                                        : tail.to_ns;
    return tail;
}

double roast__tail_lost_s(const struct roast_phases *phases,
                          const struct roast_tail *tail)
{
    return tail->any && tail->to_ns > tail->from_ns && tail->step < phases->count
               ? phases->steps[tail->step].idle_s
               : 0;
}

/* ---- steps ----------------------------------------------------------------------- */

static void begin(struct roast_phases *phases, int64_t from_ns, enum roast_phase phase)
{
    size_t count = phases->count;

    if (count > 0 && from_ns <= phases->steps[count - 1].from_ns)
        phases->steps[count - 1].phase = phase; /* the one before took no time */
    else
        phases->steps[phases->count++] =
            (struct roast_phase_step){.from_ns = from_ns, .phase = phase};
}

/* A phase from here to there; what is already over is cut off. */
static void pass(struct roast_phases *phases, struct interval interval,
                 enum roast_phase phase, int64_t *until_ns)
{
    int64_t from_ns = interval.from_ns > *until_ns ? interval.from_ns : *until_ns;

    if (is_empty(&interval) || interval.to_ns <= from_ns)
        return;
    begin(phases, from_ns, phase);
    begin(phases, interval.to_ns, ROAST_PHASE_BETWEEN);
    *until_ns = interval.to_ns;
}

/* Room for the phases of so many calls; false when out of memory. */
static bool reserve(struct roast_phases *phases, size_t calls)
{
    phases->steps =
        roast__alloc((calls * (2 * ROAST_PHASE_COUNT) + 2) * sizeof(phases->steps[0]));
    return phases->steps != NULL;
}

bool roast__phases_find(struct roast_phases *phases,
                        const struct roast_summary_context *ctx,
                        const struct roast_schedule *schedule)
{
    struct finding finding = {.ctx = ctx, .schedule = schedule};
    bool found = roast__calls_find(&finding.calls, ctx->run);

    finding.call_count = finding.calls.count > 0 ? finding.calls.count : 1;
    finding.moments = roast__alloc(finding.call_count * sizeof(finding.moments[0]));
    found = found && finding.moments;
    if (found) {
        for (size_t i = 0; i < finding.call_count; i++)
            finding.moments[i] = (struct moments){nothing, nothing, nothing, INT64_MIN};
        for (size_t i = 0; i < schedule->job_count; i++) {
            const struct roast_job *job = &schedule->jobs[i];
            see_job(&finding.moments[call_of(&finding.calls, job)], job,
                    is_first_begin(&finding, job));
        }
        for (size_t i = 0; i < finding.calls.count; i++)
            see_call(&finding.moments[i], &finding.calls.calls[i], finding.ctx->run,
                     schedule->has_scheduler);
        size_t count = find_late(NULL, &finding), from = 0;
        struct late_end *late = roast__alloc(count * sizeof(late[0]));
        phases->tails = roast__alloc(finding.call_count * sizeof(phases->tails[0]));
        phases->tail_count = phases->tails ? finding.call_count : 0;
        if (late && phases->tails) {
            (void)find_late(late, &finding);
            qsort(late, count, sizeof(late[0]), by_call_and_stop);
        }
        for (size_t call = 0; late && call < phases->tail_count; call++) {
            size_t to = from;
            while (to < count && late[to].call == call)
                to++;
            phases->tails[call] = tail_of(&finding, call, late + from, to - from);
            from = to;
        }
        found = late && phases->tails;
        roast__free(late);
    }
    found = found && reserve(phases, finding.call_count);
    if (found) {
        int64_t until_ns = finding.ctx->run->start_ns;
        begin(phases, until_ns, ROAST_PHASE_BEFORE);
        for (size_t i = 0; i < finding.call_count; i++) {
            struct interval merging = finding.moments[i].reduce;
            pass(phases, finding.moments[i].preprocess, ROAST_PHASE_PREPROCESS,
                 &until_ns);
            struct roast_tail *tail = &phases->tails[i];
            if (tail->any) {
                struct interval begins = {finding.moments[i].chunks.from_ns,
                                          tail->from_ns};
                pass(phases, begins, ROAST_PHASE_CHUNKS, &until_ns);
                if (tail->from_ns < until_ns)
                    tail->from_ns = until_ns < tail->to_ns ? until_ns : tail->to_ns;
                pass(phases, (struct interval){tail->from_ns, tail->to_ns},
                     ROAST_PHASE_TAIL, &until_ns);
                tail->step = phases->count - 2; /* before what is between */
                merging.from_ns = finding.moments[i].chunks.to_ns;
            }
            if (!is_empty(&finding.moments[i].reduce))
                pass(phases, merging, ROAST_PHASE_REDUCE, &until_ns);
        }
        if (phases->count > 1)
            phases->steps[phases->count - 1].phase = ROAST_PHASE_AFTER;
    }
    roast__free(finding.moments);
    roast__calls_release(&finding.calls);
    return found;
}

void roast__phases_release(struct roast_phases *phases)
{
    roast__free(phases->steps);
    roast__free(phases->tails);
    *phases = (struct roast_phases){0};
}
