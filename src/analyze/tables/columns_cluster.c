/* SPDX-License-Identifier: BSD-3-Clause */
/* columns_cluster.c - what a cluster told of itself: the tables `activities` and
 * `hot_lines`, and of `workers` what its scheduler knows.
 *
 * A worker is known by its address and has one row. One that came back there has one
 * row too: attempts do not say in which of its stays they ran. */
#include "analyze/tables/columns_job.h"
#include "analyze/totals/groups.h"
#include "base/mem.h"

static struct roast_str string_of(const struct roast_columns_job *job, int32_t number)
{
    return roast__strings_get(&job->run->strings, number);
}

/* ---- activities and hot lines ---------------------------------------------------- */

#define AT(name) ROAST_AT_activities_##name

void roast__columns_activities(const struct roast_columns_job *job)
{
    const struct roast_scheduler_view *view = &job->run->scheduler;

    for (size_t i = 0; i < view->activity_count && roast__builder_ok(job->to); i++) {
        const struct roast_activity_row *row = &view->activities[i];
        roast__builder_row(job->to);
        roast__fill_text(job->to, AT(context), string_of(job, row->context));
        roast__fill_text(job->to, AT(prefix), string_of(job, row->prefix));
        roast__fill_text(job->to, AT(activity), string_of(job, row->activity));
        roast__fill_text(job->to, AT(unit), string_of(job, row->unit));
        roast__fill_number(job->to, AT(value), row->value);
    }
}

#undef AT
#define AT(name) ROAST_AT_hot_lines_##name

void roast__columns_hot_lines(const struct roast_columns_job *job)
{
    const struct roast_scheduler_view *view = &job->run->scheduler;

    for (size_t i = 0; i < view->hot_count && roast__builder_ok(job->to); i++) {
        const struct roast_hot_row *row = &view->hot[i];
        roast__builder_row(job->to);
        roast__fill_text(job->to, AT(file), string_of(job, row->file));
        roast__fill_count(job->to, AT(line), row->line);
        roast__fill_text(job->to, AT(function), string_of(job, row->function));
        roast__fill_text(job->to, AT(text), string_of(job, row->text));
        roast__fill_number(job->to, AT(seconds), row->seconds);
        roast__fill_number(job->to, AT(self_seconds), row->self_seconds);
    }
}

/* ---- workers --------------------------------------------------------------------- */

#undef AT
#define AT(name) ROAST_AT_workers_##name

/* All stays of one worker. */
struct tale {
    int64_t joined_ns; /* first */
    uint64_t stays;
    uint64_t lost;
    bool shown;
};

struct telling {
    const struct roast_columns_job *job;
    struct tale *tales; /* owned; of a worker, at the number of its latest stay */
};

static size_t latest_of(const struct roast_worker_sessions *stays, int32_t worker)
{
    return (size_t)(roast__latest_session(stays, worker) - stays->items);
}

/* False when out of memory. */
static bool gather(struct telling *telling)
{
    const struct roast_worker_sessions *stays = &telling->job->run->scheduler.sessions;

    telling->tales = roast__alloc(stays->count * sizeof(telling->tales[0]));
    for (size_t i = 0; telling->tales && i < stays->count; i++) {
        const struct roast_worker_session *stay = &stays->items[i];
        struct tale *tale = &telling->tales[latest_of(stays, stay->worker)];
        if (tale->stays == 0 || stay->joined_ns < tale->joined_ns)
            tale->joined_ns = stay->joined_ns;
        tale->stays++;
        tale->lost += stay->left_ns != 0 && !stay->expected;
    }
    return telling->tales != NULL;
}

/* Adds the tale of a worker to the last row. */
static void put_tale(struct telling *telling, size_t latest)
{
    const struct roast_columns_job *job = telling->job;
    const struct roast_worker_session *stay =
        &job->run->scheduler.sessions.items[latest];
    struct tale *tale = &telling->tales[latest];

    tale->shown = true;
    roast__fill_text(job->to, AT(name), string_of(job, stay->name));
    roast__fill_count(job->to, AT(threads), stay->threads);
    if (stay->memory_limit_bytes != 0)
        roast__fill_count(job->to, AT(memory_limit_bytes), stay->memory_limit_bytes);
    roast__fill_int(job->to, AT(joined), tale->joined_ns);
    if (stay->left_ns != 0) {
        roast__fill_int(job->to, AT(left), stay->left_ns);
        roast__fill_bool(job->to, AT(expected), stay->expected);
        roast__fill_text(job->to, AT(reason), string_of(job, stay->reason));
    }
    roast__fill_count(job->to, AT(stays), tale->stays);
    roast__fill_count(job->to, AT(lost), tale->lost);
}

/* Attempts ran on it: the row begins with what they say. */
static void put_known(void *context, struct roast_str worker)
{
    struct telling *telling = context;
    const struct roast_run *run = telling->job->run;
    int32_t number = roast__strings_find(&run->strings, worker);

    if (number >= 0 && roast__latest_session(&run->scheduler.sessions, number))
        put_tale(telling, latest_of(&run->scheduler.sessions, number));
}

/* No attempt did, or none that told. */
static void put_idle(struct telling *telling, size_t latest)
{
    const struct roast_columns_job *job = telling->job;
    const struct roast_worker_session *stay =
        &job->run->scheduler.sessions.items[latest];
    const struct roast_worker_samples *samples =
        roast__samples_find(&job->run->samples, stay->worker);

    roast__builder_row(job->to);
    roast__fill_text(job->to, AT(worker), string_of(job, stay->worker));
    roast__fill_text(job->to, AT(host), string_of(job, stay->host));
    if (stay->pid != 0)
        roast__fill_count(job->to, AT(pid), stay->pid);
    if (samples)
        roast__fill_number(job->to, AT(peak_memory_mb),
                           roast__highest_memory(samples) / (1024.0 * 1024.0));
    put_tale(telling, latest);
}

void roast__columns_workers(const struct roast_columns_job *job)
{
    const struct roast_worker_sessions *stays = &job->run->scheduler.sessions;
    struct telling telling = {.job = job};

    if (gather(&telling))
        roast__columns_summarized_with(job, put_known, &telling);
    else
        roast__builder_fail(job->to);
    for (size_t i = 0; i < stays->count && roast__builder_ok(job->to); i++) {
        size_t latest = latest_of(stays, stays->items[i].worker);
        if (!telling.tales[latest].shown)
            put_idle(&telling, latest);
    }
    roast__free(telling.tales);
}
