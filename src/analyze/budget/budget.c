/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.c - where the time of all threads went, in slices that add up to it.
 *
 * Shift by shift: every job gets a thread as far as there is one (threads.c). Then time
 * is walked once more: threads without a job wait for one that was assigned, or are idle
 * for the reason of the phase. What jobs did is added last, in the order in which their
 * attempts lie in memory: a million of them do not fit any cache. */
#include "analyze/budget/budget.h"

#include "analyze/budget/budget_rows.h"
#include "analyze/budget/threads.h"
#include "analyze/timeline.h"
#include "base/mem.h"
#include "base/sort.h"

/* What changes how many threads are busy, and how many tasks wait for one: a moment of
 * each kind per job. One that began at once came at that moment. */
enum change { JOB_COMES, JOB_BEGINS, JOB_ENDS, CHANGES };

/* Moments by time. They nearly always are where they lie; room is made for others. */
struct moments {
    const int64_t *at_ns;
    size_t stride;
    int64_t *room_ns; /* owned, or NULL */
};

/* What one shift needs. */
struct sweeping {
    struct roast_budget *budget;
    const struct roast_summary_context *ctx;
    struct roast_threads threads;
    int64_t (*fitted)[2]; /* owned; of all jobs: see roast_crowd */
    struct moments changes[CHANGES];
    size_t most_jobs;            /* of the largest shift */
    struct roast_keyed *sorting; /* owned, or NULL while nothing had to be sorted */
    roast_slices *own;
    int64_t first_begin_ns; /* of a job in the shift; INT64_MAX: none */
};

/* ---- changes --------------------------------------------------------------------- */

static int64_t come_ns(const struct roast_shift *shift, const struct roast_job *job,
                       int64_t begin_ns)
{
    return roast__time_clamp(job->assigned_ns, shift->from_ns, begin_ns);
}

static bool are_sorted(const struct moments *moments, size_t count)
{
    size_t i = 1;

    while (i < count && moments->at_ns[i * moments->stride] >=
                            moments->at_ns[(i - 1) * moments->stride])
        i++;
    return i >= count;
}

static int64_t *room_for(struct sweeping *sweeping, struct moments *moments)
{
    if (!moments->room_ns)
        moments->room_ns =
            roast__realloc(NULL, sweeping->most_jobs * sizeof(moments->room_ns[0]));
    return moments->room_ns;
}

/* False when out of memory. */
static bool sort_moments(struct sweeping *sweeping, struct moments *moments,
                         size_t count)
{
    int64_t *room_ns;

    if (are_sorted(moments, count))
        return true;
    if (!sweeping->sorting)
        sweeping->sorting = roast__keyed_new(sweeping->most_jobs);
    room_ns = room_for(sweeping, moments);
    if (!sweeping->sorting || !room_ns)
        return false;
    for (size_t i = 0; i < count; i++)
        sweeping->sorting[i].key = moments->at_ns[i * moments->stride];
    roast__keyed_sort(sweeping->sorting, sweeping->sorting + count, count);
    for (size_t i = 0; i < count; i++)
        room_ns[i] = sweeping->sorting[i].key;
    moments->at_ns = room_ns;
    moments->stride = 1;
    return true;
}

/* Tasks that waited came before they began. False when out of memory. */
static bool list_comings(struct sweeping *sweeping, const struct roast_crowd *crowd)
{
    struct moments *comes = &sweeping->changes[JOB_COMES];
    size_t i = 0;

    while (i < crowd->count && come_ns(crowd->shift, &crowd->jobs[i],
                                       crowd->fitted[i][0]) == crowd->fitted[i][0])
        i++;
    comes->at_ns = &crowd->fitted[0][0];
    comes->stride = 2;
    if (i == crowd->count)
        return true;
    int64_t *room_ns = room_for(sweeping, comes);
    for (i = 0; room_ns && i < crowd->count; i++)
        room_ns[i] = come_ns(crowd->shift, &crowd->jobs[i], crowd->fitted[i][0]);
    comes->at_ns = room_ns;
    comes->stride = 1;
    return room_ns != NULL;
}

static bool list_changes(struct sweeping *sweeping, const struct roast_crowd *crowd)
{
    sweeping->changes[JOB_BEGINS].at_ns = &crowd->fitted[0][0];
    sweeping->changes[JOB_ENDS].at_ns = &crowd->fitted[0][1];
    sweeping->changes[JOB_BEGINS].stride = sweeping->changes[JOB_ENDS].stride = 2;
    sweeping->first_begin_ns = INT64_MAX;
    for (size_t i = 0; i < crowd->count; i++) {
        const int64_t *fitted = crowd->fitted[i];
        if (fitted[1] > fitted[0] && fitted[0] < sweeping->first_begin_ns)
            sweeping->first_begin_ns = fitted[0];
    }
    bool done = list_comings(sweeping, crowd);
    for (int i = 0; done && i < CHANGES; i++)
        done = sort_moments(sweeping, &sweeping->changes[i], crowd->count);
    return done;
}

/* ---- idle time ------------------------------------------------------------------- */

/* Adds threads without a job in [from, to). */
static void add_idle(struct sweeping *sweeping, int64_t from_ns, int64_t to_ns,
                     uint64_t idle, uint64_t waiting)
{
    struct roast_budget *budget = sweeping->budget;
    bool first = to_ns <= sweeping->first_begin_ns;
    enum roast_slice handing =
        first ? ROAST_SLICE_dispatch_first : ROAST_SLICE_dispatch;
    uint64_t handed = waiting < idle ? waiting : idle;
    struct roast_cut cut = {.from_ns = from_ns, .to_ns = to_ns};

    while (roast__cut_next(budget, &cut)) {
        enum roast_slice slice = roast__phase_slice(cut.phase);
        double seconds = roast__seconds_between(cut.part_from_ns, cut.part_to_ns);
        /* a pool has all chunks at once: what it lacks is not work */
        if (!budget->schedule.has_scheduler && cut.phase == ROAST_PHASE_CHUNKS &&
            sweeping->first_begin_ns != INT64_MAX)
            slice = handing;
        roast__cut_add(budget, &cut, *sweeping->own, handing, (double)handed * seconds);
        roast__cut_add(budget, &cut, *sweeping->own, slice,
                       (double)(idle - handed) * seconds);
        budget->phases.steps[budget->last_step].idle_s +=
            (double)(idle - handed) * seconds;
    }
}

/* The change that is next, of those that `passed` counts; CHANGES: there is none. */
static int next_change(const struct sweeping *sweeping, const size_t passed[CHANGES],
                       size_t jobs, int64_t *time_ns)
{
    int next = CHANGES;

    for (int i = 0; i < CHANGES; i++) {
        const struct moments *moments = &sweeping->changes[i];
        if (passed[i] == jobs)
            continue;
        int64_t own_ns = moments->at_ns[passed[i] * moments->stride];
        if (next == CHANGES || own_ns < *time_ns) {
            next = i;
            *time_ns = own_ns;
        }
    }
    return next;
}

/* ---- a shift --------------------------------------------------------------------- */

/* False when out of memory. */
static bool add_shift(struct sweeping *sweeping, size_t number, size_t first_job,
                      size_t count)
{
    struct roast_budget *budget = sweeping->budget;
    const struct roast_shift *shift = &budget->schedule.shifts[number];
    const struct roast_job *jobs = budget->schedule.jobs + first_job;
    const struct roast_crowd crowd = {shift, jobs, sweeping->fitted + first_job, count};
    const int64_t run[2] = {budget->start_ns, budget->end_ns};

    sweeping->own = &budget->by_shift[number];
    budget->overlap_s += roast__threads_fit(&sweeping->threads, &crowd, run);
    if (!list_changes(sweeping, &crowd))
        return false;
    size_t passed[CHANGES] = {0};
    int64_t before_ns = shift->from_ns;
    int next;
    do {
        int64_t until_ns = shift->to_ns;
        /* between changes of one moment they may be less than nothing */
        int64_t busy = (int64_t)passed[JOB_BEGINS] - (int64_t)passed[JOB_ENDS];
        int64_t waiting = (int64_t)passed[JOB_COMES] - (int64_t)passed[JOB_BEGINS];
        next = next_change(sweeping, passed, count, &until_ns);
        if (until_ns > before_ns && (uint64_t)busy < shift->threads)
            add_idle(sweeping, before_ns, until_ns, shift->threads - (uint64_t)busy,
                     (uint64_t)waiting);
        before_ns = until_ns > before_ns ? until_ns : before_ns;
        if (next < CHANGES)
            passed[next]++;
    } while (next < CHANGES);
    budget->offered_s +=
        (double)shift->threads * roast__seconds_between(shift->from_ns, shift->to_ns);
    return true;
}

/* Where the jobs of the next shift begin. */
static size_t end_of_shift(const struct roast_schedule *schedule, size_t shift,
                           size_t job)
{
    while (job < schedule->job_count && schedule->jobs[job].shift == shift)
        job++;
    return job;
}

static size_t most_jobs(const struct roast_schedule *schedule)
{
    size_t most = 0, job = 0;

    for (size_t shift = 0; shift < schedule->shift_count; shift++) {
        size_t end = end_of_shift(schedule, shift, job);
        most = end - job > most ? end - job : most;
        job = end;
    }
    return most;
}

static void add_job(struct sweeping *sweeping, size_t number)
{
    const struct roast_job *job = &sweeping->budget->schedule.jobs[number];

    roast__budget_add_job(sweeping->budget, sweeping->ctx, job,
                          sweeping->fitted[number],
                          sweeping->budget->by_shift[job->shift]);
}

/* False when out of memory. */
static bool add_jobs(struct sweeping *sweeping)
{
    const struct roast_schedule *schedule = &sweeping->budget->schedule;
    size_t rows = sweeping->ctx->run->attempts.count;
    uint32_t *job_at = roast__alloc(rows * sizeof(job_at[0])); /* number + 1 */

    if (!job_at)
        return false;
    for (uint32_t i = 0; i < schedule->job_count; i++) {
        if (schedule->jobs[i].row_count > 0)
            job_at[schedule->jobs[i].first_row] = i + 1;
        else
            add_job(sweeping, i);
    }
    for (size_t at = 0; at < rows; at++) {
        if (job_at[at] > 0)
            add_job(sweeping, job_at[at] - 1);
    }
    roast__free(job_at);
    return true;
}

static bool sweep(struct roast_budget *budget, const struct roast_summary_context *ctx)
{
    const struct roast_schedule *schedule = &budget->schedule;
    struct sweeping sweeping = {
        .budget = budget, .ctx = ctx, .most_jobs = most_jobs(schedule)};
    size_t job = 0;

    roast__budget_set_bins(budget);
    sweeping.fitted =
        roast__realloc(NULL, schedule->job_count * sizeof(sweeping.fitted[0]));
    bool done =
        sweeping.fitted && roast__threads_reserve(&sweeping.threads, sweeping.most_jobs,
                                                  schedule->any_guessed);
    for (size_t shift = 0; done && shift < schedule->shift_count; shift++) {
        size_t end = end_of_shift(schedule, shift, job);
        done = add_shift(&sweeping, shift, job, end - job);
        job = end;
    }
    for (int i = 0; i < CHANGES; i++)
        roast__free(sweeping.changes[i].room_ns);
    roast__free(sweeping.sorting);
    roast__threads_release(&sweeping.threads);
    done = done && add_jobs(&sweeping);
    roast__free(sweeping.fitted);
    for (int phase = 0; phase < ROAST_PHASE_COUNT; phase++) {
        for (int slice = 0; slice < ROAST_SLICES; slice++)
            budget->total[slice] += budget->by_phase[phase][slice];
    }
    return done;
}

/* ---- all ------------------------------------------------------------------------- */

struct roast_budget *roast__budget_find(const struct roast_summary_context *ctx)
{
    struct roast_budget *budget = roast__alloc(sizeof(*budget));
    size_t sources = ctx->run->attempts.source_count + 1;

    if (!budget)
        return NULL;
    budget->start_ns = ctx->run->start_ns;
    budget->end_ns = ctx->end_ns;
    bool done = roast__schedule_find(&budget->schedule, ctx) &&
                roast__phases_find(&budget->phases, ctx, &budget->schedule);
    if (done) {
        budget->by_shift =
            roast__alloc(budget->schedule.shift_count * sizeof(budget->by_shift[0]));
        budget->by_source = roast__alloc(sources * sizeof(budget->by_source[0]));
        done = budget->by_shift && budget->by_source && sweep(budget, ctx);
    }
    if (done)
        return budget;
    roast__budget_free(budget);
    return NULL;
}

void roast__budget_free(struct roast_budget *budget)
{
    if (!budget)
        return;
    roast__schedule_release(&budget->schedule);
    roast__phases_release(&budget->phases);
    roast__free(budget->by_shift);
    roast__free(budget->by_source);
    roast__free(budget);
}
