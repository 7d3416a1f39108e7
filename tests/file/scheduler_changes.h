/* SPDX-License-Identifier: BSD-3-Clause */
/* scheduler_changes.h - a list of changes with every kind of scheduler event. */
#ifndef ROAST_TESTS_FILE_SCHEDULER_CHANGES_H
#define ROAST_TESTS_FILE_SCHEDULER_CHANGES_H

#include "task_changes.h"

static inline void change_offset(roast_run *run)
{
    assert_int_equal(set_offset(run, "10.0.0.7", -12345), ROAST_OK);
    assert_int_equal(set_offset(run, "10.0.0.7", -12345), ROAST_OK);
}

static inline void change_activity(roast_run *run)
{
    assert_int_equal(set_activity(run, "process", "thread-cpu", 1.25), ROAST_OK);
}

static inline void change_bare_activity(roast_run *run)
{
    assert_int_equal(set_activity(run, NULL, "", -2), ROAST_OK);
}

static inline void change_hot_line(roast_run *run)
{
    assert_int_equal(add_hot_line(run, 12, "x = 'password: secret'", 2), ROAST_OK);
}

/* The number of entries of each change. */
static const struct {
    void (*make)(roast_run *run);
    uint64_t entries;
} TASK_CHANGES[] = {
    {change_member, 1},     {change_departure, 1},  {change_bare_session, 2},
    {change_task, 1},       {change_task_again, 1}, {change_bare_task, 1},
    {change_task_frame, 1}, {change_link, 2},       {change_offset, 1},
    {change_activity, 1},   {change_activity, 1},   {change_bare_activity, 1},
    {change_hot_line, 1},   {change_hot_line, 1},
};

enum { TASK_CHANGE_COUNT = COUNT_OF(TASK_CHANGES) };

static inline void make_task_changes(roast_run *run)
{
    assert_int_equal(roast_run_accept(run, RUN_ID, NULL), ROAST_OK);
    for (size_t i = 0; i < TASK_CHANGE_COUNT; i++)
        TASK_CHANGES[i].make(run);
}

#endif
