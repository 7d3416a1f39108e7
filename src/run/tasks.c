/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks.c - tasks of a cluster into a run.
 *
 * A million of them have a handful of prefixes and come in bursts of one: the text of
 * the last task is looked at before the table of all texts. */
#include "run/tasks.h"

#include "base/array.h"
#include "base/mem.h"
#include "run/apply.h"
#include "run/clean.h"
#include "run/journal_write.h"

enum { SMALLEST_CAP = 64 };

/* ---- room ------------------------------------------------------------------------ */

/* Arrays that grew before one failed are larger than `cap` says, which is fine. */
static bool grow(struct roast_tasks *tasks, size_t cap)
{
    void *moved;

    if (!(moved = roast__realloc(tasks->prefix, cap * sizeof(*tasks->prefix))))
        return false;
    tasks->prefix = moved;
    if (!(moved = roast__realloc(tasks->worker, cap * sizeof(*tasks->worker))))
        return false;
    tasks->worker = moved;
    if (!(moved = roast__realloc(tasks->key_hash, cap * sizeof(*tasks->key_hash))))
        return false;
    tasks->key_hash = moved;
    if (!(moved = roast__realloc(tasks->end, cap * sizeof(*tasks->end))))
        return false;
    tasks->end = moved;
    if (!(moved =
              roast__realloc(tasks->assigned_ns, cap * sizeof(*tasks->assigned_ns))))
        return false;
    tasks->assigned_ns = moved;
    if (!(moved = roast__realloc(tasks->start_ns, cap * sizeof(*tasks->start_ns))))
        return false;
    tasks->start_ns = moved;
    if (!(moved = roast__realloc(tasks->stop_ns, cap * sizeof(*tasks->stop_ns))))
        return false;
    tasks->stop_ns = moved;
    return true;
}

bool roast__tasks_reserve(struct roast_tasks *tasks, size_t cap)
{
    if (cap <= tasks->cap)
        return true;
    if (cap > ROAST_MOST_TASKS || !grow(tasks, cap))
        return false;
    tasks->cap = cap;
    return true;
}

static bool room_for_one(struct roast_tasks *tasks)
{
    size_t cap = tasks->cap > 0 ? tasks->cap * 2 : SMALLEST_CAP;

    return tasks->count < tasks->cap || roast__tasks_reserve(tasks, cap);
}

static void release_tasks(struct roast_tasks *tasks)
{
    roast__free(tasks->prefix);
    roast__free(tasks->worker);
    roast__free(tasks->key_hash);
    roast__free(tasks->end);
    roast__free(tasks->assigned_ns);
    roast__free(tasks->start_ns);
    roast__free(tasks->stop_ns);
}

void roast__scheduler_view_release(struct roast_scheduler_view *view)
{
    release_tasks(&view->tasks);
    roast__sessions_release(&view->sessions);
    roast__offsets_release(&view->offsets);
    roast__free(view->activities);
    roast__hash_release(&view->activity_slots);
    roast__free(view->hot);
    roast__hash_release(&view->hot_slots);
    *view = (struct roast_scheduler_view){.activities = NULL};
}

void roast_run_task_counts(roast_run *run, struct roast_task_counts *out)
{
    const struct roast_scheduler_view *view = &run->scheduler;

    *out = (struct roast_task_counts){.joined = 0};
    roast__run_lock(run);
    for (size_t i = 0; i < view->tasks.count; i++) {
        unsigned end = view->tasks.end[i];
        if (end & ROAST_TASK_OURS)
            out->ours[end & ~(unsigned)ROAST_TASK_OURS]++;
        else
            out->foreign[end]++;
    }
    out->joined = view->sessions.count;
    for (size_t i = 0; i < view->sessions.count; i++)
        out->present += view->sessions.items[i].left_ns == 0;
    roast__run_unlock(run);
}

/* ---- one task -------------------------------------------------------------------- */

static bool intern(struct roast_run *run, const struct roast_task *task,
                   int32_t *prefix, int32_t *worker)
{
    const struct roast_tasks *tasks = &run->scheduler.tasks;
    size_t last = tasks->count - 1;
    bool first = tasks->count == 0;

    *prefix = roast__strings_put_again(&run->strings, task->prefix,
                                       first ? ROAST_NO_STRING : tasks->prefix[last]);
    *worker = roast__strings_put_again(&run->strings, task->worker,
                                       first ? ROAST_NO_STRING : tasks->worker[last]);
    return *prefix != ROAST_STRING_NO_MEMORY && *worker != ROAST_STRING_NO_MEMORY;
}

static void append(struct roast_tasks *tasks, const struct roast_task *task,
                   int32_t prefix, int32_t worker)
{
    size_t row = tasks->count++;

    tasks->prefix[row] = prefix;
    tasks->worker[row] = worker;
    tasks->key_hash[row] = task->key_hash;
    tasks->end[row] =
        (unsigned char)((unsigned)task->end | (task->ours ? ROAST_TASK_OURS : 0));
    tasks->assigned_ns[row] = task->assigned_ns;
    tasks->start_ns[row] = task->start_ns;
    tasks->stop_ns[row] = task->stop_ns;
}

/* The lock is held. */
static int put(struct roast_run *run, const struct roast_task *task, roast_error *err)
{
    struct roast_tasks *tasks = &run->scheduler.tasks;
    int32_t prefix;
    int32_t worker;

    if (!roast_task_end_name((unsigned)task->end)) {
        roast__lose_and_write(run, ROAST_RUN_LOSS_scheduler_unread);
        return ROAST_OK;
    }
    if (tasks->count == ROAST_MOST_TASKS) {
        roast__lose_and_write(run, ROAST_RUN_LOSS_scheduler_trimmed);
        return ROAST_OK;
    }
    if (!intern(run, task, &prefix, &worker) || !room_for_one(tasks))
        return roast_error_set(err, ROAST_NO_MEMORY, "task %zu", tasks->count);
    append(tasks, task, prefix, worker);
    roast__journal_write_task(run->journal, tasks->count - 1);
    return ROAST_OK;
}

int roast__run_put_task(struct roast_run *run, const struct roast_task *clean,
                        roast_error *err)
{
    roast__run_lock(run);
    int status = put(run, clean, err);
    roast__run_unlock(run);
    return status;
}

int roast_run_add_task(roast_run *run, const struct roast_task *task, roast_error *err)
{
    char prefix[ROAST_NAME_BYTES];
    char worker[ROAST_NAME_BYTES];
    struct roast_task clean = *task;

    clean.prefix = roast__clean(prefix, sizeof(prefix), task->prefix);
    clean.worker = roast__clean(worker, sizeof(worker), task->worker);
    return roast__run_put_task(run, &clean, err);
}

int roast_run_add_client_task(roast_run *run, struct roast_str prefix,
                              int64_t start_mono_ns, int64_t stop_mono_ns,
                              roast_error *err)
{
    int64_t start_ns = roast__sat_add(start_mono_ns, run->epoch_minus_mono_ns);
    const struct roast_task task = {
        .prefix = prefix,
        .ours = true,
        .end = ROAST_TASK_ok,
        .assigned_ns = start_ns,
        .start_ns = start_ns,
        .stop_ns = roast__sat_add(stop_mono_ns, run->epoch_minus_mono_ns),
    };
    return roast_run_add_task(run, &task, err);
}
