/* SPDX-License-Identifier: BSD-3-Clause */
/* run_print_tasks.h - tasks and workers of a cluster as bytes; texts, not numbers. */
#ifndef ROAST_TESTS_FILE_RUN_PRINT_TASKS_H
#define ROAST_TESTS_FILE_RUN_PRINT_TASKS_H

#include "run_print_words.h"

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

static inline void print_stays(struct roast_buf *out, const roast_run *run)
{
    const struct roast_worker_sessions *stays = &run->scheduler.sessions;

    roast__buf_put_varint(out, stays->count);
    for (size_t i = 0; i < stays->count; i++) {
        const struct roast_worker_session *stay = &stays->items[i];
        print_string(out, run, stay->worker);
        print_string(out, run, stay->name);
        print_string(out, run, stay->host);
        print_string(out, run, stay->reason);
        roast__buf_put_signed(out, stay->joined_ns);
        roast__buf_put_signed(out, stay->left_ns);
        roast__buf_put_varint(out, stay->pid);
        roast__buf_put_varint(out, stay->threads);
        roast__buf_put_varint(out, stay->memory_limit_bytes);
        roast__buf_put_varint(out, stay->expected);
    }
    for (size_t i = 0; i < run->scheduler.clock_offsets.count; i++) {
        print_string(out, run, run->scheduler.clock_offsets.items[i].host);
        roast__buf_put_signed(out, run->scheduler.clock_offsets.items[i].offset_ns);
    }
}

#endif
