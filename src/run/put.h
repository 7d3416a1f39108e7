/* SPDX-License-Identifier: BSD-3-Clause */
/* put.h - changes of a run whose texts are already cut and redacted and whose samples
 * are already packed, as they are in a journal; and how texts are cut and redacted.
 *
 * The public functions of roast/run.h redact and round. Doing so twice could change
 * what the run holds. Texts of a cluster may contain secrets: an address may hold a
 * password, a reason or a line of code anything. All texts of one kind are cut at the
 * same length, so that a worker has the same name wherever it appears. */
#ifndef ROAST_RUN_PUT_H
#define ROAST_RUN_PUT_H

#include "roast/text.h"
#include "run/merge.h"
#include "run/run.h"

enum {
    ROAST_NAME_BYTES = 256, /* of workers, hosts, prefixes, functions */
    ROAST_LINE_BYTES = 512, /* of code */
    ROAST_REASON_BYTES = 1024,
    ROAST_FILE_BYTES = 1024
};

/* The text cut to room_bytes, or redacted into `room`; absent for an absent text. */
static inline struct roast_str roast__clean(char *room, size_t room_bytes,
                                            struct roast_str text)
{
    if (!text.data || !roast_str_may_hold_secret(text))
        return text.data ? roast_str_cut(text, room_bytes) : text;
    return (struct roast_str){room, roast_str_redact(room, room_bytes, text)};
}

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
