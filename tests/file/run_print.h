/* SPDX-License-Identifier: BSD-3-Clause */
/* run_print.h - the contents of a run as bytes, to compare runs. Accepted run ids are
 * left out: a reader of a file does not need them. */
#ifndef ROAST_TESTS_FILE_RUN_PRINT_H
#define ROAST_TESTS_FILE_RUN_PRINT_H

#include "run/runs.h"

static inline void print_text(struct roast_buf *out, struct roast_str text)
{
    roast__buf_put_varint(out, text.data ? text.size_bytes + 1 : 0);
    roast__buf_put(out, text.data, text.size_bytes);
}

static inline void print_note(void *context, struct roast_str name,
                              struct roast_str text)
{
    print_text(context, name);
    print_text(context, text);
}

/* Clock, host, facts, losses, words. */
static inline void print_facts(struct roast_buf *out, roast_run *run)
{
    struct roast_span span = roast_run_span(run);
    char first_error[200];

    roast__buf_put(out, &span, sizeof(span));
    roast__buf_put_signed(out, run->epoch_minus_mono_ns);
    print_text(out, roast__strings_get(&run->strings, run->host));
    for (int i = 0; i < ROAST_FACT_COUNT; i++) {
        double value = -1;
        bool known = roast_run_fact(run, (enum roast_fact)i, &value);
        roast__buf_put_varint(out, known);
        roast__buf_put(out, &value, sizeof(value));
    }
    for (int i = 0; i < ROAST_RUN_LOSS_COUNT; i++) {
        if (i != ROAST_RUN_LOSS_live_damaged) /* told apart */
            roast__buf_put_varint(out, roast_run_lost(run, (enum roast_run_loss)i));
    }
    for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++) {
        roast__buf_put_varint(out, (uint64_t)i);
        roast_run_notes(run, (enum roast_note_group)i, print_note, out);
    }
    roast_run_first_error(run, first_error, sizeof(first_error));
    print_text(out, roast_str_of(first_error));
}

static inline void print_moments(struct roast_buf *out, const roast_run *run)
{
    for (size_t i = 0; i < run->offer_count; i++) {
        roast__buf_put_signed(out, run->offers[i].time_ns);
        roast__buf_put_varint(out, run->offers[i].workers);
        roast__buf_put_varint(out, run->offers[i].threads);
    }
    for (size_t i = 0; i < run->moment_count; i++) {
        roast__buf_put_varint(out, run->moments[i].mark);
        roast__buf_put_signed(out, run->moments[i].time_ns);
    }
    for (size_t i = 0; i < run->count_count; i++) {
        roast__buf_put_signed(out, run->counts[i].time_ns);
        roast__buf_put_varint(out, run->counts[i].workers);
    }
    for (size_t i = 0; i < run->names.count; i++)
        print_text(out, roast__strings_get(&run->strings, run->names.items[i].text));
}

/* As they are packed. */
static inline void print_samples(struct roast_buf *out, const roast_run *run)
{
    for (size_t i = 0; i < run->samples.count; i++) {
        const struct roast_worker_samples *worker = &run->samples.workers[i];
        const uint64_t numbers[] = {worker->ticks,
                                    worker->stride,
                                    worker->skipped,
                                    worker->pid,
                                    worker->parent_pid,
                                    worker->started_ticks,
                                    worker->last_cpu_ns,
                                    worker->last_read_bytes,
                                    worker->last_write_bytes,
                                    (uint64_t)worker->last_use_ns};
        print_text(out, roast__strings_get(&run->strings, worker->name));
        roast__buf_put(out, numbers, sizeof(numbers));
        print_text(out, buf_str(&worker->times));
        for (int k = 0; k < ROAST_SERIES_COUNT; k++)
            print_text(
                out, buf_str(&roast__series_of(worker, (enum roast_series)k)->changes));
    }
}

static inline void print_tracking(struct roast_buf *out, roast_run *run)
{
    struct roast_tracking tracking;

    assert_int_equal(roast_run_tracking(run, &tracking, NULL), ROAST_OK);
    for (size_t i = 0; i < tracking.count; i++) {
        const struct roast_timeline *line = &tracking.lines[i];
        print_text(out, roast_str_of(line->worker));
        roast__buf_put_varint(out, line->series);
        roast__buf_put(out, line->points, line->count * sizeof(*line->points));
    }
    roast_tracking_release(&tracking);
}

static inline void print_chunks(struct roast_buf *out, roast_run *run)
{
    struct roast_chunk_list list;

    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    for (size_t i = 0; i < list.count; i++) {
        print_text(out, str_from(list.frames + list.items[i].offset,
                                 list.items[i].size_bytes));
        roast__buf_put_varint(out, list.items[i].chunk_id);
        roast__buf_put_varint(out, list.items[i].attempt);
    }
    roast_chunk_list_release(&list);
    roast__buf_put_varint(out, run->attempts.count);
    roast__buf_put(out, run->attempts.status, run->attempts.count);
    for (size_t i = 0; i < run->attempts.count; i++) { /* begun: only if nothing else */
        unsigned char parts = run->attempts.parts[i];
        parts &= parts == ROAST_PART_BEGIN ? 0xff : (unsigned char)~ROAST_PART_BEGIN;
        roast__buf_put(out, &parts, 1);
    }
}

static inline void print_string(struct roast_buf *out, const roast_run *run,
                                int32_t number)
{
    print_text(out, roast__strings_get(&run->strings, number));
}

static inline void print_tasks(struct roast_buf *out, const roast_run *run)
{
    const struct roast_tasks *tasks = &run->scheduler.tasks;

    roast__buf_put_varint(out, tasks->count);
    for (size_t i = 0; i < tasks->count; i++) {
        print_string(out, run, tasks->prefix[i]);
        print_string(out, run, tasks->worker[i]);
        roast__buf_put_varint(out, tasks->key_hash[i]);
        roast__buf_put_varint(out, tasks->end[i]);
        roast__buf_put_signed(out, tasks->assigned_ns[i]);
        roast__buf_put_signed(out, tasks->start_ns[i]);
        roast__buf_put_signed(out, tasks->stop_ns[i]);
    }
}

static inline void print_sessions(struct roast_buf *out, const roast_run *run)
{
    const struct roast_worker_sessions *sessions = &run->scheduler.sessions;

    roast__buf_put_varint(out, sessions->count);
    for (size_t i = 0; i < sessions->count; i++) {
        const struct roast_worker_session *session = &sessions->items[i];
        print_string(out, run, session->worker);
        print_string(out, run, session->name);
        print_string(out, run, session->host);
        print_string(out, run, session->reason);
        roast__buf_put_signed(out, session->joined_ns);
        roast__buf_put_signed(out, session->left_ns);
        roast__buf_put_varint(out, session->pid);
        roast__buf_put_varint(out, session->threads);
        roast__buf_put_varint(out, session->memory_limit_bytes);
        roast__buf_put_varint(out, session->expected);
    }
    for (size_t i = 0; i < run->scheduler.clock_offsets.count; i++) {
        print_string(out, run, run->scheduler.clock_offsets.items[i].host);
        roast__buf_put_signed(out, run->scheduler.clock_offsets.items[i].offset_ns);
    }
}

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
