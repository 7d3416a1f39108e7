/* SPDX-License-Identifier: BSD-3-Clause */
/* worker_events.h - workers that join and leave, each event in one line. */
#ifndef ROAST_TESTS_RUN_WORKER_EVENTS_H
#define ROAST_TESTS_RUN_WORKER_EVENTS_H

#include <stdio.h>

#include "roast/scheduler.h"
#include "runs.h"

static inline int64_t second(int64_t seconds)
{
    return EPOCH_0 + seconds * SECOND;
}

static inline int join_as(roast_run *run, const char *worker, int64_t at,
                          uint64_t threads, uint64_t pid)
{
    struct roast_member member = {
        .worker = roast_str_of(worker),
        .name = roast_str_of("its name"),
        .host = roast_str_of("10.0.0.7"),
        .joined_ns = second(at),
        .pid = pid,
        .threads = threads,
        .memory_limit_bytes = 1000,
    };
    return roast_run_add_member(run, &member, NULL);
}

static inline void joins(roast_run *run, const char *worker, int64_t at,
                         uint64_t threads)
{
    assert_int_equal(join_as(run, worker, at, threads, 0), ROAST_OK);
}

static inline int leave_as(roast_run *run, const char *worker, int64_t at,
                           const char *reason)
{
    struct roast_departure departure = {.worker = roast_str_of(worker),
                                        .reason = roast_str_of(reason),
                                        .left_ns = second(at),
                                        .expected = reason == NULL};
    return roast_run_member_left(run, &departure, NULL);
}

static inline void leaves(roast_run *run, const char *worker, int64_t at)
{
    assert_int_equal(leave_as(run, worker, at, NULL), ROAST_OK);
}

#endif
