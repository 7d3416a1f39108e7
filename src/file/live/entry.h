/* SPDX-License-Identifier: BSD-3-Clause */
/* entry.h - one entry of a live file while it is read.
 *
 * Readers answer BAD_DATA for an entry to leave out, and NO_MEMORY. */
#ifndef ROAST_FILE_LIVE_ENTRY_H
#define ROAST_FILE_LIVE_ENTRY_H

#include "file/live/replay.h"
#include "run/array.h"

/* Its payload, read from the front. */
struct roast_live_entry {
    struct roast_replay *replay;
    enum roast_entry kind;
    struct roast_cursor in;
    roast_error *err;
};

/* All that is left. */
static inline struct roast_str roast__entry_rest(struct roast_live_entry *entry)
{
    size_t left = roast__cursor_left(&entry->in);

    return (struct roast_str){(const char *)roast__cursor_bytes(&entry->in, left),
                              left};
}

/* A time since the start of the run, on the timeline. */
static inline int64_t roast__entry_time(struct roast_live_entry *entry)
{
    return roast__wrap_add(roast__cursor_signed(&entry->in),
                           entry->replay->run->start_ns);
}

/* Whether it comes out of order, and too many did before it: what is in order of time
 * has to be moved for it, and files of strangers must not take for ever. */
bool roast__entry_too_late(struct roast_live_entry *entry, int64_t time_ns);

/* ---- live_samples.c ------------------------------------------------------ */

int roast__read_sample(struct roast_live_entry *entry);
int roast__read_use(struct roast_live_entry *entry);

/* ---- live_tasks.c -------------------------------------------------------- */

int roast__read_member(struct roast_live_entry *entry);
int roast__read_departure(struct roast_live_entry *entry);
int roast__read_offset(struct roast_live_entry *entry);
int roast__read_task(struct roast_live_entry *entry);
int roast__read_task_frame(struct roast_live_entry *entry);
int roast__read_activity(struct roast_live_entry *entry);
int roast__read_hot_line(struct roast_live_entry *entry);

#endif
