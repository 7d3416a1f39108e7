/* SPDX-License-Identifier: BSD-3-Clause */
/* task_changes.h - changes of workers, tasks and their frames. */
#ifndef ROAST_TESTS_FILE_TASK_CHANGES_H
#define ROAST_TESTS_FILE_TASK_CHANGES_H

#include "run_changes.h"

static inline void change_member(roast_run *run)
{
    assert_int_equal(join_as(run, "tcp://w:1", -3, 4, 99), ROAST_OK);
}

static inline void change_departure(roast_run *run)
{
    assert_int_equal(leave_as(run, "tcp://w:1", 8, "token=secret went"), ROAST_OK);
}

/* One without a name, a host and a reason. */
static inline void change_bare_session(roast_run *run)
{
    struct roast_member member = {.worker = roast_str_of(""), .joined_ns = second(2)};

    assert_int_equal(roast_run_add_member(run, &member, NULL), ROAST_OK);
    leaves(run, "", 3);
}

static inline void change_task(roast_run *run)
{
    assert_int_equal(add_task(run, "process", "tcp://w:1", 7, ROAST_TASK_ok), ROAST_OK);
}

static inline void change_task_again(roast_run *run)
{
    assert_int_equal(add_task(run, "process", "tcp://w:1", 8, ROAST_TASK_lost),
                     ROAST_OK);
}

static inline void change_bare_task(roast_run *run)
{
    struct roast_task task = {.end = ROAST_TASK_running, .key_hash = UINT32_MAX};

    assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
}

static inline void change_task_frame(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_BEGIN, 70, 1);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, second(4));
    assert_int_equal(add_with_task(run, &record, "tcp://w:1", 8, NULL), ROAST_OK);
}

/* It arrived without its task before. */
static inline void change_link(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_END, 71, 1);
    (void)add_from(run, &record.rec, ROAST_FROM_WORKERS);
    assert_int_equal(add_with_task(run, &record, "tcp://w:1", 9, NULL), ROAST_OK);
    assert_int_equal(add_with_task(run, &record, "tcp://w:1", 9, NULL), ROAST_OK);
}

#endif
