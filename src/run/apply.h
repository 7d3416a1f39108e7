/* SPDX-License-Identifier: BSD-3-Clause */
/* apply.h - changes of a run whose texts are redacted and whose samples are packed, as a
 * journal has them.
 *
 * The public functions of run.h redact and round; doing so a second time could change
 * what the run holds. */
#ifndef ROAST_RUN_APPLY_H
#define ROAST_RUN_APPLY_H

#include "run/merge.h"
#include "run/run.h"

/* All take the lock, and fail with NO_MEMORY only. */
int roast__run_put_name(struct roast_run *run, struct roast_str clean,
                        roast_error *err);
int roast__run_put_note(struct roast_run *run, enum roast_note_group group,
                        struct roast_str name, struct roast_str clean,
                        roast_error *err);
int roast__run_put_tick(struct roast_run *run, int32_t worker,
                        const struct roast_tick *tick, roast_error *err);
int roast__run_put_member(struct roast_run *run, const struct roast_member *clean,
                          roast_error *err);
int roast__run_put_departure(struct roast_run *run, const struct roast_departure *clean,
                             roast_error *err);
int roast__run_put_offset(struct roast_run *run, struct roast_str clean,
                          int64_t offset_ns, roast_error *err);
int roast__run_put_task(struct roast_run *run, const struct roast_task *clean,
                        roast_error *err);
int roast__run_put_activity(struct roast_run *run, const struct roast_activity *clean,
                            roast_error *err);
int roast__run_put_hot_line(struct roast_run *run, const struct roast_hot_line *clean,
                            roast_error *err);

/* A record that belongs to the run; link is NULL where its task is not known. */
int roast__run_put_record(struct roast_run *run, const roast_record *rec,
                          const struct roast_task_link *link, roast_error *err);

#endif
