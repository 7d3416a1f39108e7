/* SPDX-License-Identifier: BSD-3-Clause */
/* task_joins.c - joins attempts with the tasks of a scheduler.
 *
 * They are joined by the hash of the key and the worker. A key that ran several times on
 * one worker is several tasks: the attempt belongs to the one in which it started, or
 * the nearest, because clocks of hosts differ and it may seem to start before its
 * task. */
#include "analyze/budget/task_joins.h"

#include "analyze/calls.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/sort.h"

/* Tasks and attempts by their pair of key and worker. Owned. */
struct joining {
    const struct roast_run *run;
    uint64_t workers; /* all numbers of workers are below this - 1 */
    struct roast_keyed *tasks;
    struct roast_keyed *rows;
    size_t row_count; /* attempts with a key */
};

/* ---- pairs ----------------------------------------------------------------------- */

/* Number 0 is no worker: see pair_of(). */
static uint64_t count_workers(const struct roast_run *run)
{
    const struct roast_tasks *tasks = &run->scheduler.tasks;
    int32_t most = -1;

    for (size_t i = 0; i < tasks->count; i++)
        most = tasks->worker[i] > most ? tasks->worker[i] : most;
    for (size_t i = 0; i < run->attempts.process_count; i++) {
        int32_t worker = run->attempts.processes[i].worker;
        most = worker > most ? worker : most;
    }
    return (uint64_t)((int64_t)most + 2);
}

/* Small numbers are sorted faster. */
static int64_t pair_of(const struct joining *joining, int64_t key_hash, int32_t worker)
{
    uint64_t number = (uint64_t)((int64_t)worker + 1);

    return (int64_t)((uint32_t)key_hash * joining->workers + number);
}

/* ---- tasks of one pair ----------------------------------------------------------- */

static int64_t from_of(const struct roast_tasks *tasks, uint32_t task)
{
    return tasks->start_ns[task] != 0 ? tasks->start_ns[task]
                                      : tasks->assigned_ns[task];
}

/* The number of tasks, sorted by time, that started up to a time. */
static size_t count_until(const struct roast_keyed *same, size_t count,
                          const struct roast_tasks *tasks, int64_t time_ns)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (from_of(tasks, same[middle].item) <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The task that was running at a time, or the nearest one; count > 0. */
static uint32_t find_task(const struct roast_keyed *same, size_t count,
                          const struct roast_tasks *tasks, int64_t start_ns)
{
    size_t behind = count_until(same, count, tasks, start_ns);

    if (behind == 0)
        return same[0].item;
    uint32_t before = same[behind - 1].item;
    if (behind == count || tasks->stop_ns[before] >= start_ns)
        return before;
    uint32_t after = same[behind].item;
    bool is_nearer = roast__sat_sub(from_of(tasks, after), start_ns) <
                     roast__sat_sub(start_ns, from_of(tasks, before));
    return is_nearer ? after : before;
}

bool roast__task_joins_find(struct roast_task_joins *joins, const struct roast_run *run)
{
    size_t task_count = run->scheduler.tasks.count, rows = run->attempts.count;
    struct joining joining = {.run = run, .workers = count_workers(run)};

    joining.tasks = roast__keyed_new(task_count);
    joining.rows = roast__keyed_new(task_count > 0 ? rows : 0);
    joins->task_of = roast__realloc(NULL, rows * sizeof(joins->task_of[0]));
    joins->has_row = roast__alloc(task_count);
    bool found = joining.tasks && joining.rows && joins->task_of && joins->has_row;
    for (size_t row = 0; found && row < rows; row++)
        joins->task_of[row] = -1;
    if (found && task_count > 0) {
        const struct roast_tasks *tasks = &joining.run->scheduler.tasks;
        for (uint32_t i = 0; i < tasks->count; i++)
            joining.tasks[i] = (struct roast_keyed){
                pair_of(&joining, tasks->key_hash[i], tasks->worker[i]), i};
        roast__keyed_sort(joining.tasks, joining.tasks + tasks->count, tasks->count);
        const struct roast_attempts *attempts = &joining.run->attempts;
        const struct roast_column *keys = &attempts->columns[ROAST_COLUMN_key_hash];
        for (uint32_t row = 0; row < attempts->count; row++) {
            if (!roast__column_has(keys, row))
                continue;
            int32_t worker = attempts->processes[attempts->process[row]].worker;
            joining.rows[joining.row_count++] =
                (struct roast_keyed){pair_of(&joining, keys->values[row], worker), row};
        }
        roast__keyed_sort(joining.rows, joining.rows + joining.row_count,
                          joining.row_count);
        /* Both lists are in the same order. */
        struct roast_keyed *known = joining.tasks;
        size_t row = 0;
        for (size_t from = 0, to; from < tasks->count; from = to) {
            to = from + 1;
            while (to < tasks->count && known[to].key == known[from].key)
                to++;
            while (row < joining.row_count && joining.rows[row].key < known[from].key)
                row++;
            struct roast_keyed *same = known + from; /* tasks of one pair, by time */
            int64_t pair = same[0].key;
            for (size_t i = 0; i < to - from; i++)
                same[i].key = from_of(tasks, same[i].item);
            roast__keyed_sort(same, known + tasks->count, to - from);
            for (size_t i = 0; i < to - from; i++)
                same[i].key = pair;
            for (; row < joining.row_count && joining.rows[row].key == pair; row++) {
                uint32_t attempt = joining.rows[row].item;
                int64_t start_ns, end_ns;
                if (!roast__attempt_times(attempts, attempt, &start_ns, &end_ns))
                    start_ns = INT64_MAX; /* the last one */
                uint32_t task = find_task(same, to - from, tasks, start_ns);
                joins->task_of[attempt] = (int32_t)task;
                joins->has_row[task] = 1;
            }
        }
    }
    roast__free(joining.tasks);
    roast__free(joining.rows);
    return found;
}

void roast__task_joins_release(struct roast_task_joins *joins)
{
    roast__free(joins->task_of);
    roast__free(joins->has_row);
    *joins = (struct roast_task_joins){.task_of = NULL};
}
