/* SPDX-License-Identifier: BSD-3-Clause */
/* journal.h - the changes of a run as entries {kind, size, payload} in blocks.
 *
 * A live file gets the changes as they happen, a saved file the entries of a dump. Both
 * have the same blocks. The writer takes whole blocks and returns their bytes when they
 * are written; all blocks together never exceed the limit. Changes above it are
 * dropped, and as soon as there is room an entry states how many.
 *
 * A text that repeats is written once per block or once per dictionary epoch of some
 * blocks, and referred to by its number after that. What follows a damaged block can be
 * read again from the next epoch on. */
#ifndef ROAST_RUN_JOURNAL_H
#define ROAST_RUN_JOURNAL_H

#include "run/journal/record.h"
#include "run/run.h"

enum roast_entry {
#define K(number, name, text) ROAST_ENTRY_##name = (number),
#include "roast/journal_entries.def"
#undef K
    ROAST_ENTRY_END /* one past the last */
};

enum {
    ROAST_ENTRY_MAX_BYTES = 256 * 1024, /* of a payload; more is split into parts */
    ROAST_LIVE_BLOCK_BYTES = 64 * 1024, /* larger only for an entry that needs it */
    ROAST_DUMP_BLOCK_BYTES = 1 << 20,
    ROAST_BLOCK_HEAD_BYTES = 20,
    ROAST_EPOCH_TAKES = 256
};

struct roast_block {
    struct roast_block *next;
    size_t size_bytes; /* of the entries */
    size_t cap_bytes;
    uint64_t changes;
    unsigned char bytes[]; /* ROAST_BLOCK_HEAD_BYTES for the writer, then entries */
};

struct roast_journal {
    struct roast_run *run; /* borrowed; its lock guards all of this */
    size_t limit_bytes;
    size_t block_bytes;
    struct roast_block *first; /* owned */
    struct roast_block *last;
    size_t held_bytes;   /* of all entries, including those that the writer took */
    uint64_t queued;     /* changes that had room, in total */
    uint64_t dropped;    /* those that did not */
    uint64_t unreported; /* of them, not in an entry yet */
    uint32_t block;      /* number of the last block, from 1; some are left out */
    uint32_t epoch;      /* block that the dictionary epoch began with */
    uint32_t takes;      /* in this epoch */
    bool begun;          /* the epoch has its start entry */
    bool block_full;     /* the next entry begins a block */

    struct roast_buf entry; /* payload of the entry that is being made */
    uint32_t *announced; /* owned; by number of string: the block it was written in */
    size_t announced_count;
    struct roast_record_context *contexts; /* owned; see record.h */
    void (*half_full)(void *context);      /* called with the lock held */
    void *context;
};

/* Attaches to a run that has only clocks and host; LIMIT otherwise, or if another
 * journal is attached. The journal is zeroed except for half_full. */
int roast__journal_open(struct roast_journal *journal, struct roast_run *run,
                        size_t limit_bytes, roast_error *err);
void roast__journal_close(struct roast_journal *journal); /* keeps the queue */
void roast__journal_release(struct roast_journal *journal);

/* Queues the entry that was made in `entry`; the lock is held. False when it was
 * dropped. */
bool roast__journal_put(struct roast_journal *journal, enum roast_entry kind);

/* Ensures that an entry of at most so many bytes that depends only on entries of the
 * block `block` can be read: it is put in that block, or nothing has that number. */
void roast__journal_reserve(struct roast_journal *journal, size_t size_bytes);

/* Takes all blocks; returns owned, NULL for none. The lock is held. */
struct roast_block *roast__journal_take(struct roast_journal *journal);
/* Releases so many bytes of entries that were taken. */
void roast__journal_done(struct roast_journal *journal, size_t size_bytes);

/* ---- dump.c: a whole run as the fewest entries that make an equal one ------------ */

/* Gets each block; called without the lock. */
typedef int roast__block_sink(void *context, struct roast_block *block,
                              roast_error *err);

/* The run is locked for its head, then for some milliseconds at a time: a row that
 * changes meanwhile is written as it was before or after the change. */
int roast__journal_dump(struct roast_run *run, roast__block_sink *sink, void *context,
                        roast_error *err);

#endif
