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
    void (*record)(void *context, roast_run *run, roast_record *rec);
    void *context;
    struct roast_string_table
        announced;            /* texts as they were; released by the caller */
    struct roast_names names; /* of them, those of datasets and files */
};

/* Zeroed = before the first entry. */
struct roast_apply {
    roast_run *run;                /* owned; NULL until its clocks are known */
    struct roast_rewrite *rewrite; /* borrowed; NULL: texts remain */
    bool notes_only;               /* start, end and notes; all else is skipped */
    bool head_only;                /* what follows the entry head_end is not read */
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

#endif
