/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.c - where the time of all threads went, in slices that add up to it.
 *
 * Shift by shift: every job gets a thread as far as there is one (threads.c). Then time
 * is walked once more: threads without a job wait for one that was assigned, or are idle
 * for the reason of the phase. What jobs did is added last, in the order in which their
 * attempts lie in memory: a million of them do not fit any cache. */
#include "aggregate/budget.h"

#include "aggregate/budget_rows.h"
#include "aggregate/threads.h"
#include "aggregate/timeline.h"
#include "base/mem.h"
#include "base/sort.h"

/* What changes how many threads are busy, and how many tasks wait for one. */
enum change { JOB_COMES, JOB_BEGINS, JOB_ENDS, JOB_AT_ONCE, CHANGES };

static const int busy_by[CHANGES] = {
    [JOB_BEGINS] = 1, [JOB_AT_ONCE] = 1, [JOB_ENDS] = -1};
static const int waiting_by[CHANGES] = {[JOB_COMES] = 1, [JOB_BEGINS] = -1};

enum { CHANGES_OF_JOB = 3 };

/* What one shift needs; room for all jobs of the largest one. */
struct sweeping {
    struct roast_budget *budget;
    const struct roast_study *study;
    struct roast_threads threads;
    int64_t (*fitted)[2];        /* owned; of all jobs: see roast_crowd */
    struct roast_keyed *changes; /* owned; items are changes, keys their times */
    size_t change_count;
    roast_slices *own;
    int64_t first_begin_ns; /* of a job in the shift; INT64_MAX: none */
};

/* ---- idle time ------------------------------------------------------------------- */

static void put_change(struct sweeping *sweeping, int64_t time_ns, enum change change)
{
    sweeping->changes[sweeping->change_count++] =
        (struct roast_keyed){time_ns, (uint32_t)change};
}

static void note_changes(struct sweeping *sweeping, const struct roast_shift *shift,
                         const struct roast_job *job, const int64_t fitted[2])
{
    int64_t assigned_ns =
        roast__time_clamp(job->assigned_ns, shift->from_ns, fitted[0]);

    if (assigned_ns < fitted[0])
        put_change(sweeping, assigned_ns, JOB_COMES);
    put_change(sweeping, fitted[0], assigned_ns < fitted[0] ? JOB_BEGINS : JOB_AT_ONCE);
    put_change(sweeping, fitted[1], JOB_ENDS);
    if (fitted[1] > fitted[0] && fitted[0] < sweeping->first_begin_ns)
        sweeping->first_begin_ns = fitted[0];
}

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
    }
}

static void walk_idle(struct sweeping *sweeping, const struct roast_shift *shift)
{
    int64_t before_ns = shift->from_ns;
    int64_t busy = 0, waiting = 0;

    for (size_t i = 0; i <= sweeping->change_count; i++) {
        const struct roast_keyed *next =
            i < sweeping->change_count ? &sweeping->changes[i] : NULL;
        int64_t until_ns = next ? next->key : shift->to_ns;
        if (until_ns > before_ns && (uint64_t)busy < shift->threads)
            add_idle(sweeping, before_ns, until_ns, shift->threads - (uint64_t)busy,
                     (uint64_t)waiting);
        before_ns = until_ns > before_ns ? until_ns : before_ns;
        busy += next ? busy_by[next->item] : 0;
        waiting += next ? waiting_by[next->item] : 0;
    }
}

/* ---- a shift --------------------------------------------------------------------- */

static void add_shift(struct sweeping *sweeping, size_t number, size_t first_job,
                      size_t count)
{
    struct roast_budget *budget = sweeping->budget;
    const struct roast_shift *shift = &budget->schedule.shifts[number];
    const struct roast_job *jobs = budget->schedule.jobs + first_job;
    const struct roast_crowd crowd = {shift, jobs, sweeping->fitted + first_job, count};
    const int64_t run[2] = {budget->start_ns, budget->end_ns};

    sweeping->own = &budget->by_shift[number];
    sweeping->change_count = 0;
    sweeping->first_begin_ns = INT64_MAX;
    budget->overlap_s += roast__threads_fit(&sweeping->threads, &crowd, run);
    for (size_t i = 0; i < count; i++)
        note_changes(sweeping, shift, &jobs[i], crowd.fitted[i]);
    roast__keyed_sort(sweeping->changes, sweeping->changes + sweeping->change_count,
                      sweeping->change_count);
    walk_idle(sweeping, shift);
    budget->offered_s +=
        (double)shift->threads * roast__seconds_between(shift->from_ns, shift->to_ns);
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

    roast__budget_add_job(sweeping->budget, sweeping->study, job,
                          sweeping->fitted[number],
                          sweeping->budget->by_shift[job->shift]);
}

/* False when out of memory. */
static bool add_jobs(struct sweeping *sweeping)
{
    const struct roast_schedule *schedule = &sweeping->budget->schedule;
    size_t rows = sweeping->study->run->attempts.count;
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

static void add_up_phases(struct roast_budget *budget)
{
    for (int phase = 0; phase < ROAST_PHASE_COUNT; phase++) {
        for (int slice = 0; slice < ROAST_SLICES; slice++)
            budget->total[slice] += budget->by_phase[phase][slice];
    }
}

static bool sweep(struct roast_budget *budget, const struct roast_study *study)
{
    const struct roast_schedule *schedule = &budget->schedule;
    struct sweeping sweeping = {.budget = budget, .study = study};
    size_t most = most_jobs(schedule), job = 0;

    roast__budget_set_bins(budget);
    sweeping.changes = roast__keyed_new(CHANGES_OF_JOB * most);
    sweeping.fitted =
        roast__realloc(NULL, schedule->job_count * sizeof(sweeping.fitted[0]));
    bool done = sweeping.changes && sweeping.fitted &&
                roast__threads_reserve(&sweeping.threads, most, schedule->any_guessed);
    for (size_t shift = 0; done && shift < schedule->shift_count; shift++) {
        size_t end = end_of_shift(schedule, shift, job);
        add_shift(&sweeping, shift, job, end - job);
        job = end;
    }
    roast__threads_release(&sweeping.threads);
    roast__free(sweeping.changes);
    done = done && add_jobs(&sweeping);
    roast__free(sweeping.fitted);
    add_up_phases(budget);
    return done;
}

/* ---- all ------------------------------------------------------------------------- */

struct roast_budget *roast__budget_find(const struct roast_study *study)
{
    struct roast_budget *budget = roast__alloc(sizeof(*budget));
    size_t sources = study->run->attempts.source_count + 1;

    if (!budget)
        return NULL;
    budget->start_ns = study->run->start_ns;
    budget->end_ns = study->end_ns;
    bool done = roast__schedule_find(&budget->schedule, study) &&
                roast__phases_find(&budget->phases, study, &budget->schedule);
    if (done) {
        budget->by_shift =
            roast__alloc(budget->schedule.shift_count * sizeof(budget->by_shift[0]));
        budget->by_source = roast__alloc(sources * sizeof(budget->by_source[0]));
        done = budget->by_shift && budget->by_source && sweep(budget, study);
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
