/* SPDX-License-Identifier: BSD-3-Clause */
/* task_joins.c - which task of a scheduler each attempt was.
 *
 * They have the hash of the key and the worker in common. A key that was tried several
 * times on one worker is several tasks: then the one counts in which the attempt began,
 * or the nearest. Clocks of hosts differ by a little, so an attempt may seem to begin
 * before its task. */
#include "aggregate/task_joins.h"

#include <stdlib.h>

#include "aggregate/calls.h"
#include "base/mem.h"
#include "store/array.h"

/* A task, in the order of key and worker, then of time. */
struct known_task {
    uint64_t pair;
    int64_t from_ns;
    int64_t to_ns;
    uint32_t task;
};

static uint64_t pair_of(int64_t key_hash, int32_t worker)
{
    return (uint64_t)(uint32_t)key_hash << 32 | (uint32_t)worker;
}

static int by_pair_and_time(const void *a, const void *b)
{
    const struct known_task *left = a, *right = b;

    if (left->pair != right->pair)
        return left->pair < right->pair ? -1 : 1;
    if (left->from_ns != right->from_ns)
        return left->from_ns < right->from_ns ? -1 : 1;
    return left->task < right->task ? -1 : left->task > right->task;
}

/* All tasks; returns owned, NULL when out of memory. */
static struct known_task *sort_tasks(const struct roast_tasks *tasks)
{
    struct known_task *known = roast__realloc(NULL, tasks->count * sizeof(*known));

    for (size_t i = 0; known && i < tasks->count; i++) {
        known[i] = (struct known_task){
            .pair = pair_of(tasks->key_hash[i], tasks->worker[i]),
            .from_ns =
                tasks->start_ns[i] != 0 ? tasks->start_ns[i] : tasks->assigned_ns[i],
            .to_ns = tasks->stop_ns[i],
            .task = (uint32_t)i,
        };
    }
    if (known && tasks->count > 1)
        qsort(known, tasks->count, sizeof(*known), by_pair_and_time);
    return known;
}

/* How many come before a task of this pair that begins behind a time. */
static size_t count_until(const struct known_task *known, size_t count, uint64_t pair,
                          int64_t time_ns)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (known[middle].pair < pair ||
            (known[middle].pair == pair && known[middle].from_ns <= time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The task of a pair in which something began, or the nearest; -1: there is none. */
static int32_t find_task(const struct known_task *known, size_t count, uint64_t pair,
                         int64_t start_ns)
{
    size_t behind = count_until(known, count, pair, start_ns);
    const struct known_task *before =
        behind > 0 && known[behind - 1].pair == pair ? &known[behind - 1] : NULL;
    const struct known_task *after =
        behind < count && known[behind].pair == pair ? &known[behind] : NULL;

    if (before && after && before->to_ns < start_ns &&
        roast__sat_sub(after->from_ns, start_ns) <
            roast__sat_sub(start_ns, before->from_ns))
        before = NULL;
    if (!before && !after)
        return -1;
    return (int32_t)(before ? before : after)->task;
}

static void join_attempts(struct roast_task_joins *joins, const struct roast_run *run,
                          const struct known_task *known)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_column *keys = &attempts->columns[ROAST_COLUMN_key_hash];

    for (size_t row = 0; row < attempts->count; row++) {
        int64_t start_ns, end_ns;
        joins->task_of[row] = -1;
        if (!roast__column_has(keys, row))
            continue;
        if (!roast__attempt_times(attempts, row, &start_ns, &end_ns))
            start_ns = INT64_MAX; /* the last one */
        int32_t worker = attempts->processes[attempts->process[row]].worker;
        int32_t task = find_task(known, run->scheduler.tasks.count,
                                 pair_of(keys->values[row], worker), start_ns);
        joins->task_of[row] = task;
        if (task >= 0)
            joins->has_row[task] = 1;
    }
}

bool roast__task_joins_find(struct roast_task_joins *joins, const struct roast_run *run)
{
    struct known_task *known = sort_tasks(&run->scheduler.tasks);

    joins->task_of =
        roast__realloc(NULL, run->attempts.count * sizeof(joins->task_of[0]));
    joins->has_row = roast__alloc(run->scheduler.tasks.count);
    bool found = known && joins->task_of && joins->has_row;
    if (found)
        join_attempts(joins, run, known);
    roast__free(known);
    return found;
}

void roast__task_joins_release(struct roast_task_joins *joins)
{
    roast__free(joins->task_of);
    roast__free(joins->has_row);
    *joins = (struct roast_task_joins){.task_of = NULL};
}
