/* SPDX-License-Identifier: BSD-3-Clause */
/* critical_path.c - the chain of jobs and waits that set the wall time.
 *
 * It is followed from the end of the run to its start. A job waited for the one that
 * ended last before it on the same worker or slot, a retry for the attempt before it if
 * that ended later, a merge, and the first job of a worker, for the last one of all
 * threads before it was sent, and the first jobs of a phase for the phase before. What the
 * client did between jobs is on the path. Each wait is in the row of the job that waited,
 * so the seconds of all rows add up to the wall time. */
#include "analyze/budget/budget.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/timeline.h"
#include "base/mem.h"
#include "base/sort.h"

enum { MOST_STEPS = 200 }; /* with a row of their own: the last ones */

/* Clocks differ: so much later a job may end than another one begins that waited for it. */
static const int64_t clock_ns = 10 * 1000 * 1000;

/* The kind of a job (a slice), or ROAST_SLICES + the phase in which there was none. */
enum { PARTS = (int)ROAST_SLICES + (int)ROAST_PHASE_COUNT };

struct step {
    int part;
    const struct roast_job *job; /* NULL: none, or several */
    int64_t from_ns;
    int64_t length_ns;
    int64_t waited_ns; /* before it */
    uint64_t count;
};

struct critical_path {
    const struct roast_summary_context *ctx;
    struct roast_keyed *by_stop;   /* owned; jobs that took time */
    size_t left;                   /* of them; the others ended later */
    size_t interval;               /* of the phases: the one before `time_ns` */
    int64_t time_ns;               /* the path is known from here to the end */
    const struct roast_job *next;  /* began then, after a wait; NULL: no job */
    int64_t *waited_ns;            /* of its step */
    struct step steps[MOST_STEPS]; /* the last one first */
    size_t step_count;
    struct step earlier[PARTS]; /* all steps before these, by part */
};

/* ---- steps ----------------------------------------------------------------------- */

/* Adds a step from a time to the known part of the path. */
static struct step *add_step(struct critical_path *path, int part,
                             const struct roast_job *job, int64_t from_ns)
{
    bool has_row = path->step_count < MOST_STEPS;
    struct step *step =
        has_row ? &path->steps[path->step_count++] : &path->earlier[part];

    step->part = part;
    step->job = has_row ? job : NULL;
    step->from_ns = from_ns;
    step->length_ns =
        roast__sat_add(step->length_ns, roast__time_between(from_ns, path->time_ns));
    step->count++;
    path->time_ns = from_ns;
    return step;
}

/* The number of the phase before a time, from a later one on. */
static size_t phase_before(const struct roast_phases *phases, size_t later,
                           int64_t time_ns)
{
    while (later > 0 && phases->intervals[later].from_ns >= time_ns)
        later--;
    return later;
}

/* Whether a job waits in a phase for a thread, or to be sent. */
static bool waits_in(const struct roast_job *job, enum roast_phase phase)
{
    if (job->kind == ROAST_SLICE_preprocess)
        return phase == ROAST_PHASE_PREPROCESS;
    return phase == ROAST_PHASE_CHUNKS || phase == ROAST_PHASE_TAIL ||
           (phase == ROAST_PHASE_REDUCE && job->kind == ROAST_SLICE_reduce);
}

/* Adds the time from `from_ns` on, in which no job is on the path. */
static void add_until(struct critical_path *path, int64_t from_ns)
{
    const struct roast_phases *phases = &path->ctx->budget->phases;

    while (path->time_ns > from_ns) {
        path->interval = phase_before(phases, path->interval, path->time_ns);
        const struct roast_phase_interval *own = &phases->intervals[path->interval];
        int64_t begin_ns = own->from_ns > from_ns ? own->from_ns : from_ns;
        if (path->next && waits_in(path->next, own->phase)) {
            *path->waited_ns = roast__sat_add(
                *path->waited_ns, roast__time_between(begin_ns, path->time_ns));
            path->time_ns = begin_ns;
        } else {
            path->next = NULL;
            (void)add_step(path, (int)ROAST_SLICES + (int)own->phase, NULL, begin_ns);
        }
    }
}

/* ---- what a job waited for ------------------------------------------------------- */

/* Since when the next job may have waited for a thread. */
static int64_t wait_begin(const struct critical_path *path)
{
    const struct roast_phases *phases = &path->ctx->budget->phases;
    size_t i = phase_before(phases, path->interval, path->time_ns);
    int64_t begin_ns = path->time_ns;

    for (;; i--) {
        enum roast_phase phase = phases->intervals[i].phase;
        if (!waits_in(path->next, phase) && phase != ROAST_PHASE_MONITOR)
            return begin_ns;
        begin_ns = phases->intervals[i].from_ns;
        if (i == 0)
            return begin_ns;
    }
}

/* Whether two jobs are attempts at one chunk. */
static bool are_attempts(const struct critical_path *path, const struct roast_job *a,
                         const struct roast_job *b)
{
    static const enum roast_attempt_column entries[] = {ROAST_COLUMN_entry_start,
                                                        ROAST_COLUMN_entry_stop};
    const struct roast_attempts *attempts = &path->ctx->run->attempts;
    const uint32_t *rows = path->ctx->budget->schedule.rows;

    if (a->row_count == 0 || b->row_count == 0)
        return false;
    size_t row = rows[a->first_row], other = rows[b->first_row];
    bool same =
        attempts->source[row] >= 0 && attempts->source[row] == attempts->source[other];
    for (int i = 0; same && i < 2; i++) {
        const struct roast_column *column = &attempts->columns[entries[i]];
        same = roast__column_has(column, row) && roast__column_has(column, other) &&
               column->values[row] == column->values[other];
    }
    return same;
}

/* The last job that began before the known part of the path and ended in [since, until];
 * NULL: none. Jobs that ended later than that part begins are never looked at again. */
static const struct roast_job *find_before(struct critical_path *path, bool any_thread,
                                           int64_t since_ns, int64_t until_ns)
{
    const struct roast_schedule *schedule = &path->ctx->budget->schedule;
    const struct roast_job *next = path->next;
    int64_t latest_ns = roast__sat_add(path->time_ns, clock_ns);

    until_ns = roast__sat_add(until_ns, clock_ns);
    while (path->left > 0 && path->by_stop[path->left - 1].key > latest_ns)
        path->left--;
    for (size_t i = path->left; i-- > 0;) {
        const struct roast_job *job = &schedule->jobs[path->by_stop[i].item];
        if (job->stop_ns < since_ns)
            break;
        if (job->start_ns >= path->time_ns || job->stop_ns > until_ns)
            continue;
        if (any_thread ? job->kind != ROAST_SLICE_foreign
                       : job->shift == next->shift || are_attempts(path, job, next))
            return job;
    }
    return NULL;
}

/* The job that the next one waited for; NULL: none. */
static const struct roast_job *job_before(struct critical_path *path)
{
    const struct roast_schedule *schedule = &path->ctx->budget->schedule;
    const struct roast_job *next = path->next, *found = NULL;

    if (!next)
        return find_before(path, true, INT64_MIN, path->time_ns);
    if (next->kind == ROAST_SLICE_reduce)
        return find_before(path, true, INT64_MIN, next->assigned_ns);
    int64_t since_ns = wait_begin(path);
    bool is_first = next == schedule->jobs || next[-1].shift != next->shift;
    if (!is_first)
        found = find_before(path, false, since_ns, path->time_ns);
    /* the worker came while others were at work: until then chunks waited for these */
    if (!found && schedule->has_scheduler)
        found = find_before(path, true, since_ns, next->assigned_ns);
    return found;
}

static void follow(struct critical_path *path)
{
    int64_t start_ns = path->ctx->budget->start_ns;

    while (path->time_ns > start_ns) {
        const struct roast_job *job = job_before(path);
        int64_t until_ns = job          ? job->stop_ns
                           : path->next ? wait_begin(path)
                                        : start_ns;
        add_until(path, roast__time_clamp(until_ns, start_ns, path->time_ns));
        path->next = NULL; /* without a job: the last one of all threads is next */
        if (!job || path->time_ns <= start_ns)
            continue;
        struct step *step = add_step(
            path, job->kind, job, job->start_ns > start_ns ? job->start_ns : start_ns);
        path->next = job;
        path->waited_ns = &step->waited_ns;
    }
}

/* ---- the table ------------------------------------------------------------------- */

static const char *name_of(int part)
{
    if (part >= (int)ROAST_SLICES)
        return roast__phase_name((enum roast_phase)(part - (int)ROAST_SLICES));
    return part == ROAST_SLICE_unexplained
               ? "chunk"
               : roast__table_info(ROAST_TABLE_budget, (size_t)part).name;
}

static void put_job(const struct critical_path *path, roast_table *table,
                    const struct roast_job *job)
{
    const struct roast_summary_context *ctx = path->ctx;
    const struct roast_schedule *schedule = &ctx->budget->schedule;
    int32_t session = schedule->shifts[job->shift].session;

    if (job->row_count > 0) {
        size_t row = schedule->rows[job->first_row + job->row_count - 1];
        enum roast_role role = (enum roast_role)ctx->totals->roles.of_row[row];
        roast__fill_string(table, ROAST_COL_critical_path_status,
                           roast__role_status(ctx->run, role));
        roast__fill_chunk(table, ROAST_COL_critical_path_dataset, ctx, row);
        roast__fill_worker(table, ROAST_COL_critical_path_worker, ctx,
                           (size_t)ctx->run->attempts.process[row]);
    } else if (session >= 0) {
        roast__fill_text(table, ROAST_COL_critical_path_worker,
                         roast__context_text(
                             ctx, ctx->run->scheduler.sessions.items[session].worker));
    }
}

static void put_step(const struct critical_path *path, roast_table *table,
                     const struct step *step)
{
    roast__table_row(table);
    roast__fill_string(table, ROAST_COL_critical_path_part, name_of(step->part));
    roast__fill_count(table, ROAST_COL_critical_path_count, step->count);
    roast__fill_number(table, ROAST_COL_critical_path_start,
                       roast__seconds_between(path->ctx->run->start_ns, step->from_ns));
    roast__fill_number(table, ROAST_COL_critical_path_waited,
                       (double)step->waited_ns / 1e9);
    roast__fill_number(table, ROAST_COL_critical_path_seconds,
                       (double)step->length_ns / 1e9);
    if (step->job)
        put_job(path, table, step->job);
}

void roast__summarize_critical_path(const struct roast_summary_context *ctx)
{
    const struct roast_schedule *schedule = &ctx->budget->schedule;
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_critical_path);

    if (schedule->job_count == 0) {
        if (!roast__run_is_command(ctx->run))
            roast__summary_unavailable(ctx->summary, "critical_path",
                                       "no chunk or task of a known worker");
        return;
    }
    struct critical_path *path = roast__alloc(sizeof(*path));
    struct roast_keyed *by_stop = roast__keyed_new(schedule->job_count);
    ctx->summary->failed |= !path || !by_stop;
    if (path && by_stop) {
        path->ctx = ctx;
        path->by_stop = by_stop;
        path->time_ns = ctx->budget->end_ns;
        path->interval = ctx->budget->phases.count - 1;
        for (uint32_t i = 0; i < schedule->job_count; i++) {
            const struct roast_job *job = &schedule->jobs[i];
            if (job->stop_ns > job->start_ns)
                by_stop[path->left++] = (struct roast_keyed){job->stop_ns, i};
        }
        roast__keyed_sort(by_stop, by_stop + schedule->job_count, path->left);
        follow(path);
        for (int part = 0; part < PARTS; part++) {
            if (path->earlier[part].count > 0)
                put_step(path, table, &path->earlier[part]);
        }
        for (size_t i = path->step_count; i-- > 0;)
            put_step(path, table, &path->steps[i]);
    }
    roast__free(by_stop);
    roast__free(path);
}
