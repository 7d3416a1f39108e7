/* SPDX-License-Identifier: BSD-3-Clause */
/* scheduler_events.h - what a scheduler reports, each event in one line. Times are
 * seconds since the start of the run. */
#ifndef ROAST_TESTS_RUN_SCHEDULER_EVENTS_H
#define ROAST_TESTS_RUN_SCHEDULER_EVENTS_H

#include "worker_events.h"

static inline int add_task(roast_run *run, const char *prefix, const char *worker,
                           uint32_t key_hash, enum roast_task_end end)
{
    struct roast_task task = {
        .prefix = roast_str_of(prefix),
        .worker = roast_str_of(worker),
        .key_hash = key_hash,
        .ours = key_hash % 2,
        .end = end,
        .assigned_ns = second(1),
        .start_ns = end == ROAST_TASK_lost ? 0 : second(2),
        .stop_ns = second(3),
    };
    return roast_run_add_task(run, &task, NULL);
}

/* Adds a frame with the task it came from. */
static inline int add_with_task(roast_run *run, const struct test_record *record,
                                const char *worker, uint32_t key_hash,
                                struct roast_tally *tally)
{
    unsigned char frame[512];
    int64_t size = roast_record_encode(frame, sizeof(frame), &record->rec, NULL);

    assert_true(size > 0);
    return roast_run_add_task_frames(run, str_from(frame, (size_t)size),
                                     roast_str_of(worker), key_hash, tally, NULL);
}

static inline int set_activity(roast_run *run, const char *prefix, const char *name,
                               double value)
{
    struct roast_activity activity = {.context = roast_str_of("execute"),
                                      .prefix = roast_str_of(prefix),
                                      .activity = roast_str_of(name),
                                      .unit = roast_str_of("seconds"),
                                      .value = value};
    return roast_run_set_activity(run, &activity, NULL);
}

static inline int add_hot_line(roast_run *run, uint64_t number, const char *text,
                               double seconds)
{
    struct roast_hot_line line = {.file = roast_str_of("analysis.py"),
                                  .function = roast_str_of("process"),
                                  .text = roast_str_of(text),
                                  .line = number,
                                  .seconds = seconds,
                                  .self_seconds = seconds / 2};
    return roast_run_add_hot_line(run, &line, NULL);
}

static inline int set_offset(roast_run *run, const char *host, int64_t offset_ns)
{
    return roast_run_set_offset(run, roast_str_of(host), offset_ns, NULL);
}

#define assert_text(run, number, expected) \
    assert_str_is(roast__strings_get(&(run)->strings, (number)), (expected))

#endif
