/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks.c - the part of the table `tasks` from a scheduler: times of assignment, and all
 * tasks that were no attempts. */
#include "analyze/tables/job.h"

#include "analyze/totals/task_kinds.h"
#include "base/array.h"
#include "base/mem.h"

#define AT(name) ROAST_COL_tasks_##name

static void put_time(const struct roast_table_job *job, int at, int64_t time_ns)
{
    if (time_ns != 0)
        roast__fill_int(job->to, at, time_ns);
}

static void put_scheduled(const struct roast_table_job *job, size_t task)
{
    const struct roast_tasks *tasks = &job->run->scheduler.tasks;

    roast__fill_text(job->to, AT(prefix), roast__job_text(job, tasks->prefix[task]));
    put_time(job, AT(assigned), tasks->assigned_ns[task]);
    put_time(job, AT(compute_start), tasks->start_ns[task]);
    put_time(job, AT(compute_stop), tasks->stop_ns[task]);
}

void roast__put_task_of_attempt(const struct roast_table_job *job,
                                const struct roast_task_joins *joins, size_t attempt)
{
    if (joins->task_of[attempt] >= 0)
        put_scheduled(job, (size_t)joins->task_of[attempt]);
}

static void put_task(const struct roast_table_job *job, size_t task,
                     enum roast_task_kind kind)
{
    const struct roast_tasks *tasks = &job->run->scheduler.tasks;
    unsigned end = tasks->end[task] & ~(unsigned)ROAST_TASK_OURS;
    int64_t start_ns = tasks->start_ns[task];
    int64_t stop_ns = tasks->stop_ns[task];

    roast__table_row(job->to);
    roast__fill_text(job->to, AT(kind), roast_str_of(roast_task_kind_name(kind)));
    roast__fill_text(job->to, AT(status), roast_str_of(roast_task_end_name(end)));
    roast__fill_text(job->to, AT(worker), roast__job_text(job, tasks->worker[task]));
    const struct roast_worker_session *session =
        tasks->worker[task] >= 0
            ? roast__latest_session(&job->run->scheduler.sessions, tasks->worker[task])
            : NULL;
    if (session)
        roast__fill_text(job->to, AT(host), roast__job_text(job, session->host));
    put_time(job, AT(start), start_ns);
    if (start_ns != 0 && stop_ns >= start_ns)
        roast__fill_number(job->to, AT(duration),
                           (double)roast__sat_sub(stop_ns, start_ns) / 1e9);
    put_scheduled(job, task);
}

void roast__put_other_tasks(const struct roast_table_job *job,
                            const struct roast_task_joins *joins)
{
    if (!roast__has_scheduled(&job->run->scheduler.tasks))
        return; /* tasks of the client itself are not shown */
    unsigned char *kinds = roast__task_kinds(job->run);
    if (!kinds)
        roast__table_fail(job->to);
    for (size_t i = 0; kinds && i < job->run->scheduler.tasks.count; i++) {
        if (!roast__table_ok(job->to))
            break;
        if (!joins->has_row[i])
            put_task(job, i, (enum roast_task_kind)kinds[i]);
    }
    roast__free(kinds);
}
