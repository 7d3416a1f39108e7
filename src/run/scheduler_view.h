/* SPDX-License-Identifier: BSD-3-Clause */
/* scheduler_view.h - what a scheduler reports of a run: tasks, worker sessions,
 * activities, hot lines.
 *
 * Tasks are many, so they are columns; the others are few. Nothing is derived here:
 * src/analyze matches tasks with attempts and finds the prefix of the processor. */
#ifndef ROAST_RUN_SCHEDULER_VIEW_H
#define ROAST_RUN_SCHEDULER_VIEW_H

#include "roast/scheduler.h"
#include "run/worker_sessions.h"

/* What exceeds these limits is counted as a loss. */
enum {
    ROAST_MOST_TASKS = 1 << 22,
    ROAST_MOST_SESSIONS = 1 << 18,
    ROAST_MOST_HOSTS = 1 << 16,
    ROAST_MOST_ACTIVITIES = 100000,
    ROAST_MOST_HOT_LINES = 10000
};

/* In order of arrival. Zeroed = empty and valid; everything is owned. */
struct roast_tasks {
    size_t count;
    size_t cap;
    int32_t *prefix; /* numbers of strings, or ROAST_NO_STRING */
    int32_t *worker;
    uint32_t *key_hash;
    unsigned char *end; /* roast_task_end, + ROAST_TASK_OURS */
    int64_t *assigned_ns;
    int64_t *start_ns;
    int64_t *stop_ns;
};

/* Room for so many tasks; false when out of memory. */
bool roast__tasks_reserve(struct roast_tasks *tasks, size_t cap);

struct roast_activity_row {
    int32_t context; /* numbers of strings, or ROAST_NO_STRING */
    int32_t prefix;
    int32_t activity;
    int32_t unit;
    double value;
};

struct roast_hot_row {
    int32_t file;
    int32_t function;
    int32_t text;
    uint64_t line;
    double seconds;
    double self_seconds;
};

/* All of it. Zeroed = empty and valid. */
struct roast_scheduler_view {
    struct roast_tasks tasks;
    struct roast_worker_sessions sessions;
    struct roast_clock_offsets clock_offsets;
    struct roast_activity_row *activities; /* owned */
    size_t activity_count;
    size_t activity_cap;
    struct roast_hash_table activity_slots; /* by the four names */
    struct roast_hot_row *hot;              /* owned */
    size_t hot_count;
    size_t hot_cap;
    struct roast_hash_table hot_slots; /* by file and line */
};

void roast__scheduler_view_release(struct roast_scheduler_view *view);

#endif
