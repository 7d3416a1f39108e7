/* SPDX-License-Identifier: BSD-3-Clause */
/* run_print_tasks.h - tasks and worker sessions as bytes; texts instead of numbers. */
#ifndef ROAST_TESTS_FILE_RUN_PRINT_TASKS_H
#define ROAST_TESTS_FILE_RUN_PRINT_TASKS_H

#include "run_print_samples.h"

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

#endif
