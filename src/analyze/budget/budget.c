/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.c - the time of all threads by slice; the slices add up to it.
 *
 * For every shift, jobs get threads (threads.c). In a second pass over time, threads
 * without a job wait for one that was assigned, or are idle for the reason of the phase.
 * The seconds of jobs are added last, in the order of their attempts in memory. */
#include "analyze/budget/budget.h"

#include "analyze/budget/budget_rows.h"
#include "analyze/budget/threads.h"
#include "analyze/timeline.h"
#include "base/mem.h"
#include "base/sort.h"

/* The events that change how many threads are busy and how many jobs wait for one: one of
 * each kind per job. */
enum change { JOB_ASSIGNED, JOB_STARTED, JOB_STOPPED, CHANGES };

/* Times in order. Nearly always `fitted` has them in order: a copy is made if not. */
struct change_times {
    const int64_t *at_ns;
    size_t stride;
    int64_t *copy_ns; /* owned, or NULL */
};

/* The state of the computation. */
struct accounting {
    struct roast_budget *budget;
    const struct roast_summary_context *ctx;
    struct roast_threads threads;
    int64_t (*fitted)[2]; /* owned; of all jobs: see roast_shift_jobs */
    struct change_times changes[CHANGES];
    size_t most_jobs;            /* of the largest shift */
    struct roast_keyed *sorting; /* owned, or NULL before the first use */
    roast_slices *own;
    int64_t first_start_ns; /* first start in the shift; INT64_MAX: none */
};

/* ---- changes --------------------------------------------------------------------- */

static int64_t assigned_at(const struct roast_shift *shift, const struct roast_job *job,
                           int64_t begin_ns)
{
    return roast__time_clamp(job->assigned_ns, shift->from_ns, begin_ns);
}

static bool are_sorted(const struct change_times *times, size_t count)
{
    size_t i = 1;

    while (i < count &&
           times->at_ns[i * times->stride] >= times->at_ns[(i - 1) * times->stride])
        i++;
    return i >= count;
}

static int64_t *copy_for(struct accounting *accounting, struct change_times *times)
{
    if (!times->copy_ns)
        times->copy_ns =
            roast__realloc(NULL, accounting->most_jobs * sizeof(times->copy_ns[0]));
    return times->copy_ns;
}

/* False when out of memory. */
static bool sort_moments(struct accounting *accounting, struct change_times *times,
                         size_t count)
{
    int64_t *copy_ns;

    if (are_sorted(times, count))
        return true;
    if (!accounting->sorting)
        accounting->sorting = roast__keyed_new(accounting->most_jobs);
    copy_ns = copy_for(accounting, times);
    if (!accounting->sorting || !copy_ns)
        return false;
    for (size_t i = 0; i < count; i++)
        accounting->sorting[i].key = times->at_ns[i * times->stride];
    roast__keyed_sort(accounting->sorting, accounting->sorting + count, count);
    for (size_t i = 0; i < count; i++)
        copy_ns[i] = accounting->sorting[i].key;
    times->at_ns = copy_ns;
    times->stride = 1;
    return true;
}

/* Jobs that waited were assigned before their start. False when out of memory. */
static bool list_assigned(struct accounting *accounting,
                          const struct roast_shift_jobs *shift_jobs)
{
    struct change_times *assigned = &accounting->changes[JOB_ASSIGNED];
    size_t i = 0;

    while (i < shift_jobs->count &&
           assigned_at(shift_jobs->shift, &shift_jobs->jobs[i],
                       shift_jobs->fitted[i][0]) == shift_jobs->fitted[i][0])
        i++;
    assigned->at_ns = &shift_jobs->fitted[0][0];
    assigned->stride = 2;
    if (i == shift_jobs->count)
        return true;
    int64_t *copy_ns = copy_for(accounting, assigned);
    for (i = 0; copy_ns && i < shift_jobs->count; i++)
        copy_ns[i] = assigned_at(shift_jobs->shift, &shift_jobs->jobs[i],
                                 shift_jobs->fitted[i][0]);
    assigned->at_ns = copy_ns;
    assigned->stride = 1;
    return copy_ns != NULL;
}

static bool list_changes(struct accounting *accounting,
                         const struct roast_shift_jobs *shift_jobs)
{
    accounting->changes[JOB_STARTED].at_ns = &shift_jobs->fitted[0][0];
    accounting->changes[JOB_STOPPED].at_ns = &shift_jobs->fitted[0][1];
    accounting->changes[JOB_STARTED].stride = accounting->changes[JOB_STOPPED].stride =
        2;
    accounting->first_start_ns = INT64_MAX;
    for (size_t i = 0; i < shift_jobs->count; i++) {
        const int64_t *fitted = shift_jobs->fitted[i];
        if (fitted[1] > fitted[0] && fitted[0] < accounting->first_start_ns)
            accounting->first_start_ns = fitted[0];
    }
    bool done = list_assigned(accounting, shift_jobs);
    for (int i = 0; done && i < CHANGES; i++)
        done = sort_moments(accounting, &accounting->changes[i], shift_jobs->count);
    return done;
}

/* ---- idle time ------------------------------------------------------------------- */

/* Whether a shift, the slot of a pool, awaits its first job in the pool of a time: its
 * process starts. A slot that gets no job there only starts until others have one. */
static bool is_starting(const struct accounting *accounting, int64_t time_ns,
                        const int64_t starts[2])
{
    const struct roast_pool *pool =
        roast__pool_at(&accounting->budget->phases.client, time_ns);

    return pool && starts[0] < pool->from_ns && starts[1] < pool->to_ns;
}

/* Adds threads without a job in [from, to); `starts`: of the jobs before and after. */
static void add_idle(struct accounting *accounting, const int64_t from_to[2],
                     const int64_t starts[2], uint64_t idle, uint64_t waiting)
{
    struct roast_budget *budget = accounting->budget;
    int64_t from_ns = from_to[0], to_ns = from_to[1];
    bool first = to_ns <= accounting->first_start_ns;
    enum roast_slice dispatch =
        first ? ROAST_SLICE_dispatch_first : ROAST_SLICE_dispatch;
    uint64_t dispatched = waiting < idle ? waiting : idle;
    struct roast_cut cut = {.from_ns = from_ns, .to_ns = to_ns};

    while (roast__cut_next(budget, &cut)) {
        enum roast_slice slice = roast__phase_slice(cut.phase);
        double seconds = roast__seconds_between(cut.part_from_ns, cut.part_to_ns);
        /* a pool has all chunks from the start: it does not lack work */
        if (!budget->schedule.has_scheduler && cut.phase == ROAST_PHASE_CHUNKS &&
            accounting->first_start_ns != INT64_MAX)
            slice = dispatch;
        if ((cut.phase == ROAST_PHASE_CHUNKS || cut.phase == ROAST_PHASE_PREPROCESS) &&
            is_starting(accounting, cut.part_from_ns, starts))
            slice = ROAST_SLICE_pool_start;
        roast__cut_add(budget, &cut, *accounting->own, dispatch,
                       (double)dispatched * seconds);
        roast__cut_add(budget, &cut, *accounting->own, slice,
                       (double)(idle - dispatched) * seconds);
        budget->phases.intervals[budget->last_interval].idle_s +=
            (double)(idle - dispatched) * seconds;
    }
}

/* The next change after those counted in `passed`; CHANGES: there is none. */
static int next_change(const struct accounting *accounting,
                       const size_t passed[CHANGES], size_t jobs, int64_t *time_ns)
{
    int next = CHANGES;

    for (int i = 0; i < CHANGES; i++) {
        const struct change_times *times = &accounting->changes[i];
        if (passed[i] == jobs)
            continue;
        int64_t own_ns = times->at_ns[passed[i] * times->stride];
        if (next == CHANGES || own_ns < *time_ns) {
            next = i;
            *time_ns = own_ns;
        }
    }
    return next;
}

/* ---- a shift --------------------------------------------------------------------- */

/* False when out of memory. */
static bool add_shift(struct accounting *accounting, size_t number, size_t first_job,
                      size_t count)
{
    struct roast_budget *budget = accounting->budget;
    const struct roast_shift *shift = &budget->schedule.shifts[number];
    const struct roast_job *jobs = budget->schedule.jobs + first_job;
    const struct roast_shift_jobs shift_jobs = {shift, jobs,
                                                accounting->fitted + first_job, count};
    const int64_t run[2] = {budget->start_ns, budget->end_ns};

    accounting->own = &budget->by_shift[number];
    budget->overlap_s += roast__threads_fit(&accounting->threads, &shift_jobs, run);
    if (!list_changes(accounting, &shift_jobs))
        return false;
    size_t passed[CHANGES] = {0};
    int64_t before_ns = shift->from_ns;
    int next;
    do {
        int64_t until_ns = shift->to_ns;
        /* between changes of the same time these may be negative */
        int64_t busy = (int64_t)passed[JOB_STARTED] - (int64_t)passed[JOB_STOPPED];
        int64_t waiting = (int64_t)passed[JOB_ASSIGNED] - (int64_t)passed[JOB_STARTED];
        next = next_change(accounting, passed, count, &until_ns);
        const struct change_times *started = &accounting->changes[JOB_STARTED];
        const size_t begun = passed[JOB_STARTED];
        const int64_t starts[2] = {
            begun > 0 ? started->at_ns[(begun - 1) * started->stride] : INT64_MIN,
            begun < count ? started->at_ns[begun * started->stride] : INT64_MAX};
        if (until_ns > before_ns && (uint64_t)busy < shift->threads)
            add_idle(accounting, (int64_t[2]){before_ns, until_ns}, starts,
                     shift->threads - (uint64_t)busy, (uint64_t)waiting);
        before_ns = until_ns > before_ns ? until_ns : before_ns;
        if (next < CHANGES)
            passed[next]++;
    } while (next < CHANGES);
    budget->offered_s +=
        (double)shift->threads * roast__seconds_between(shift->from_ns, shift->to_ns);
    return true;
}

/* The first job of the next shift. */
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

static void add_job(struct accounting *accounting, size_t number)
{
    const struct roast_job *job = &accounting->budget->schedule.jobs[number];

    roast__budget_add_job(accounting->budget, accounting->ctx, job,
                          accounting->fitted[number],
                          accounting->budget->by_shift[job->shift]);
}

/* False when out of memory. */
static bool add_jobs(struct accounting *accounting)
{
    const struct roast_schedule *schedule = &accounting->budget->schedule;
    size_t rows = accounting->ctx->run->attempts.count;
    uint32_t *job_at = roast__alloc(rows * sizeof(job_at[0])); /* number + 1 */

    if (!job_at)
        return false;
    for (uint32_t i = 0; i < schedule->job_count; i++) {
        if (schedule->jobs[i].row_count > 0)
            job_at[schedule->jobs[i].first_row] = i + 1;
        else
            add_job(accounting, i);
    }
    for (size_t at = 0; at < rows; at++) {
        if (job_at[at] > 0)
            add_job(accounting, job_at[at] - 1);
    }
    roast__free(job_at);
    return true;
}

static bool account(struct roast_budget *budget,
                    const struct roast_summary_context *ctx)
{
    const struct roast_schedule *schedule = &budget->schedule;
    struct accounting accounting = {
        .budget = budget, .ctx = ctx, .most_jobs = most_jobs(schedule)};
    size_t job = 0;

    roast__budget_set_bins(budget);
    accounting.fitted =
        roast__realloc(NULL, schedule->job_count * sizeof(accounting.fitted[0]));
    bool done =
        accounting.fitted &&
        roast__threads_reserve(&accounting.threads, schedule, accounting.most_jobs);
    for (size_t shift = 0; done && shift < schedule->shift_count; shift++) {
        size_t end = end_of_shift(schedule, shift, job);
        done = add_shift(&accounting, shift, job, end - job);
        job = end;
    }
    for (int i = 0; i < CHANGES; i++)
        roast__free(accounting.changes[i].copy_ns);
    roast__free(accounting.sorting);
    roast__threads_release(&accounting.threads);
    done = done && add_jobs(&accounting);
    roast__free(accounting.fitted);
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
        done = budget->by_shift && budget->by_source && account(budget, ctx);
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
