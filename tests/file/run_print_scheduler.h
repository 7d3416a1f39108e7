/* SPDX-License-Identifier: BSD-3-Clause */
/* run_print_scheduler.h - what a scheduler saw of a run as bytes; texts, not numbers. */
#ifndef ROAST_TESTS_FILE_RUN_PRINT_SCHEDULER_H
#define ROAST_TESTS_FILE_RUN_PRINT_SCHEDULER_H

#include "run_print_tasks.h"

static inline void print_sums(struct roast_buf *out, const roast_run *run)
{
    const struct roast_scheduler_view *view = &run->scheduler;

    roast__buf_put_varint(out, view->activity_count);
    for (size_t i = 0; i < view->activity_count; i++) {
        const struct roast_activity_row *row = &view->activities[i];
        print_string(out, run, row->context);
        print_string(out, run, row->prefix);
        print_string(out, run, row->activity);
        print_string(out, run, row->unit);
        roast__buf_put(out, &row->value, sizeof(row->value));
    }
    roast__buf_put_varint(out, view->hot_count);
    for (size_t i = 0; i < view->hot_count; i++) {
        const struct roast_hot_row *row = &view->hot[i];
        print_string(out, run, row->file);
        print_string(out, run, row->function);
        print_string(out, run, row->text);
        roast__buf_put_varint(out, row->line);
        roast__buf_put(out, &row->seconds, sizeof(row->seconds));
        roast__buf_put(out, &row->self_seconds, sizeof(row->self_seconds));
    }
}

/* Which task and worker an attempt was, and when it began. */
static inline void print_links(struct roast_buf *out, const roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;

    for (size_t row = 0; row < attempts->count; row++) {
        const struct roast_worker_process *process =
            &attempts->processes[attempts->process[row]];
        print_string(out, run, process->worker);
        roast__buf_put_signed(out, process->offset_ns);
        roast__buf_put_signed(
            out, roast__column_get(column(run, ROAST_COLUMN_key_hash), row, -1));
        roast__buf_put_signed(
            out, roast__column_get(column(run, ROAST_COLUMN_start_ns), row, 0));
        roast__buf_put_signed(
            out, roast__column_get(column(run, ROAST_COLUMN_task_start_ns), row, 0));
    }
}

/* Everything that was read must have been settled before. */
static inline void print_scheduler(struct roast_buf *out, const roast_run *run)
{
    print_tasks(out, run);
    print_stays(out, run);
    print_sums(out, run);
    print_links(out, run);
}

#endif
