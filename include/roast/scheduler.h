/* SPDX-License-Identifier: BSD-3-Clause */
/* scheduler.h - what a scheduler saw, into a run.
 *
 * Texts are cut to what is sensible and lose their secrets. Each kind has a limit
 * (store/tasks.h); what comes behind it is counted as the loss scheduler_trimmed, what
 * makes no sense as scheduler_unread. All fail with NO_MEMORY only, and then nothing
 * was changed. */
#ifndef ROAST_SCHEDULER_H
#define ROAST_SCHEDULER_H

#include "roast/run.h"
#include "roast/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A worker joined, or left; each is also a step of what is offered (roast_run_offer),
 * so that joins and leaves alone tell exactly how many threads there were. */
int roast_run_add_member(roast_run *run, const struct roast_member *member,
                         roast_error *err);
int roast_run_member_left(roast_run *run, const struct roast_departure *departure,
                          roast_error *err);

int roast_run_add_task(roast_run *run, const struct roast_task *task, roast_error *err);

/* What the client did itself, by its own monotonic clock: a task without a worker. Where
 * the client is the only worker, it is time of that. */
int roast_run_add_client_task(roast_run *run, struct roast_str prefix,
                              int64_t start_mono_ns, int64_t stop_mono_ns,
                              roast_error *err);

/* Adds frames of one attempt like roast_run_add_frames(), and joins the attempt to the
 * worker and the task in which it ran: a killed one is then known by them. */
int roast_run_add_task_frames(roast_run *run, struct roast_str frames,
                              struct roast_str worker, uint32_t key_hash,
                              struct roast_tally *tally, roast_error *err);

/* How far the client's realtime clock is ahead of a host's; 0 until told, and always for
 * the client's own host. Used whenever times of its attempts are read. */
int roast_run_set_offset(roast_run *run, struct roast_str host, int64_t offset_ns,
                         roast_error *err);

/* In place of an earlier value of the same names. */
int roast_run_set_activity(roast_run *run, const struct roast_activity *activity,
                           roast_error *err);
/* Adds a line; those of one file and line add up. */
int roast_run_add_hot_line(roast_run *run, const struct roast_hot_line *line,
                           roast_error *err);

/* How many tasks were told, by their end, and how many workers. */
struct roast_task_counts {
    uint64_t ours[ROAST_TASK_END_LAST];
    uint64_t foreign[ROAST_TASK_END_LAST];
    uint64_t joined; /* stays of workers, ended or not */
    uint64_t present;
};

void roast_run_task_counts(roast_run *run, struct roast_task_counts *out);

#ifdef __cplusplus
}
#endif

#endif
