/* SPDX-License-Identifier: BSD-3-Clause */
/* run_print.h - the contents of a run as bytes, to compare runs. Accepted run ids are
 * left out: a reader of a file does not need them. */
#ifndef ROAST_TESTS_FILE_RUN_PRINT_H
#define ROAST_TESTS_FILE_RUN_PRINT_H

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

/* Task, worker and start of each attempt. */
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

/* Pending data must be resolved before. */
static inline void print_scheduler(struct roast_buf *out, const roast_run *run)
{
    print_tasks(out, run);
    print_sessions(out, run);
    print_sums(out, run);
    print_links(out, run);
}

/* Returns owned. */
static inline struct roast_buf print_run(roast_run *run)
{
    struct roast_buf out = {NULL, 0, 0, false};

    print_facts(&out, run);
    print_moments(&out, run);
    print_samples(&out, run);
    print_tracking(&out, run);
    print_chunks(&out, run);
    print_scheduler(&out, run);
    assert_true(roast__buf_ok(&out));
    return out;
}

static inline bool has_print(roast_run *run, const struct roast_buf *print)
{
    struct roast_buf got = print_run(run);
    bool same = str_equal(buf_str(&got), buf_str(print));

    roast__buf_release(&got);
    return same;
}

static inline void assert_same_run(roast_run *a, roast_run *b)
{
    struct roast_buf print = print_run(a);

    assert_true(has_print(b, &print));
    roast__buf_release(&print);
}

#endif
