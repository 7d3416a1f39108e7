/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster.h - what a scheduler tells of a run made by hand, each in one line. Times are
 * seconds since the start of the run. */
#ifndef ROAST_TESTS_ANALYZE_CLUSTER_H
#define ROAST_TESTS_ANALYZE_CLUSTER_H

#include "roast/scheduler.h"
#include "runs.h"

static inline int64_t at(double seconds)
{
    return RUN_EPOCH_NS + NS(seconds);
}

static inline void join_on(roast_run *run, const char *worker, const char *host,
                           double seconds)
{
    const struct roast_member member = {
        .worker = roast_str_of(worker),
        .name = roast_str_of("7"),
        .host = roast_str_of(host),
        .joined_ns = at(seconds),
        .pid = 4321,
        .threads = 2,
        .memory_limit_bytes = 1000,
    };
    assert_int_equal(roast_run_add_member(run, &member, NULL), ROAST_OK);
}

/* reason NULL: it was retired. */
static inline void leave_for(roast_run *run, const char *worker, double seconds,
                             const char *reason)
{
    const struct roast_departure departure = {
        .worker = roast_str_of(worker),
        .reason = roast_str_of(reason ? reason : "retired"),
        .left_ns = at(seconds),
        .expected = reason == NULL,
    };
    assert_int_equal(roast_run_member_left(run, &departure, NULL), ROAST_OK);
}

/* start and stop 0: it never ran. */
static inline void add_task(roast_run *run, const char *prefix, const char *worker,
                            uint32_t key_hash, enum roast_task_end end, double start,
                            double stop)
{
    const struct roast_task task = {
        .prefix = roast_str_of(prefix),
        .worker = roast_str_of(worker),
        .key_hash = key_hash,
        .ours = key_hash != 0,
        .end = end,
        .assigned_ns = at(start),
        .start_ns = stop > 0 ? at(start) : 0,
        .stop_ns = at(stop),
    };
    assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
}

/* A frame with the worker and the task it came from. */
static inline void add_frame_of_task(roast_run *run, struct frame frame,
                                     const char *worker, uint32_t key_hash)
{
    const unsigned char run_id[ROAST_RUN_ID_BYTES] = {1};
    char bytes[FRAME_BYTES];
    struct roast_str encoded = str_from(bytes, encode_frame(bytes, frame));
    struct roast_tally tally;

    assert_int_equal(roast_run_accept(run, run_id, NULL), ROAST_OK);
    assert_int_equal(roast_run_add_task_frames(run, encoded, roast_str_of(worker),
                                               key_hash, &tally, NULL),
                     ROAST_OK);
    assert_int_equal(tally.kept, 1);
}

#endif
