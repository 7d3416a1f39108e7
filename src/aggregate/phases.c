/* SPDX-License-Identifier: BSD-3-Clause */
/* phases.c - what a run waited for at each moment: the reason why threads were idle.
 *
 * Every call of the Runner is cut at a few moments, which follow from its jobs: when the
 * first file was asked and the last one answered, when the first chunk was sent, the
 * last one began and ended, the last output was merged. Where no call was seen, the
 * tasks of the whole run are taken for those of one. */
#include "aggregate/phases.h"

#include "aggregate/calls.h"
#include "aggregate/timeline.h"
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

/* A stretch of time; empty: from_ns > to_ns. */
struct stretch {
    int64_t from_ns;
    int64_t to_ns;
};

struct moments {
    struct stretch preprocess;
    struct stretch chunks; /* from the first assignment on */
    struct stretch reduce;
    int64_t last_begin_ns; /* of a chunk */
};

static const struct stretch nothing = {INT64_MAX, INT64_MIN};

static bool is_empty(const struct stretch *stretch)
{
    return stretch->from_ns > stretch->to_ns;
}

static void widen(struct stretch *stretch, int64_t from_ns, int64_t to_ns)
{
    stretch->from_ns = from_ns < stretch->from_ns ? from_ns : stretch->from_ns;
    stretch->to_ns = to_ns > stretch->to_ns ? to_ns : stretch->to_ns;
}

static void see_job(struct moments *moments, const struct roast_job *job)
{
    switch (job->kind) {
    case ROAST_SLICE_foreign:
    case ROAST_SLICE_broadcast:
        break;
    case ROAST_SLICE_preprocess:
        widen(&moments->preprocess, job->assigned_ns, job->stop_ns);
        break;
    case ROAST_SLICE_reduce:
        widen(&moments->reduce, job->assigned_ns, job->stop_ns);
        break;
    default: /* chunks, and what is neither of these */
        widen(&moments->chunks, job->assigned_ns, job->stop_ns);
        if (job->stop_ns > job->start_ns && job->start_ns > moments->last_begin_ns)
            moments->last_begin_ns = job->start_ns;
    }
}

/* Where nobody sees files being asked, the clock around it tells. Without a scheduler
 * the pool has its chunks as soon as that is over, and the client merges, to the end of
 * the call where nobody sees it. */
static void see_call(struct moments *moments, const struct roast_call *call,
                     bool has_scheduler)
{
    int64_t asked_ns = call->preprocess_end_ns;

    if (is_empty(&moments->preprocess) && call->preprocess_ns > 0)
        widen(&moments->preprocess, roast__sat_sub(asked_ns, call->preprocess_ns),
              asked_ns);
    if (has_scheduler || is_empty(&moments->chunks))
        return;
    widen(&moments->chunks, asked_ns, moments->chunks.to_ns);
    if (is_empty(&moments->reduce))
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

/* ---- steps ----------------------------------------------------------------------- */

static void begin(struct roast_phases *phases, int64_t from_ns, enum roast_phase phase)
{
    struct roast_phase_step *last =
        phases->count > 0 ? &phases->steps[phases->count - 1] : NULL;

    if (last && from_ns <= last->from_ns)
        last->phase = phase; /* the one before took no time */
    else
        phases->steps[phases->count++] = (struct roast_phase_step){from_ns, phase};
}

/* A phase from here to there; what is already over is left out. */
static void pass(struct roast_phases *phases, const struct stretch *stretch,
                 enum roast_phase phase, int64_t *until_ns)
{
    int64_t from_ns = stretch->from_ns > *until_ns ? stretch->from_ns : *until_ns;

    if (is_empty(stretch) || stretch->to_ns <= from_ns)
        return;
    begin(phases, from_ns, phase);
    begin(phases, stretch->to_ns, ROAST_PHASE_BETWEEN);
    *until_ns = stretch->to_ns;
}

static void add_call(struct roast_phases *phases, const struct moments *moments,
                     int64_t *until_ns)
{
    bool began = moments->last_begin_ns != INT64_MIN;
    int64_t last_ns = began ? moments->last_begin_ns : moments->chunks.to_ns;
    struct stretch begins = {moments->chunks.from_ns, last_ns};
    struct stretch tail = {last_ns, moments->chunks.to_ns};
    struct stretch merging = {moments->chunks.to_ns, moments->reduce.to_ns};

    pass(phases, &moments->preprocess, ROAST_PHASE_PREPROCESS, until_ns);
    if (!is_empty(&moments->chunks)) {
        pass(phases, &begins, ROAST_PHASE_CHUNKS, until_ns);
        pass(phases, &tail, ROAST_PHASE_TAIL, until_ns);
    }
    if (!is_empty(&moments->reduce))
        pass(phases, is_empty(&moments->chunks) ? &moments->reduce : &merging,
             ROAST_PHASE_REDUCE, until_ns);
}

/* Room for the phases of so many calls; false when out of memory. */
static bool reserve(struct roast_phases *phases, size_t calls)
{
    phases->steps =
        roast__alloc((calls * (2 * ROAST_PHASE_COUNT) + 2) * sizeof(phases->steps[0]));
    return phases->steps != NULL;
}

static void make_steps(struct roast_phases *phases, const struct moments *moments,
                       size_t calls, const struct roast_study *study)
{
    int64_t until_ns = study->run->start_ns;

    begin(phases, until_ns, ROAST_PHASE_BEFORE);
    for (size_t i = 0; i < calls; i++)
        add_call(phases, &moments[i], &until_ns);
    if (phases->count > 1)
        phases->steps[phases->count - 1].phase = ROAST_PHASE_AFTER;
}

bool roast__phases_find(struct roast_phases *phases, const struct roast_study *study,
                        const struct roast_schedule *schedule)
{
    struct roast_calls calls = {0};
    bool found = roast__calls_find(&calls, study->run);
    size_t count = calls.count > 0 ? calls.count : 1;
    struct moments *moments = roast__alloc(count * sizeof(moments[0]));

    found = found && moments && reserve(phases, count);
    for (size_t i = 0; found && i < count; i++)
        moments[i] = (struct moments){nothing, nothing, nothing, INT64_MIN};
    for (size_t i = 0; found && i < schedule->job_count; i++)
        see_job(&moments[call_of(&calls, &schedule->jobs[i])], &schedule->jobs[i]);
    for (size_t i = 0; found && i < calls.count; i++)
        see_call(&moments[i], &calls.calls[i], schedule->has_scheduler);
    if (found)
        make_steps(phases, moments, count, study);
    roast__free(moments);
    roast__calls_release(&calls);
    return found;
}

void roast__phases_release(struct roast_phases *phases)
{
    roast__free(phases->steps);
    *phases = (struct roast_phases){0};
}
