/* SPDX-License-Identifier: BSD-3-Clause */
/* apply_entry.h - for the functions that read one entry of a journal; they return BAD_DATA
 * for an entry to leave out. */
#ifndef ROAST_RUN_JOURNAL_APPLY_ENTRY_H
#define ROAST_RUN_JOURNAL_APPLY_ENTRY_H

#include "run/journal/apply.h"

/* One entry; its payload is read from the front. */
struct roast_apply_entry {
    struct roast_apply *apply;
    enum roast_entry kind;
    unsigned texts; /* that were read */
    struct roast_cursor in;
    roast_error *err;
};

/* All bytes that are left. */
struct roast_str roast__entry_bytes(struct roast_apply_entry *entry);

/* A text with its size; absent where it is. */
struct roast_str roast__entry_text(struct roast_apply_entry *entry);

/* The next text of the entry, rewritten; roast__entry_text() returns it so. */
struct roast_str roast__entry_rewrite(struct roast_apply_entry *entry,
                                      struct roast_str text);

/* A time since the start of the run, on the timeline. */
int64_t roast__entry_time(struct roast_apply_entry *entry);

double roast__entry_double(struct roast_apply_entry *entry);

/* A reference: 1, 0 where it is absent, negative when it was never announced or memory
 * ran out. */
int roast__entry_reference(struct roast_apply_entry *entry,
                           struct roast_announced_text *out);

/* The number of a reference in the strings of the run, rewritten; ROAST_NO_STRING where it
 * is absent. ROAST_STRING_NO_MEMORY is possible in a rewrite only. */
int32_t roast__entry_string(struct roast_apply_entry *entry,
                            const struct roast_announced_text *reference);

/* The text that a number means: 1, 0 for a negative one, BAD_DATA for an unknown
 * one. */
int roast__apply_find_text(const struct roast_apply *apply, int64_t number,
                           struct roast_announced_text *out);

/* True for an entry out of order once there were too many: items in order of time have
 * to be moved for it, and a hostile file must not take unbounded time. */
bool roast__entry_too_late(struct roast_apply_entry *entry, int64_t time_ns);

/* Counts an entry whose kind is costly in large numbers; true once there are too
 * many. */
bool roast__entry_too_costly(struct roast_apply_entry *entry);

/* Makes the change of an entry of this kind (apply_kinds.c). */
int roast__apply_kind(struct roast_apply_entry *entry, uint64_t kind);

/* Makes the change of an entry of the kind record (record.c). */
int roast__apply_record(struct roast_apply_entry *entry);

#endif
