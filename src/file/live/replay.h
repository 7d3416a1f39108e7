/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.h - makes the changes that the entries of a live file tell, once more. */
#ifndef ROAST_FILE_LIVE_REPLAY_H
#define ROAST_FILE_LIVE_REPLAY_H

#include "base/buf.h"
#include "run/journal.h"

/* What a number of a worker means. */
struct roast_live_worker {
    uint64_t number;
    int32_t name;    /* of strings; ROAST_NO_STRING: not told */
    bool is_process; /* the next two were told */
    uint64_t pid;
    uint64_t started_ticks;
};

/* What a number of a text of tasks means. */
struct roast_live_text {
    uint64_t number;
    int32_t text; /* of strings */
};

/* Zeroed = before the first entry. */
struct roast_replay {
    roast_run *run;  /* owned; NULL until its clocks are known */
    bool notes_only; /* and the end; all else is passed over */
    uint64_t entries;
    uint64_t dropped; /* changes that missed the file */
    uint64_t unread;  /* entries of kinds or with contents that nobody here knows */

    struct roast_live_worker *workers; /* owned */
    size_t worker_count;
    size_t worker_cap;
    struct roast_slots worker_slots; /* by number */
    struct roast_live_text *texts;   /* owned */
    size_t text_count;
    size_t text_cap;
    struct roast_slots text_slots; /* by number */
    struct roast_strings strings;
    struct roast_buf parts; /* of an entry that is not whole yet */
    uint64_t part_count;
    uint64_t costly[ROAST_ENTRY_END]; /* entries that take long where there are many */
    int64_t latest_ns[ROAST_ENTRY_END];
};

/* Starts the run, for a file whose head tells its clocks. */
int roast__replay_start(struct roast_replay *replay, int64_t start_mono_ns,
                        int64_t start_epoch_ns, roast_error *err);

/* Makes the changes of one block; fails with NO_MEMORY only. `gap`: something is
 * missing before it. */
int roast__replay_block(struct roast_replay *replay, struct roast_str entries, bool gap,
                        roast_error *err);

void roast__replay_release(struct roast_replay *replay);

#endif
