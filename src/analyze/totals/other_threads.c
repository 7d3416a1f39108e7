/* SPDX-License-Identifier: BSD-3-Clause */
/* other_threads.c - CPU time of threads that are no threads of chunks.
 *
 * A chunk knows the CPU time of its thread and that of its whole process over the same
 * time. The difference is that of other threads, unless other chunks ran in the process.
 * With at most n at once, each of them gets 1 / n of the CPU time of the process: the sum
 * is at most what the process used, so the difference is a lower bound. */
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "run/cold_fields.h"

#define BIT(name) (UINT64_C(1) << ROAST_FIELD_##name)

/* In the client other threads merge outputs or run the scheduler, unless the chunk is in
 * its main thread. */
static bool is_comparable(const struct roast_summary_context *ctx, size_t row,
                          const roast_record *rec)
{
    const struct roast_worker_process *process =
        &ctx->run->attempts.processes[ctx->run->attempts.process[row]];

    return !roast__is_client_process(ctx->run, process) ||
           (roast_record_has(rec, ROAST_FIELD_thread) &&
            rec->values[ROAST_FIELD_thread].u64 == process->pid);
}

void roast__summarize_other_threads(const struct roast_summary_context *ctx)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    const struct roast_column *columns = attempts->columns;
    double other_s = 0;
    bool any = false;

    if (columns[ROAST_COLUMN_task_process_cpu_ns].known == 0)
        return;
    for (size_t row = 0; row < attempts->count; row++) {
        double all_ns =
            roast__column_number(&columns[ROAST_COLUMN_task_process_cpu_ns], row);
        double own_ns = roast__column_number(&columns[ROAST_COLUMN_task_cpu_ns], row);
        roast_record rec;
        if (isnan(all_ns + own_ns) || !roast__is_chunk(ctx, row) ||
            !roast__attempt_fields(ctx->run, row, BIT(concurrency) | BIT(thread),
                                   &rec) ||
            !roast_record_has(&rec, ROAST_FIELD_concurrency) ||
            !is_comparable(ctx, row, &rec))
            continue;
        double at_once = (double)rec.values[ROAST_FIELD_concurrency].u64;
        other_s += (all_ns / fmax(at_once, 1) - own_ns) / 1e9;
        any = true;
    }
    if (any)
        roast__context_set(ctx, ROAST_METRIC_other_threads_cpu_seconds,
                           fmax(other_s, 0));
}
