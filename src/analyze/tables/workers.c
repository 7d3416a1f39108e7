/* SPDX-License-Identifier: BSD-3-Clause */
/* workers.c - the tables `workers`, `activities` and `hot_lines`, from a scheduler.
 *
 * A worker is identified by its address and has one row, even if it joined several times:
 * attempts do not record their session. */
#include "analyze/tables/job.h"
#include "analyze/totals/groups.h"
#include "base/mem.h"

/* ---- activities and hot lines ---------------------------------------------------- */

#define AT(name) ROAST_COL_activities_##name

void roast__make_activities(const struct roast_table_job *job)
{
    const struct roast_scheduler_view *view = &job->run->scheduler;

    for (size_t i = 0; i < view->activity_count && roast__table_ok(job->to); i++) {
        const struct roast_activity_row *row = &view->activities[i];
        roast__table_row(job->to);
        roast__fill_text(job->to, AT(context), roast__job_text(job, row->context));
        roast__fill_text(job->to, AT(prefix), roast__job_text(job, row->prefix));
        roast__fill_text(job->to, AT(activity), roast__job_text(job, row->activity));
        roast__fill_text(job->to, AT(unit), roast__job_text(job, row->unit));
        roast__fill_number(job->to, AT(value), row->value);
    }
}

#undef AT
#define AT(name) ROAST_COL_hot_lines_##name

void roast__make_hot_lines(const struct roast_table_job *job)
{
    const struct roast_scheduler_view *view = &job->run->scheduler;

    for (size_t i = 0; i < view->hot_count && roast__table_ok(job->to); i++) {
        const struct roast_hot_row *row = &view->hot[i];
        roast__table_row(job->to);
        roast__fill_text(job->to, AT(file), roast__job_text(job, row->file));
        roast__fill_count(job->to, AT(line), row->line);
        roast__fill_text(job->to, AT(function), roast__job_text(job, row->function));
        roast__fill_text(job->to, AT(text), roast__job_text(job, row->text));
        roast__fill_number(job->to, AT(seconds), row->seconds);
        roast__fill_number(job->to, AT(self_seconds), row->self_seconds);
    }
}

/* ---- workers --------------------------------------------------------------------- */

#undef AT
#define AT(name) ROAST_COL_workers_##name

/* All sessions of one worker. */
struct history {
    int64_t joined_ns; /* first */
    uint64_t sessions;
    uint64_t lost;
    bool shown;
};

struct histories {
    const struct roast_table_job *job;
    struct history *items; /* owned; of a worker, at the number of its latest session */
};

static size_t latest_of(const struct roast_worker_sessions *sessions, int32_t worker)
{
    return (size_t)(roast__latest_session(sessions, worker) - sessions->items);
}

/* False when out of memory. */
static bool find_histories(struct histories *histories)
{
    const struct roast_worker_sessions *sessions =
        &histories->job->run->scheduler.sessions;

    histories->items = roast__alloc(sessions->count * sizeof(histories->items[0]));
    for (size_t i = 0; histories->items && i < sessions->count; i++) {
        const struct roast_worker_session *session = &sessions->items[i];
        struct history *history =
            &histories->items[latest_of(sessions, session->worker)];
        if (history->sessions == 0 || session->joined_ns < history->joined_ns)
            history->joined_ns = session->joined_ns;
        history->sessions++;
        history->lost += session->left_ns != 0 && !session->expected;
    }
    return histories->items != NULL;
}

/* Adds the history of a worker to the last row. */
static void put_history(struct histories *histories, size_t latest)
{
    const struct roast_table_job *job = histories->job;
    const struct roast_worker_session *session =
        &job->run->scheduler.sessions.items[latest];
    struct history *history = &histories->items[latest];

    history->shown = true;
    roast__fill_text(job->to, AT(name), roast__job_text(job, session->name));
    roast__fill_count(job->to, AT(threads), session->threads);
    if (session->memory_limit_bytes != 0)
        roast__fill_count(job->to, AT(memory_limit_bytes), session->memory_limit_bytes);
    roast__fill_int(job->to, AT(joined), history->joined_ns);
    if (session->left_ns != 0) {
        roast__fill_int(job->to, AT(left), session->left_ns);
        roast__fill_bool(job->to, AT(expected), session->expected);
        roast__fill_text(job->to, AT(reason), roast__job_text(job, session->reason));
    }
    roast__fill_count(job->to, AT(sessions), history->sessions);
    roast__fill_count(job->to, AT(lost), history->lost);
}

void roast__make_workers(const struct roast_table_job *job)
{
    const struct roast_worker_sessions *sessions = &job->run->scheduler.sessions;
    struct histories histories = {.job = job};

    const roast_table *workers =
        roast_summary_table(job->summary, ROAST_TABLE_per_worker);

    if (!find_histories(&histories))
        roast__table_fail(job->to);
    for (size_t row = 0; row < roast_table_rows(workers) && roast__table_ok(job->to);
         row++) {
        /* A worker with attempts. */
        struct roast_str worker =
            roast_table_text(workers, row, ROAST_COL_per_worker_worker);
        roast__table_row(job->to);
        roast__fill_text(job->to, AT(worker), worker);
        roast__fill_from(job->to, AT(host), workers, row, ROAST_COL_per_worker_host);
        roast__fill_from(job->to, AT(pid), workers, row, ROAST_COL_per_worker_pid);
        roast__fill_group_from(job->to, AT(num_chunks), workers, row,
                               ROAST_COL_per_worker_num_chunks);
        roast__fill_from(job->to, AT(peak_memory_mb), workers, row,
                         ROAST_COL_per_worker_peak_memory_mb);
        int32_t number = worker.data ? roast__strings_find(&job->run->strings, worker)
                                     : ROAST_NO_STRING;
        if (number >= 0 && roast__latest_session(sessions, number))
            put_history(&histories, latest_of(sessions, number));
    }
    for (size_t i = 0; i < sessions->count && roast__table_ok(job->to); i++) {
        size_t latest = latest_of(sessions, sessions->items[i].worker);
        if (!histories.items[latest].shown) {
            /* A worker without attempts. */
            const struct roast_worker_session *session =
                &job->run->scheduler.sessions.items[latest];
            const struct roast_worker_samples *samples =
                roast__samples_find(&job->run->samples, session->worker);
            roast__table_row(job->to);
            roast__fill_text(job->to, AT(worker),
                             roast__job_text(job, session->worker));
            roast__fill_text(job->to, AT(host), roast__job_text(job, session->host));
            if (session->pid != 0)
                roast__fill_count(job->to, AT(pid), session->pid);
            if (samples)
                roast__fill_number(job->to, AT(peak_memory_mb),
                                   roast__highest_memory(samples) / (1024.0 * 1024.0));
            put_history(&histories, latest);
        }
    }
    roast__free(histories.items);
}
