/* SPDX-License-Identifier: BSD-3-Clause */
/* client_times.c - what the client did itself, by its marks.
 *
 * A begin without an end lasts to the end of its call: it raised. Calls in several
 * threads may overlap; then the earlier work counts, so that the times add up. */
#include "analyze/budget/client_times.h"

#include <stdlib.h>

#include "analyze/timeline.h"
#include "base/mem.h"

/* ---- marks ----------------------------------------------------------------------- */

/* The first of two marks from a moment on, and at the latest the end of its call. */
static int64_t end_after(const struct roast_summary_context *ctx, size_t moment,
                         enum roast_mark either, enum roast_mark other)
{
    const struct roast_run *run = ctx->run;

    for (size_t i = moment + 1; i < run->moment_count; i++) {
        enum roast_mark mark = run->moments[i].mark;
        if (mark == either || mark == other || mark == ROAST_MARK_RUN_END)
            return run->moments[i].time_ns;
    }
    return ctx->end_ns;
}

static void add(struct roast_client_times *times,
                const struct roast_summary_context *ctx, int64_t from_ns, int64_t to_ns,
                enum roast_client_work work)
{
    from_ns = roast__time_clamp(from_ns, ctx->run->start_ns, ctx->end_ns);
    to_ns = roast__time_clamp(to_ns, from_ns, ctx->end_ns);
    if (to_ns > from_ns)
        times->items[times->count++] = (struct roast_client_time){from_ns, to_ns, work};
}

static void read_marks(struct roast_client_times *times,
                       const struct roast_summary_context *ctx)
{
    for (size_t i = 0; i < ctx->run->moment_count; i++) {
        int64_t time_ns = ctx->run->moments[i].time_ns;
        switch (ctx->run->moments[i].mark) {
        case ROAST_MARK_POOL_START:
            times->pools[times->pool_count++] = (struct roast_pool){
                time_ns,
                end_after(ctx, i, ROAST_MARK_POOL_STOP_BEGIN, ROAST_MARK_POOL_START),
                INT64_MAX};
            break;
        case ROAST_MARK_POOL_STOP_BEGIN:
            add(times, ctx, time_ns,
                end_after(ctx, i, ROAST_MARK_POOL_STOP_END, ROAST_MARK_POOL_START),
                ROAST_CLIENT_POOL_STOP);
            break;
        case ROAST_MARK_POSTPROCESS_BEGIN:
            add(times, ctx, time_ns,
                end_after(ctx, i, ROAST_MARK_POSTPROCESS_END, ROAST_MARK_RUN_BEGIN),
                ROAST_CLIENT_POSTPROCESS);
            break;
        case ROAST_MARK_OWN_BEGIN:
            add(times, ctx, time_ns,
                end_after(ctx, i, ROAST_MARK_OWN_END, ROAST_MARK_OWN_BEGIN),
                ROAST_CLIENT_MONITOR);
            break;
        default:
            break;
        }
    }
}

/* ---- pools ----------------------------------------------------------------------- */

static struct roast_pool *last_begun(const struct roast_client_times *times,
                                     int64_t time_ns)
{
    if (times->pool_count == 0)
        return NULL;
    size_t begun = roast__count_until(&times->pools[0].from_ns, sizeof(times->pools[0]),
                                      times->pool_count, time_ns);
    return begun > 0 ? &times->pools[begun - 1] : NULL;
}

const struct roast_pool *roast__pool_at(const struct roast_client_times *times,
                                        int64_t time_ns)
{
    const struct roast_pool *pool = last_begun(times, time_ns);

    return pool && time_ns < pool->to_ns ? pool : NULL;
}

static void add_starts(struct roast_client_times *times,
                       const struct roast_summary_context *ctx,
                       const struct roast_schedule *schedule)
{
    for (size_t i = 0; i < schedule->job_count; i++) {
        struct roast_pool *pool = last_begun(times, schedule->jobs[i].start_ns);
        if (pool && schedule->jobs[i].start_ns < pool->first_job_ns)
            pool->first_job_ns = schedule->jobs[i].start_ns;
    }
    for (size_t i = 0; i < times->pool_count; i++) {
        const struct roast_pool *pool = &times->pools[i];
        add(times, ctx, pool->from_ns,
            pool->first_job_ns < pool->to_ns ? pool->first_job_ns : pool->to_ns,
            ROAST_CLIENT_POOL_START);
    }
}

/* ---- all ------------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
    const struct roast_client_time *left = a, *right = b;

    if (left->from_ns != right->from_ns)
        return left->from_ns < right->from_ns ? -1 : 1;
    return (int)left->work - (int)right->work;
}

bool roast__client_times_find(struct roast_client_times *times,
                              const struct roast_summary_context *ctx,
                              const struct roast_schedule *schedule)
{
    size_t most = ctx->run->moment_count;

    times->items = roast__alloc(most * sizeof(times->items[0]));
    times->pools = roast__alloc(most * sizeof(times->pools[0]));
    if (!times->items || !times->pools)
        return false;
    read_marks(times, ctx);
    add_starts(times, ctx, schedule);
    if (times->count > 1)
        qsort(times->items, times->count, sizeof(times->items[0]), by_begin);
    size_t kept = 0;
    int64_t until_ns = INT64_MIN;
    for (size_t i = 0; i < times->count; i++) {
        struct roast_client_time item = times->items[i];
        item.from_ns = item.from_ns > until_ns ? item.from_ns : until_ns;
        if (item.to_ns <= item.from_ns)
            continue;
        until_ns = item.to_ns;
        times->items[kept++] = item;
    }
    times->count = kept;
    return true;
}

void roast__client_times_release(struct roast_client_times *times)
{
    roast__free(times->items);
    roast__free(times->pools);
    *times = (struct roast_client_times){0};
}
