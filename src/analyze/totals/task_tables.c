/* SPDX-License-Identifier: BSD-3-Clause */
/* task_tables.c - the tasks of a cluster by kind, and the hottest lines.
 *
 * A task that was moved to another worker before its start is counted there. Dask has no
 * times of failed tasks: their attempts are used. Those of tasks lost with their worker
 * are not known. */
#include "analyze/budget/task_joins.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "analyze/totals/task_kinds.h"
#include "base/mem.h"

enum { MOST_HOT_LINES = 20, MOST_PREFIXES = 20 };

/* ---- kinds ----------------------------------------------------------------------- */

struct kind_sums {
    uint64_t ends[ROAST_TASK_END_LAST];
    uint64_t count;
    double seconds;
};

static bool is_untimed_failure(const struct roast_tasks *tasks, size_t task)
{
    unsigned end = tasks->end[task] & ~(unsigned)ROAST_TASK_OURS;

    return tasks->start_ns[task] == 0 &&
           (end == ROAST_TASK_failed || end == ROAST_TASK_retried);
}

/* False when out of memory. */
static bool add_failed(struct kind_sums sums[ROAST_KIND_COUNT],
                       const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    struct roast_task_joins joins = {.task_of = NULL};

    if (ctx->totals->roles.rows[ROAST_ROLE_FAILED] == 0)
        return true;
    bool found = roast__task_joins_find(&joins, run);
    for (size_t row = 0; found && row < run->attempts.count; row++) {
        int32_t task = joins.task_of[row];
        int64_t start_ns, end_ns;
        if (ctx->totals->roles.of_row[row] == ROAST_ROLE_FAILED && task >= 0 &&
            is_untimed_failure(&run->scheduler.tasks, (size_t)task) &&
            roast__attempt_times(&run->attempts, row, &start_ns, &end_ns))
            sums[ctx->task_kinds[task]].seconds +=
                roast__seconds_between(start_ns, end_ns);
    }
    roast__task_joins_release(&joins);
    return found;
}

static void put_kind(roast_table *table, const struct roast_summary_context *ctx,
                     int kind, const struct kind_sums *sums, const unsigned char *names)
{
    const char *name = roast_task_kind_name((enum roast_task_kind)kind);

    roast__table_row(table);
    roast__fill_string(table, ROAST_COL_tasks_by_kind_kind, name);
    roast__fill_count(table, ROAST_COL_tasks_by_kind_count, sums->count);
    roast__fill_number(table, ROAST_COL_tasks_by_kind_seconds, sums->seconds);
    roast__fill_count(table, ROAST_COL_tasks_by_kind_ok, sums->ends[ROAST_TASK_ok]);
    roast__fill_count(table, ROAST_COL_tasks_by_kind_failed,
                      sums->ends[ROAST_TASK_failed]);
    roast__fill_count(table, ROAST_COL_tasks_by_kind_retried,
                      sums->ends[ROAST_TASK_retried]);
    roast__fill_count(table, ROAST_COL_tasks_by_kind_sent_back,
                      sums->ends[ROAST_TASK_sent_back]);
    roast__fill_count(table, ROAST_COL_tasks_by_kind_lost, sums->ends[ROAST_TASK_lost]);
    roast__fill_count(table, ROAST_COL_tasks_by_kind_cancelled,
                      sums->ends[ROAST_TASK_cancelled]);
    roast__fill_count(table, ROAST_COL_tasks_by_kind_running,
                      sums->ends[ROAST_TASK_running]);
    struct roast_buf list = {0};
    size_t count = 0;
    for (size_t i = 0; i < ctx->run->strings.count && count < MOST_PREFIXES; i++) {
        if (names[i] >> kind & 1) {
            roast__list_add(&list, roast__context_text(ctx, (int32_t)i));
            count++;
        }
    }
    roast__fill_list(table, ROAST_COL_tasks_by_kind_prefixes, &list);
}

void roast__summarize_task_kinds(const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    struct kind_sums sums[ROAST_KIND_COUNT] = {{.count = 0}};
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_tasks_by_kind);

    if (!roast__has_scheduled(&run->scheduler.tasks))
        return;
    unsigned char *names = roast__alloc(run->strings.count);
    if (names) {
        /* Bit n of names[prefix]: tasks of kind n have this prefix. */
        for (size_t i = 0; i < run->scheduler.tasks.count; i++) {
            unsigned end = run->scheduler.tasks.end[i] & ~(unsigned)ROAST_TASK_OURS;
            struct kind_sums *own = &sums[ctx->task_kinds[i]];
            own->ends[end]++;
            own->count += end != ROAST_TASK_moved;
            if (run->scheduler.tasks.start_ns[i] != 0)
                own->seconds += roast__seconds_between(run->scheduler.tasks.start_ns[i],
                                                       run->scheduler.tasks.stop_ns[i]);
            if (run->scheduler.tasks.prefix[i] >= 0)
                names[run->scheduler.tasks.prefix[i]] |=
                    (unsigned char)(1u << ctx->task_kinds[i]);
        }
    }
    if (!names || !add_failed(sums, ctx))
        ctx->summary->failed = true;
    for (int kind = 0; names && kind < ROAST_KIND_COUNT; kind++) {
        if (sums[kind].count > 0)
            put_kind(table, ctx, kind, &sums[kind], names);
    }
    roast__free(names);
}

/* ---- hot lines ------------------------------------------------------------------- */

/* The next hottest line after `before`, equal ones in order of arrival; NULL: no more. */
static const struct roast_hot_row *next_hot(const struct roast_scheduler_view *view,
                                            const struct roast_hot_row *before)
{
    const struct roast_hot_row *best = NULL;

    for (size_t i = 0; i < view->hot_count; i++) {
        const struct roast_hot_row *row = &view->hot[i];
        bool follows = !before || row->seconds < before->seconds ||
                       (row->seconds == before->seconds && row > before);
        if (follows && (!best || row->seconds > best->seconds))
            best = row;
    }
    return best;
}

void roast__summarize_hot_lines(const struct roast_summary_context *ctx)
{
    const struct roast_scheduler_view *view = &ctx->run->scheduler;
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_hottest_lines);
    const struct roast_hot_row *row = next_hot(view, NULL);

    for (int i = 0; row && i < MOST_HOT_LINES; i++, row = next_hot(view, row)) {
        roast__table_row(table);
        roast__fill_text(table, ROAST_COL_hottest_lines_file,
                         roast__context_text(ctx, row->file));
        roast__fill_count(table, ROAST_COL_hottest_lines_line, row->line);
        roast__fill_text(table, ROAST_COL_hottest_lines_function,
                         roast__context_text(ctx, row->function));
        roast__fill_text(table, ROAST_COL_hottest_lines_text,
                         roast__context_text(ctx, row->text));
        roast__fill_number(table, ROAST_COL_hottest_lines_seconds, row->seconds);
        roast__fill_number(table, ROAST_COL_hottest_lines_self_seconds,
                           row->self_seconds);
    }
}
