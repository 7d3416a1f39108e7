/* SPDX-License-Identifier: BSD-3-Clause */
/* scheduler_view.c - what a scheduler reports into a run: tasks, activities, hot lines.
 *
 * A million tasks have a handful of prefixes and arrive in bursts with the same one:
 * the text of the last task is compared before the string table is searched. */
#include "run/scheduler_view.h"

#include <math.h>

#include "base/array.h"
#include "base/mem.h"
#include "run/journal/write.h"
#include "run/put.h"

enum { SMALLEST_CAP = 64 };

/* ---- room ------------------------------------------------------------------------ */

/* When one array fails to grow, those before it are larger than `cap`, which is
 * fine. */
bool roast__tasks_reserve(struct roast_tasks *tasks, size_t cap)
{
    if (cap <= tasks->cap)
        return true;
    if (cap > ROAST_MOST_TASKS ||
        !roast__array_resize(&tasks->prefix, cap, sizeof(*tasks->prefix)) ||
        !roast__array_resize(&tasks->worker, cap, sizeof(*tasks->worker)) ||
        !roast__array_resize(&tasks->key_hash, cap, sizeof(*tasks->key_hash)) ||
        !roast__array_resize(&tasks->end, cap, sizeof(*tasks->end)) ||
        !roast__array_resize(&tasks->assigned_ns, cap, sizeof(*tasks->assigned_ns)) ||
        !roast__array_resize(&tasks->start_ns, cap, sizeof(*tasks->start_ns)) ||
        !roast__array_resize(&tasks->stop_ns, cap, sizeof(*tasks->stop_ns)))
        return false;
    tasks->cap = cap;
    return true;
}

void roast__scheduler_view_release(struct roast_scheduler_view *view)
{
    roast__free(view->tasks.prefix);
    roast__free(view->tasks.worker);
    roast__free(view->tasks.key_hash);
    roast__free(view->tasks.end);
    roast__free(view->tasks.assigned_ns);
    roast__free(view->tasks.start_ns);
    roast__free(view->tasks.stop_ns);
    roast__sessions_release(&view->sessions);
    roast__clock_offsets_release(&view->clock_offsets);
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

static bool intern_task(struct roast_run *run, const struct roast_task *task,
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

static void append_task(struct roast_tasks *tasks, const struct roast_task *task,
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
static int put_task(struct roast_run *run, const struct roast_task *task,
                    roast_error *err)
{
    struct roast_tasks *tasks = &run->scheduler.tasks;
    int32_t prefix;
    int32_t worker;

    if (!roast_task_end_name((unsigned)task->end)) {
        roast__lose_and_write(run, ROAST_RUN_LOSS_scheduler_unread);
        return ROAST_OK;
    }
    if (tasks->count == ROAST_MOST_TASKS) {
        roast__lose_and_write(run, ROAST_RUN_LOSS_scheduler_over_limit);
        return ROAST_OK;
    }
    if (!intern_task(run, task, &prefix, &worker) ||
        (tasks->count == tasks->cap &&
         !roast__tasks_reserve(tasks, tasks->cap > 0 ? tasks->cap * 2 : SMALLEST_CAP)))
        return roast_error_set(err, ROAST_NO_MEMORY, "task %zu", tasks->count);
    append_task(tasks, task, prefix, worker);
    roast__journal_write_task(run->journal, tasks->count - 1);
    return ROAST_OK;
}

int roast__run_put_task(struct roast_run *run, const struct roast_task *clean,
                        roast_error *err)
{
    roast__run_lock(run);
    int status = put_task(run, clean, err);
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

static bool intern(struct roast_run *run, int32_t *number, struct roast_str text)
{
    *number = roast__strings_put(&run->strings, text);
    return *number != ROAST_STRING_NO_MEMORY;
}

static uint64_t hash_pair(uint64_t high, uint64_t low)
{
    return roast__hash_number(roast__hash_number(high) + low);
}

/* ---- activities ------------------------------------------------------------------ */

static uint64_t hash_activity(const struct roast_activity_row *row)
{
    return hash_pair((uint64_t)(uint32_t)row->context << 32 | (uint32_t)row->prefix,
                     (uint64_t)(uint32_t)row->activity << 32 | (uint32_t)row->unit);
}

static uint64_t hash_of_activity(const void *table, uint32_t item)
{
    const struct roast_scheduler_view *view = table;
    return hash_activity(&view->activities[item]);
}

static struct roast_activity_row *find_activity(const struct roast_scheduler_view *view,
                                                const struct roast_activity_row *wanted)
{
    const struct roast_hash_table *slots = &view->activity_slots;

    for (size_t at = roast__hash_first(slots, hash_activity(wanted));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        struct roast_activity_row *row = &view->activities[roast__hash_item(slots, at)];
        if (row->context == wanted->context && row->prefix == wanted->prefix &&
            row->activity == wanted->activity && row->unit == wanted->unit)
            return row;
    }
    return NULL;
}

/* False when out of memory. */
static bool append_activity(struct roast_scheduler_view *view,
                            const struct roast_activity_row *row)
{
    struct roast_activity_row *rows = roast__array_room(
        view->activities, &view->activity_cap, view->activity_count, sizeof(*rows));

    if (rows)
        view->activities = rows;
    if (!rows || !roast__hash_room(&view->activity_slots, view->activity_count,
                                   hash_of_activity, view))
        return false;
    uint32_t number = (uint32_t)view->activity_count++;
    rows[number] = *row;
    roast__hash_put(&view->activity_slots, hash_activity(row), number);
    return true;
}

/* The lock is held. */
static int put_activity(struct roast_run *run, const struct roast_activity *activity,
                        roast_error *err)
{
    struct roast_scheduler_view *view = &run->scheduler;
    struct roast_activity_row row = {.value = activity->value};
    bool known = intern(run, &row.context, activity->context) &&
                 intern(run, &row.prefix, activity->prefix) &&
                 intern(run, &row.activity, activity->activity) &&
                 intern(run, &row.unit, activity->unit);
    struct roast_activity_row *same = known ? find_activity(view, &row) : NULL;

    if (known && !same && view->activity_count >= ROAST_MOST_ACTIVITIES) {
        roast__lose_and_write(run, ROAST_RUN_LOSS_scheduler_over_limit);
        return ROAST_OK;
    }
    if (same)
        same->value = row.value;
    else if (!known || !append_activity(view, &row))
        return roast_error_set(err, ROAST_NO_MEMORY, "activity %zu",
                               view->activity_count);
    roast__journal_write_activity(run->journal, activity);
    return ROAST_OK;
}

int roast__run_put_activity(struct roast_run *run, const struct roast_activity *clean,
                            roast_error *err)
{
    int status = ROAST_OK;

    roast__run_lock(run);
    if (isfinite(clean->value))
        status = put_activity(run, clean, err);
    else
        roast__lose_and_write(run, ROAST_RUN_LOSS_scheduler_unread);
    roast__run_unlock(run);
    return status;
}

int roast_run_set_activity(roast_run *run, const struct roast_activity *activity,
                           roast_error *err)
{
    char room[4][ROAST_NAME_BYTES];
    struct roast_activity clean = {
        .context = roast__clean(room[0], ROAST_NAME_BYTES, activity->context),
        .prefix = roast__clean(room[1], ROAST_NAME_BYTES, activity->prefix),
        .activity = roast__clean(room[2], ROAST_NAME_BYTES, activity->activity),
        .unit = roast__clean(room[3], ROAST_NAME_BYTES, activity->unit),
        .value = activity->value,
    };

    return roast__run_put_activity(run, &clean, err);
}

/* ---- hot lines ------------------------------------------------------------------- */

static uint64_t hash_line(const struct roast_hot_row *row)
{
    return hash_pair((uint32_t)row->file, row->line);
}

static uint64_t hash_of_line(const void *table, uint32_t item)
{
    const struct roast_scheduler_view *view = table;
    return hash_line(&view->hot[item]);
}

static struct roast_hot_row *find_line(const struct roast_scheduler_view *view,
                                       const struct roast_hot_row *wanted)
{
    const struct roast_hash_table *slots = &view->hot_slots;

    for (size_t at = roast__hash_first(slots, hash_line(wanted));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        struct roast_hot_row *row = &view->hot[roast__hash_item(slots, at)];
        if (row->file == wanted->file && row->line == wanted->line)
            return row;
    }
    return NULL;
}

/* False when out of memory. */
static bool append_line(struct roast_scheduler_view *view,
                        const struct roast_hot_row *row)
{
    struct roast_hot_row *rows =
        roast__array_room(view->hot, &view->hot_cap, view->hot_count, sizeof(*rows));

    if (rows)
        view->hot = rows;
    if (!rows ||
        !roast__hash_room(&view->hot_slots, view->hot_count, hash_of_line, view))
        return false;
    uint32_t number = (uint32_t)view->hot_count++;
    rows[number] = *row;
    roast__hash_put(&view->hot_slots, hash_line(row), number);
    return true;
}

/* The lock is held. */
static int put_line(struct roast_run *run, const struct roast_hot_line *line,
                    roast_error *err)
{
    struct roast_scheduler_view *view = &run->scheduler;
    struct roast_hot_row row = {.line = line->line,
                                .seconds = line->seconds,
                                .self_seconds = line->self_seconds};
    bool known = intern(run, &row.file, line->file) &&
                 intern(run, &row.function, line->function) &&
                 intern(run, &row.text, line->text);
    struct roast_hot_row *same = known ? find_line(view, &row) : NULL;

    if (known && !same && view->hot_count >= ROAST_MOST_HOT_LINES) {
        roast__lose_and_write(run, ROAST_RUN_LOSS_scheduler_over_limit);
        return ROAST_OK;
    }
    if (same) {
        same->seconds += row.seconds;
        same->self_seconds += row.self_seconds;
        if (same->text == ROAST_NO_STRING)
            same->text = row.text;
    } else if (!known || !append_line(view, &row)) {
        return roast_error_set(err, ROAST_NO_MEMORY, "line %zu", view->hot_count);
    }
    roast__journal_write_hot_line(run->journal, line);
    return ROAST_OK;
}

int roast__run_put_hot_line(struct roast_run *run, const struct roast_hot_line *clean,
                            roast_error *err)
{
    int status = ROAST_OK;

    roast__run_lock(run);
    if (isfinite(clean->seconds) && isfinite(clean->self_seconds))
        status = put_line(run, clean, err);
    else
        roast__lose_and_write(run, ROAST_RUN_LOSS_scheduler_unread);
    roast__run_unlock(run);
    return status;
}

int roast_run_add_hot_line(roast_run *run, const struct roast_hot_line *line,
                           roast_error *err)
{
    char file[ROAST_FILE_BYTES];
    char function[ROAST_NAME_BYTES];
    char text[ROAST_LINE_BYTES];
    struct roast_hot_line clean = *line;

    clean.file = roast__clean(file, sizeof(file), line->file);
    clean.function = roast__clean(function, sizeof(function), line->function);
    clean.text = roast__clean(text, sizeof(text), line->text);
    return roast__run_put_hot_line(run, &clean, err);
}
