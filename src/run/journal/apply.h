/* SPDX-License-Identifier: BSD-3-Clause */
/* apply.h - makes the changes of journal entries in a run.
 *
 * The bytes are untrusted: every number is checked before it is used. An entry that
 * cannot be read is left out and counted; other entries do not depend on it. */
#ifndef ROAST_RUN_JOURNAL_APPLY_H
#define ROAST_RUN_JOURNAL_APPLY_H

#include "run/journal/journal.h"

/* What the number of a reference means. */
struct roast_announced_text {
    uint64_t number;
    uint32_t block;        /* that `text` borrows */
    int32_t id;            /* in the strings of the run, or those of a rewrite */
    struct roast_str text; /* only valid in `block` */
};

/* Changes texts before they are applied, so that none of them reaches the run. What it
 * returns is used before the next entry is read. */
struct roast_rewrite {
    /* The text in place of text n, from 0, of an entry; absent texts come too. */
    struct roast_str (*text)(void *context, enum roast_entry kind, unsigned n,
                             struct roast_str text);
    void (*record)(void *context, roast_record *rec);
    void *context;
    struct roast_string_table announced; /* owned by the caller; as they were */
};

/* Zeroed = before the first entry. */
struct roast_apply {
    roast_run *run;  /* owned; NULL until its clocks are known */
    struct roast_rewrite *rewrite; /* borrowed; NULL: texts remain */
    bool notes_only; /* start, end and notes; all else is skipped */
    bool head_only;  /* what follows the entry head_end is not read */
    bool head_done;
    bool complete; /* the entry complete was read */
    uint64_t entries;
    uint64_t dropped; /* changes that missed the journal */
    uint64_t unread;  /* entries of unknown kinds or with bad contents */

    uint32_t block;                     /* number of the block that is read */
    struct roast_announced_text *texts; /* owned */
    size_t text_count;
    size_t text_cap;
    struct roast_hash_table text_slots;    /* by number */
    struct roast_record_context *contexts; /* owned */
    struct roast_buf parts;                /* of an entry that is not whole yet */
    uint64_t part_count;
    uint64_t costly[ROAST_ENTRY_END]; /* entries that take long, or items searched */
    int64_t latest_ns[ROAST_ENTRY_END];
};

/* Makes the run, for a file whose head has its clocks. */
int roast__apply_start(struct roast_apply *apply, int64_t start_mono_ns,
                       int64_t start_epoch_ns, roast_error *err);

/* Makes the changes of one block; fails with NO_MEMORY only. `gap`: something is
 * missing before it. */
int roast__apply_block(struct roast_apply *apply, struct roast_str entries, bool gap,
                       roast_error *err);

void roast__apply_release(struct roast_apply *apply);

/* ---- for readers of entries; they return BAD_DATA for an entry to leave out ------ */

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
