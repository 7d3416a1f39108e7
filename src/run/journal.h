/* SPDX-License-Identifier: BSD-3-Clause */
/* journal.h - the changes of a run, queued for its live file.
 *
 * Entries {kind, size, payload} lie in leaves; a leaf becomes a block of the file as it
 * is, so that nobody copies it again. What the writer took stays counted until it is
 * done with it: all together never pass the limit. Past it changes are dropped, and as
 * soon as there is room an entry says how many. */
#ifndef ROAST_RUN_JOURNAL_H
#define ROAST_RUN_JOURNAL_H

#include "run/run.h"

enum roast_entry {
#define K(number, name, text) ROAST_ENTRY_##name = (number),
#include "roast/live_entries.def"
#undef K
    ROAST_ENTRY_END /* one past the last */
};

enum {
    ROAST_ENTRY_MAX_BYTES = 256 * 1024, /* of a payload; more goes in parts */
    ROAST_LEAF_BYTES = 64 * 1024,       /* more only for an entry that needs it */
    ROAST_LEAF_HEAD_BYTES = 20,
    ROAST_CHAPTER_TAKES = 64
};

struct roast_leaf {
    struct roast_leaf *next;
    size_t size_bytes; /* of the entries */
    size_t cap_bytes;
    uint64_t changes;      /* told in it */
    unsigned char bytes[]; /* ROAST_LEAF_HEAD_BYTES for the writer, then entries */
};

/* A worker is named once per chapter and known by its number from then on: what is
 * behind a damaged block can be read again from the next chapter on. */
struct roast_told {
    uint32_t name_in; /* chapter; 0: never */
    uint32_t process_in;
};

struct roast_journal {
    struct roast_run *run; /* borrowed; its lock guards all of this */
    size_t limit_bytes;
    struct roast_leaf *first; /* owned */
    struct roast_leaf *last;
    size_t held_bytes; /* of all entries, those that the writer took too */
    uint64_t queued;   /* changes that found room, ever */
    uint64_t dropped;  /* those that did not */
    uint64_t untold;   /* of them, not told yet */
    uint32_t chapter;
    uint32_t takes;          /* in this chapter */
    bool begun;              /* the chapter has its start entry */
    struct roast_told *told; /* owned; by number of worker */
    size_t told_count;
    uint32_t *text_in; /* owned; by number of string: chapter in which it was told */
    size_t text_count;
    void (*half_full)(void *context); /* called with the lock held */
    void *context;
};

/* Listens to a run of which nothing but clocks and host was told; LIMIT otherwise, or
 * where somebody listens already. The journal is zeroed but for half_full. */
int roast__journal_open(struct roast_journal *journal, struct roast_run *run,
                        size_t limit_bytes, roast_error *err);
void roast__journal_close(struct roast_journal *journal); /* what is queued stays */
void roast__journal_release(struct roast_journal *journal);

/* Queues one change whose payload is all pieces, joined; the lock is held. False when
 * it was dropped. */
bool roast__journal_put(struct roast_journal *journal, enum roast_entry kind,
                        const struct roast_str *pieces, size_t count);

/* Takes all leaves; returns owned, NULL for none. */
struct roast_leaf *roast__journal_take(struct roast_journal *journal);
/* So many bytes of entries that were taken need no room any more. */
void roast__journal_done(struct roast_journal *journal, size_t size_bytes);

#endif
