/* SPDX-License-Identifier: BSD-3-Clause */
/* fine.c - CPU time, waiting and overheads of tasks from Dask's spans.
 *
 * Dask counts tasks in the span that used their name first: in a second run of a class
 * the own span may be empty, or contain tasks of other clients. Spans are compared with
 * the tasks that the scheduler ran: if they differ much, our own clocks are used, and the
 * other metrics are not known. */
#include "analyze/budget/task_joins.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/timeline.h"
#include "analyze/totals/task_kinds.h"
#include "base/mem.h"

/* Spans belong to a run if their seconds are within these factors of the seconds of its
 * tasks, plus a tolerance for clocks. */
static const double min_factor = 0.5;
static const double max_factor = 1.5;
static const double tolerance_s = 0.1;

static const char *const no_spans = "there are no Dask spans";
static const char *const other_span =
    "Dask added these tasks to an earlier span whose tasks have the same names";

/* ---- spans ----------------------------------------------------------------------- */

struct spans {
    double sums[ROAST_FINE_SUMS];
    double processor_cpu_s;
    double processor_noncpu_s;
    bool any;           /* any CPU of tasks at all */
    bool has_processor; /* a span has the prefix of the processor */
    double tasks_s;     /* of its tasks, measured by the scheduler; NaN: not known */
};

/* Prefixes of the processor's tasks, by the number of their text; owned. */
struct prefixes {
    bool *is_processors;
    bool all; /* the name is not known: every task is the processor's */
};

static void add_activity(struct spans *spans, const struct roast_run *run,
                         const struct roast_activity_row *row,
                         const struct prefixes *prefixes)
{
    bool of_task = row->prefix >= 0;
    bool own =
        of_task && (prefixes->all || prefixes->is_processors[(size_t)row->prefix]);
    enum roast_fine_sum sum =
        roast_fine_sum_of(roast__strings_get(&run->strings, row->activity),
                          roast__strings_get(&run->strings, row->unit));

    if (sum == ROAST_FINE_SUMS || (sum == ROAST_FINE_MEMORY_READ_BYTES && !of_task))
        return; /* reads for sending to other workers are no input of a task */
    spans->sums[sum] += row->value;
    if (sum == ROAST_FINE_CPU_S) {
        spans->any = true;
        spans->has_processor |= own;
        spans->processor_cpu_s += own ? row->value : 0;
    }
    if (sum == ROAST_FINE_NONCPU_S)
        spans->processor_noncpu_s += own ? row->value : 0;
}

/* False when out of memory. */
static bool read_spans(struct spans *spans, const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    const struct roast_scheduler_view *view = &run->scheduler;
    struct prefixes prefixes = {.is_processors = NULL};

    *spans = (struct spans){.tasks_s = NAN};
    if (view->activity_count == 0)
        return true;
    prefixes.is_processors = roast__alloc(run->strings.count * sizeof(bool));
    if (!prefixes.is_processors)
        return false;
    const struct roast_tasks *tasks = &view->tasks;
    if (roast__has_scheduled(tasks)) {
        for (size_t i = 0; i < tasks->count; i++) {
            if (ctx->task_kinds[i] == ROAST_KIND_chunk && tasks->prefix[i] >= 0)
                prefixes.is_processors[tasks->prefix[i]] = true;
        }
        double tasks_s = 0;
        for (size_t i = 0; i < tasks->count; i++) {
            bool counts = tasks->end[i] == (ROAST_TASK_ok | ROAST_TASK_OURS) &&
                          tasks->prefix[i] >= 0 && tasks->start_ns[i] != 0;
            if (counts && prefixes.is_processors[tasks->prefix[i]])
                tasks_s +=
                    roast__seconds_between(tasks->start_ns[i], tasks->stop_ns[i]);
        }
        spans->tasks_s = tasks_s;
    } else { /* only the name of the class is known */
        struct roast_str name =
            roast__notes_get(&run->notes, ROAST_NOTES_run, roast_str_of("processor"));
        int32_t number = roast__strings_find(&run->strings, name);
        prefixes.all = !name.data;
        if (name.data && number >= 0)
            prefixes.is_processors[number] = true;
    }
    for (size_t i = 0; i < view->activity_count; i++)
        add_activity(spans, run, &view->activities[i], &prefixes);
    roast__free(prefixes.is_processors);
    return true;
}

/* Whether they contain tasks of other runs, or lack tasks of this run. */
static bool differ_from_tasks(const struct spans *spans)
{
    double span_s = spans->processor_cpu_s + spans->processor_noncpu_s;

    return span_s < min_factor * spans->tasks_s ||
           span_s > max_factor * spans->tasks_s + tolerance_s;
}

/* ---- own clocks ------------------------------------------------------------------ */

struct clocks {
    double cpu_s; /* NaN: not known for all chunks */
    double noncpu_s;
};

/* Of process(), of the chunks that count. */
static struct clocks clocks_of_process(const struct roast_totals *totals)
{
    const struct roast_group *all = &totals->all;

    if (all->chunks == 0 || totals->sums.noncpu_chunks != all->chunks)
        return (struct clocks){NAN, NAN};
    return (struct clocks){all->sums[ROAST_CPU_NS] / 1e9, totals->sums.noncpu_ns / 1e9};
}

/* Of whole successful attempts. */
static struct clocks clocks_of_successful(const struct roast_totals *totals)
{
    const uint64_t *rows = totals->roles.rows;
    uint64_t ended =
        rows[ROAST_ROLE_COUNTS] + rows[ROAST_ROLE_BARE] + rows[ROAST_ROLE_REPEAT];

    if (ended == 0 || totals->sums.clocked != ended)
        return (struct clocks){NAN, NAN};
    return (struct clocks){totals->sums.clocked_cpu_ns / 1e9,
                           totals->sums.clocked_noncpu_ns / 1e9};
}

/* Dask counts failed attempts inside a successful task as CPU time and waiting, but not
 * those of a failed task. */
static bool is_failure_in_ok_task(const struct roast_summary_context *ctx,
                                  const struct roast_task_joins *joins, size_t row)
{
    int32_t task = joins->task_of[row];

    return ctx->totals->roles.of_row[row] == ROAST_ROLE_FAILED && task >= 0 &&
           ctx->task_kinds[task] == ROAST_KIND_chunk &&
           ctx->run->scheduler.tasks.end[task] == (ROAST_TASK_ok | ROAST_TASK_OURS);
}

/* Of whole attempts, opening files included, as in Dask's tasks. */
static struct clocks clocks_of_tasks(const struct roast_summary_context *ctx)
{
    struct roast_task_joins joins = {.task_of = NULL};
    struct clocks clocks = clocks_of_successful(ctx->totals);
    bool any_failed = ctx->task_kinds && !isnan(clocks.cpu_s) &&
                      ctx->totals->roles.rows[ROAST_ROLE_FAILED] > 0;

    if (any_failed && roast__task_joins_find(&joins, ctx->run)) {
        const struct roast_attempts *attempts = &ctx->run->attempts;
        const struct roast_column *took = &attempts->columns[ROAST_COLUMN_task_ns];
        const struct roast_column *used = &attempts->columns[ROAST_COLUMN_task_cpu_ns];
        for (size_t row = 0; row < attempts->count; row++) {
            if (!is_failure_in_ok_task(ctx, &joins, row))
                continue;
            double cpu_s = roast__column_number(used, row) / 1e9;
            double wait_s = roast__column_number(took, row) / 1e9 - cpu_s;
            clocks.cpu_s += cpu_s;
            clocks.noncpu_s += wait_s < 0 ? 0 : wait_s; /* keeps NaN */
        }
    } else if (any_failed) {
        ctx->summary->failed = true;
    }
    roast__task_joins_release(&joins);
    return clocks;
}

/* Of process() only, if whole attempts were not measured everywhere. */
static struct clocks own_clocks(const struct roast_summary_context *ctx)
{
    struct clocks whole = clocks_of_tasks(ctx);

    return isnan(whole.cpu_s + whole.noncpu_s) ? clocks_of_process(ctx->totals) : whole;
}

double roast__recorded_task_seconds(const struct roast_summary_context *ctx)
{
    struct clocks clocks = clocks_of_tasks(ctx);

    return clocks.cpu_s + clocks.noncpu_s;
}

/* ---- metrics --------------------------------------------------------------------- */

static void set_processor(const struct roast_summary_context *ctx, struct clocks clocks)
{
    roast__context_set(ctx, ROAST_METRIC_processor_cpu_time_seconds, clocks.cpu_s);
    roast__context_set(ctx, ROAST_METRIC_processor_noncpu_time_seconds,
                       clocks.noncpu_s);
}

static void set_all_tasks(const struct roast_summary_context *ctx, struct clocks clocks)
{
    roast__context_set(ctx, ROAST_METRIC_cpu_time_seconds, clocks.cpu_s);
    roast__context_set(ctx, ROAST_METRIC_io_time_seconds, clocks.noncpu_s);
}

static void set_from_spans(const struct roast_summary_context *ctx,
                           const struct spans *spans)
{
    const double *sums = spans->sums;
    double own_cpu_s = clocks_of_tasks(ctx).cpu_s;

    for (int i = 0; i < ROAST_FINE_SUMS; i++)
        roast__context_set(ctx, roast_fine_metric((enum roast_fine_sum)i), sums[i]);
    if (!spans->has_processor) {
        set_processor(ctx, own_clocks(ctx));
        return;
    }
    set_processor(ctx,
                  (struct clocks){spans->processor_cpu_s, spans->processor_noncpu_s});
    roast__context_set(ctx, ROAST_METRIC_overhead_cpu_time_seconds,
                       sums[ROAST_FINE_CPU_S] - spans->processor_cpu_s);
    roast__context_set(ctx, ROAST_METRIC_overhead_noncpu_time_seconds,
                       sums[ROAST_FINE_NONCPU_S] - spans->processor_noncpu_s +
                           sums[ROAST_FINE_FAILED_S]);
    if (spans->processor_cpu_s > 0)
        roast__context_set(ctx, ROAST_METRIC_dask_cpu_ratio,
                           own_cpu_s / spans->processor_cpu_s);
}

void roast__summarize_fine(const struct roast_summary_context *ctx)
{
    struct spans spans;

    if (!read_spans(&spans, ctx)) {
        ctx->summary->failed = true;
        return;
    }
    if (spans.any && !differ_from_tasks(&spans)) {
        set_from_spans(ctx, &spans);
    } else { /* imported runs have two sums of spans only */
        struct clocks clocks = own_clocks(ctx);
        set_processor(ctx, clocks);
        set_all_tasks(ctx, clocks);
        set_all_tasks(
            ctx,
            (struct clocks){roast__context_fact(ctx, ROAST_FACT_span_cpu_seconds),
                            roast__context_fact(ctx, ROAST_FACT_span_noncpu_seconds)});
    }
    roast_derive_fine(&ctx->summary->values);
}

const char *roast__without_spans(const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;

    if (ctx->summary->values.known[ROAST_METRIC_executor_time_seconds])
        return NULL;
    return run->scheduler.activity_count > 0 ||
                   roast__has_scheduled(&run->scheduler.tasks)
               ? other_span
               : no_spans;
}
