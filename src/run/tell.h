/* SPDX-License-Identifier: BSD-3-Clause */
/* tell.h - tells the journal what changed; the payloads are those of live_entries.def.
 *
 * Whoever changes a run calls one of these, with the lock held and once the change has
 * come about. Where nobody listens they do nothing. What a run works out by itself,
 * like thinned samples, is not told: it is worked out again. */
#ifndef ROAST_RUN_TELL_H
#define ROAST_RUN_TELL_H

#include "run/merge.h"
#include "run/run.h"

void roast__tell_finish(struct roast_run *run, int64_t end_mono_ns);
void roast__tell_host(struct roast_run *run, struct roast_str host);
void roast__tell_accept(struct roast_run *run,
                        const unsigned char run_id[ROAST_RUN_ID_BYTES]);
void roast__tell_frame(struct roast_run *run, enum roast_frames_from from,
                       struct roast_str frame);
void roast__tell_name(struct roast_run *run, struct roast_str name);
void roast__tell_sample(struct roast_run *run,
                        const struct roast_worker_samples *worker,
                        const struct roast_tick *tick);
void roast__tell_use(struct roast_run *run, const struct roast_worker_samples *worker,
                     const struct roast_process_use *use);
void roast__tell_offer(struct roast_run *run, const struct roast_offer *offer);
void roast__tell_count(struct roast_run *run, const struct roast_count *count);
void roast__tell_fact(struct roast_run *run, enum roast_fact fact);
void roast__tell_loss(struct roast_run *run, enum roast_run_loss loss, uint64_t count);
void roast__tell_mark(struct roast_run *run, enum roast_mark mark, int64_t mono_ns);
void roast__tell_note(struct roast_run *run, enum roast_note_group group,
                      struct roast_str name, struct roast_str text);

/* Counts one loss and tells it. */
void roast__lose_and_tell(struct roast_run *run, enum roast_run_loss loss);

/* ---- tell_tasks.c: what a scheduler saw ---------------------------------------- */

void roast__tell_member(struct roast_run *run, const struct roast_member *member);
void roast__tell_departure(struct roast_run *run,
                           const struct roast_departure *departure);
void roast__tell_offset(struct roast_run *run, struct roast_str host,
                        int64_t offset_ns);
void roast__tell_task(struct roast_run *run, size_t row);
void roast__tell_task_frame(struct roast_run *run, const struct roast_task_link *link,
                            struct roast_str frame);
void roast__tell_activity(struct roast_run *run, const struct roast_activity *activity);
void roast__tell_hot_line(struct roast_run *run, const struct roast_hot_line *line);

#endif
