/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.c - the shifts of workers and the jobs of their threads.
 *
 * A scheduler has no start time of tasks that failed or were lost. They start with their
 * attempts, or else at some time after their assignment; the budget then gives them a
 * free thread only. Other tasks without a start never started. */
#include "analyze/budget/schedule.h"

#include <stdlib.h>

#include "analyze/budget/last_seen.h"
#include "analyze/budget/pool_slots.h"
#include "analyze/budget/task_joins.h"
#include "analyze/calls.h"
#include "analyze/timeline.h"
#include "base/mem.h"
#include "base/sort.h"
#include "run/order.h"

struct schedule_builder {
    struct roast_schedule *schedule;
    const struct roast_summary_context *ctx;
    struct roast_task_joins joins;
    uint32_t *first_row; /* owned; per task: its first attempt in schedule.rows */
    int64_t *last_seen;  /* owned; per process; NULL: no attempt was lost */
    struct roast_pool_slots slots;
};

/* ---- shifts of a cluster --------------------------------------------------------- */

/* One per session, under the same number. */
static bool find_session_shifts(struct roast_schedule *schedule,
                                const struct roast_summary_context *ctx)
{
    const struct roast_worker_sessions *sessions = &ctx->run->scheduler.sessions;
    int64_t start_ns = ctx->run->start_ns, end_ns = ctx->end_ns;

    schedule->shifts = roast__alloc(sessions->count * sizeof(schedule->shifts[0]));
    if (!schedule->shifts)
        return false;
    schedule->shift_count = sessions->count;
    for (size_t i = 0; i < sessions->count; i++) {
        const struct roast_worker_session *session = &sessions->items[i];
        int64_t left_ns = session->left_ns != 0 ? session->left_ns : end_ns;
        int64_t from_ns = roast__time_clamp(session->joined_ns, start_ns, end_ns);
        schedule->shifts[i] = (struct roast_shift){
            .from_ns = from_ns,
            .to_ns = roast__time_clamp(left_ns, from_ns, end_ns),
            .threads = session->threads,
            .session = (int32_t)i,
            .process = -1,
        };
    }
    return true;
}

/* ---- attempts of tasks ----------------------------------------------------------- */

static size_t group_of(const struct schedule_builder *builder, uint32_t row)
{
    int32_t task = builder->joins.task_of[row];

    return task < 0 ? builder->ctx->run->scheduler.tasks.count : (size_t)task;
}

/* All rows by their start; owned, NULL when out of memory. */
static uint32_t *rows_by_time(const struct roast_attempts *attempts)
{
    uint32_t *rows = roast__alloc(attempts->count * sizeof(rows[0]));

    for (uint32_t row = 0; rows && row < attempts->count; row++)
        rows[row] = row;
    if (rows && !roast__rows_sort(rows, attempts->count, attempts)) {
        roast__free(rows);
        return NULL;
    }
    return rows;
}

/* Rows by task, then by start; those without a task last. */
static bool group_rows(struct schedule_builder *builder)
{
    const struct roast_run *run = builder->ctx->run;
    size_t tasks = run->scheduler.tasks.count, rows = run->attempts.count;
    uint32_t *by_time = rows_by_time(&run->attempts);
    uint32_t *next = roast__alloc((tasks + 2) * sizeof(next[0]));
    uint32_t *grouped = roast__alloc(rows * sizeof(grouped[0]));

    builder->schedule->rows = grouped;
    builder->first_row = next;
    bool done = by_time && next && grouped;
    for (uint32_t row = 0; done && row < rows; row++)
        next[group_of(builder, row) + 1]++;
    for (size_t i = 0; done && i <= tasks; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; done && i < rows; i++)
        grouped[next[group_of(builder, by_time[i])]++] = by_time[i];
    /* next[i] is now the end of group i, which is the begin of group i + 1 */
    for (size_t i = tasks + 1; done && i > 0; i--)
        next[i] = next[i - 1];
    if (done)
        next[0] = 0;
    roast__free(by_time);
    return done;
}

/* When the attempts of a job began and ended; false: not known. */
static bool times_of_rows(const struct schedule_builder *builder,
                          const struct roast_job *job, int64_t *start_ns,
                          int64_t *stop_ns)
{
    const struct roast_attempts *attempts = &builder->ctx->run->attempts;
    bool known = false;

    for (uint32_t i = 0; i < job->row_count; i++) {
        int64_t start, stop;
        if (!roast__attempt_times(attempts, builder->schedule->rows[job->first_row + i],
                                  &start, &stop))
            continue;
        *start_ns = !known || start < *start_ns ? start : *start_ns;
        *stop_ns = !known || stop > *stop_ns ? stop : *stop_ns;
        known = true;
    }
    return known;
}

/* ---- jobs of tasks --------------------------------------------------------------- */

static enum roast_slice slice_of_kind(enum roast_task_kind kind)
{
    switch (kind) {
    case ROAST_KIND_preprocess:
        return ROAST_SLICE_preprocess;
    case ROAST_KIND_reduce:
        return ROAST_SLICE_reduce;
    case ROAST_KIND_broadcast:
        return ROAST_SLICE_broadcast;
    case ROAST_KIND_other:
        return ROAST_SLICE_other;
    case ROAST_KIND_foreign:
        return ROAST_SLICE_foreign;
    case ROAST_KIND_chunk:
    case ROAST_KIND_COUNT:
        break;
    }
    return ROAST_SLICE_unexplained; /* the rest, after the ladders of its attempts */
}

static enum roast_slice slice_of(const struct roast_run *run, enum roast_task_end end,
                                 enum roast_task_kind kind)
{
    if (kind == ROAST_KIND_foreign)
        return ROAST_SLICE_foreign;
    switch (end) {
    case ROAST_TASK_failed:
    case ROAST_TASK_retried:
        return ROAST_SLICE_failed;
    case ROAST_TASK_lost:
        return ROAST_SLICE_lost;
    case ROAST_TASK_cancelled:
        return roast__run_state(run) == ROAST_IS_interrupted ? ROAST_SLICE_cancelled
                                                             : ROAST_SLICE_skipped;
    case ROAST_TASK_sent_back:
        return ROAST_SLICE_skipped;
    case ROAST_TASK_ok:
    case ROAST_TASK_running:
    case ROAST_TASK_moved:
    case ROAST_TASK_END_LAST:
        break;
    }
    return slice_of_kind(kind);
}

/* The start of a task; its stop if it never started. */
static void find_start(const struct schedule_builder *builder, struct roast_job *job,
                       size_t task)
{
    const struct roast_tasks *tasks = &builder->ctx->run->scheduler.tasks;
    int64_t row_stop_ns;

    job->start_ns = tasks->start_ns[task];
    if (job->start_ns != 0 || times_of_rows(builder, job, &job->start_ns, &row_stop_ns))
        return;
    job->start_unknown =
        job->slice == ROAST_SLICE_failed || job->slice == ROAST_SLICE_lost;
    job->start_ns = job->start_unknown ? tasks->assigned_ns[task] : job->stop_ns;
}

/* Dask estimates the clock offset of workers within milliseconds, which matters in a
 * short chunk: the attempts of a task have better times. */
static void move_to_rows(const struct schedule_builder *builder, struct roast_job *job)
{
    int64_t row_start_ns, row_stop_ns;

    if (job->start_unknown || !times_of_rows(builder, job, &row_start_ns, &row_stop_ns))
        return;
    job->stop_ns =
        roast__sat_add(job->stop_ns, roast__sat_sub(row_start_ns, job->start_ns));
    job->start_ns = row_start_ns;
    if (job->stop_ns < row_stop_ns)
        job->stop_ns = row_stop_ns;
}

static void add_job(struct schedule_builder *builder, const struct roast_job *job)
{
    struct roast_schedule *schedule = builder->schedule;

    schedule->any_start_unknown |= job->start_unknown;
    schedule->jobs[schedule->job_count++] = *job;
}

/* A job of an unknown worker: its seconds are in no shift. */
static void count_unplaced(struct schedule_builder *builder,
                           const struct roast_job *job)
{
    int64_t start_ns = builder->ctx->run->start_ns, end_ns = builder->ctx->end_ns;

    builder->schedule->unplaced_jobs++;
    builder->schedule->unplaced_s +=
        roast__seconds_between(roast__time_clamp(job->start_ns, start_ns, end_ns),
                               roast__time_clamp(job->stop_ns, start_ns, end_ns));
}

/* The shift of a worker at a time, or -1. */
static int64_t shift_of(const struct schedule_builder *builder, int32_t worker,
                        int64_t time_ns)
{
    const struct roast_worker_sessions *sessions =
        &builder->ctx->run->scheduler.sessions;
    const struct roast_worker_session *session =
        worker >= 0 ? roast__session_at(sessions, worker, time_ns) : NULL;
    return session ? session - sessions->items : -1;
}

static void add_task(struct schedule_builder *builder, size_t task)
{
    const struct roast_tasks *tasks = &builder->ctx->run->scheduler.tasks;
    enum roast_task_end end =
        (enum roast_task_end)(tasks->end[task] & ~(unsigned)ROAST_TASK_OURS);
    enum roast_task_kind kind = (enum roast_task_kind)builder->ctx->task_kinds[task];
    struct roast_job job = {
        .slice = (unsigned char)slice_of(builder->ctx->run, end, kind),
        .kind = (unsigned char)slice_of_kind(kind),
        .first_row = builder->first_row[task],
        .row_count = builder->first_row[task + 1] - builder->first_row[task],
        .assigned_ns = tasks->assigned_ns[task],
        .stop_ns =
            end == ROAST_TASK_running ? builder->ctx->end_ns : tasks->stop_ns[task],
    };

    if (builder->schedule->has_scheduler && tasks->worker[task] < 0)
        return; /* it was never assigned */
    find_start(builder, &job, task);
    if (end == ROAST_TASK_ok)
        move_to_rows(builder, &job);
    if (end == ROAST_TASK_moved)
        job.start_ns = job.stop_ns;
    if (job.assigned_ns == 0 || job.assigned_ns > job.start_ns)
        job.assigned_ns = job.start_ns;
    int64_t shift = builder->schedule->has_scheduler
                        ? shift_of(builder, tasks->worker[task], job.start_ns)
                        : roast__pool_slot_of_task(
                              &builder->slots, builder->schedule, builder->ctx->run,
                              (int64_t[2]){job.start_ns, job.stop_ns});
    if (shift < 0) {
        count_unplaced(builder, &job);
        return;
    }
    job.shift = (uint32_t)shift;
    add_job(builder, &job);
}

/* ---- jobs of attempts alone ------------------------------------------------------ */

/* The end of the call of Runner.run in which an attempt was interrupted. */
static int64_t end_of_call(const struct roast_run *run, int64_t end_ns, int64_t time_ns)
{
    for (size_t i = 0; i < run->moment_count; i++) {
        if (run->moments[i].mark == ROAST_MARK_RUN_END &&
            run->moments[i].time_ns >= time_ns)
            return run->moments[i].time_ns;
    }
    return end_ns;
}

/* An attempt without an end is running, was interrupted, or lost with its process. */
static int64_t end_of(const struct schedule_builder *builder, uint32_t row,
                      int64_t stop_ns)
{
    const struct roast_run *run = builder->ctx->run;
    unsigned role = builder->ctx->totals->roles.of_row[row];
    int64_t seen_ns = stop_ns;

    if (role == ROAST_ROLE_OPEN && run->end_ns == 0)
        return builder->ctx->end_ns;
    if (role == ROAST_ROLE_CANCELLED)
        seen_ns = end_of_call(run, builder->ctx->end_ns, stop_ns);
    if (role == ROAST_ROLE_LOST)
        seen_ns = builder->last_seen[run->attempts.process[row]];
    return seen_ns > stop_ns ? seen_ns : stop_ns;
}

static int32_t worker_of(const struct roast_attempts *attempts, uint32_t row)
{
    return attempts->processes[attempts->process[row]].worker;
}

static void add_row(struct schedule_builder *builder, uint32_t at)
{
    const struct roast_run *run = builder->ctx->run;
    uint32_t row = builder->schedule->rows[at];
    struct roast_job job = {.slice = ROAST_SLICE_unexplained,
                            .kind = ROAST_SLICE_unexplained,
                            .first_row = at,
                            .row_count = 1};

    if (roast__is_preprocess_failure(run, row)) {
        job.slice = ROAST_SLICE_failed;
        job.kind = ROAST_SLICE_preprocess;
    }
    if (!times_of_rows(builder, &job, &job.start_ns, &job.stop_ns))
        return;
    job.stop_ns = end_of(builder, row, job.stop_ns);
    job.assigned_ns = job.start_ns;
    int64_t shift =
        builder->schedule->has_scheduler
            ? shift_of(builder, worker_of(&run->attempts, row), job.start_ns)
            : roast__pool_slot_of_row(&builder->slots, builder->schedule, run, row,
                                      (int64_t[2]){job.start_ns, job.stop_ns});
    if (shift < 0) {
        count_unplaced(builder, &job);
        return;
    }
    job.shift = (uint32_t)shift;
    add_job(builder, &job);
}

/* ---- all ------------------------------------------------------------------------- */

static int by_stop(const void *a, const void *b)
{
    const struct roast_job *left = a, *right = b;

    if (left->stop_ns != right->stop_ns)
        return left->stop_ns < right->stop_ns ? -1 : 1;
    return (left->first_row > right->first_row) - (left->first_row < right->first_row);
}

static bool begin_together(const struct roast_job *a, const struct roast_job *b)
{
    return a->shift == b->shift && a->start_ns == b->start_ns;
}

static void sort_ties(struct roast_job *jobs, size_t count)
{
    for (size_t from = 0, to; from < count; from = to) {
        to = from + 1;
        while (to < count && begin_together(&jobs[from], &jobs[to]))
            to++;
        if (to - from > 1)
            qsort(jobs + from, to - from, sizeof(jobs[0]), by_stop);
    }
}

/* Sorts the jobs of every shift by start; they are sorted by shift already. */
static void sort_by_start(struct roast_keyed *keyed, const struct roast_job *jobs,
                          size_t count)
{
    struct roast_keyed *room = keyed + count;

    for (size_t from = 0, to; from < count; from = to) {
        int64_t shift = keyed[from].key;
        for (to = from; to < count && keyed[to].key == shift; to++)
            keyed[to].key = jobs[keyed[to].item].start_ns;
        roast__keyed_sort(keyed + from, room, to - from);
    }
}

/* Reorders jobs by keys; false when out of memory. */
static bool put_in_order(struct roast_schedule *schedule,
                         const struct roast_keyed *keyed)
{
    size_t count = schedule->job_count, in_order = 0;

    while (in_order < count && keyed[in_order].item == in_order)
        in_order++;
    if (in_order == count)
        return true;
    struct roast_job *jobs = roast__realloc(NULL, count * sizeof(jobs[0]));
    for (size_t i = 0; jobs && i < count; i++)
        jobs[i] = schedule->jobs[keyed[i].item];
    if (!jobs)
        return false;
    roast__free(schedule->jobs);
    schedule->jobs = jobs;
    return true;
}

/* False when out of memory. */
static bool find_last_seen(struct schedule_builder *builder)
{
    if (builder->ctx->totals->roles.rows[ROAST_ROLE_LOST] == 0)
        return true;
    builder->last_seen = roast__last_seen(builder->ctx->run);
    return builder->last_seen != NULL;
}

static bool find_jobs(struct schedule_builder *builder)
{
    const struct roast_run *run = builder->ctx->run;
    struct roast_schedule *schedule = builder->schedule;
    size_t tasks = run->scheduler.tasks.count;

    if (!roast__task_joins_find(&builder->joins, run) || !group_rows(builder) ||
        !find_last_seen(builder))
        return false;
    size_t most = tasks + (run->attempts.count - builder->first_row[tasks]);
    schedule->jobs = roast__realloc(NULL, most * sizeof(schedule->jobs[0]));
    if (!schedule->jobs)
        return false;
    for (size_t task = 0; task < tasks; task++)
        add_task(builder, task);
    for (uint32_t at = builder->first_row[tasks]; at < run->attempts.count; at++)
        add_row(builder, at);
    /* Sort by shift, then by start. */
    const struct roast_job *jobs = schedule->jobs;
    size_t count = schedule->job_count;
    struct roast_keyed *keyed = roast__keyed_new(count);
    for (uint32_t i = 0; keyed && i < count; i++)
        keyed[i] = (struct roast_keyed){jobs[i].shift, i};
    if (keyed) {
        roast__keyed_sort(keyed, keyed + count, count);
        sort_by_start(keyed, jobs, count);
    }
    bool sorted = keyed && put_in_order(schedule, keyed);
    if (sorted)
        sort_ties(schedule->jobs, count);
    roast__free(keyed);
    return sorted;
}

bool roast__schedule_find(struct roast_schedule *schedule,
                          const struct roast_summary_context *ctx)
{
    struct schedule_builder builder = {.schedule = schedule, .ctx = ctx};

    schedule->has_scheduler = ctx->run->scheduler.sessions.count > 0;
    bool found = schedule->has_scheduler
                     ? find_session_shifts(schedule, ctx)
                     : roast__pool_slots_find(&builder.slots, schedule, ctx);
    if (found && schedule->shift_count > 0)
        found = find_jobs(&builder);
    roast__task_joins_release(&builder.joins);
    roast__pool_slots_release(&builder.slots);
    roast__free(builder.first_row);
    roast__free(builder.last_seen);
    if (!found)
        roast__schedule_release(schedule);
    return found;
}

void roast__schedule_release(struct roast_schedule *schedule)
{
    roast__free(schedule->shifts);
    roast__free(schedule->jobs);
    roast__free(schedule->rows);
    *schedule = (struct roast_schedule){0};
}
