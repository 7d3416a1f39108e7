/* SPDX-License-Identifier: BSD-3-Clause */
/* scheduler.h - what a scheduler reports, into a run.
 *
 * Texts are cut and redacted. Each kind has a limit (run/scheduler_view.h); what
 * exceeds it is counted as the loss scheduler_over_limit, invalid input as
 * scheduler_unread. All functions fail with NO_MEMORY only, and then nothing was
 * changed. */
#ifndef ROAST_SCHEDULER_H
#define ROAST_SCHEDULER_H

#include "roast/run.h"
#include "roast/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A worker joined, or left; each also changes the offer (roast_run_offer()), so that
 * joins and leaves alone give the exact number of threads. */
int roast_run_add_member(roast_run *run, const struct roast_member *member,
                         roast_error *err);
int roast_run_member_left(roast_run *run, const struct roast_departure *departure,
                          roast_error *err);

int roast_run_add_task(roast_run *run, const struct roast_task *task, roast_error *err);

/* Work of the client itself, by its monotonic clock: a task without a worker. If the
 * client is the only worker, the time counts for it. */
int roast_run_add_client_task(roast_run *run, struct roast_str prefix,
                              int64_t start_mono_ns, int64_t stop_mono_ns,
                              roast_error *err);

/* Adds frames of one attempt like roast_run_add_frames(), and links the attempt to the
 * worker and task in which it ran, so that a killed attempt can be identified. */
int roast_run_add_task_frames(roast_run *run, struct roast_str frames,
                              struct roast_str worker, uint32_t key_hash,
                              struct roast_tally *tally, roast_error *err);

/* How far the client's realtime clock is ahead of a host's; 0 by default, and always
 * for the client's own host. Applied whenever times of its attempts are read. */
int roast_run_set_offset(roast_run *run, struct roast_str host, int64_t offset_ns,
                         roast_error *err);

/* Replaces an earlier value of the same names. */
int roast_run_set_activity(roast_run *run, const struct roast_activity *activity,
                           roast_error *err);
/* Adds a line; values of the same file and line are summed. */
int roast_run_add_hot_line(roast_run *run, const struct roast_hot_line *line,
                           roast_error *err);

/* Numbers of reported tasks, by their end, and of workers. */
struct roast_task_counts {
    uint64_t ours[ROAST_TASK_END_LAST];
    uint64_t foreign[ROAST_TASK_END_LAST];
    uint64_t joined; /* sessions of workers, ended or not */
    uint64_t present;
};

void roast_run_task_counts(roast_run *run, struct roast_task_counts *out);

#ifdef __cplusplus
}
#endif

#endif
