/* SPDX-License-Identifier: BSD-3-Clause */
/* live_read.c - a live file back into a run.
 *
 * A run that nobody ended stays open: what is read is what was known when the last
 * block was written. */
#include "file/live_read.h"

#include <stdio.h>
#include <string.h>

#include "file/live_blocks.h"
#include "file/live_replay.h"
#include "store/array.h"

static int replay_blocks(struct roast_replay *replay, struct roast_live_blocks *blocks,
                         struct roast_live_reading *seen, roast_error *err)
{
    struct roast_str entries;
    bool gap = false;
    int status = ROAST_OK;

    if (blocks->head_known)
        status = roast__replay_start(replay, blocks->head.start_mono_ns,
                                     blocks->head.start_epoch_ns, err);
    while (status == ROAST_OK) {
        status = roast__blocks_next(blocks, &entries, &gap, seen, err);
        if (status <= 0)
            break;
        status = roast__replay_block(replay, entries, gap, err);
    }
    return status;
}

/* Reads a file; on success replay has a run. */
static int read_file(struct roast_replay *replay, const char *path,
                     struct roast_live_reading *seen, roast_error *err)
{
    struct roast_live_blocks blocks;

    *seen = (struct roast_live_reading){0};
    int status = roast__blocks_open(&blocks, path, seen, err);
    if (status < 0)
        return status;
    status = replay_blocks(replay, &blocks, seen, err);
    roast__blocks_close(&blocks);
    if (status == ROAST_OK && !replay->run)
        return roast_error_set(err, ROAST_BAD_CHECKSUM,
                               "%.150s: damaged where the start of the run is told: "
                               "nothing of it can be read",
                               path);
    return status;
}

/* How many blocks were in a gap is told by numbers that may be anybody's: a gap is one. */
uint64_t roast__live_unreadable(const struct roast_live_reading *seen)
{
    return roast__sat_count(seen->gaps, seen->unread);
}

int roast__live_read(roast_run **out, const char *path, struct roast_live_reading *seen,
                     roast_error *err)
{
    struct roast_replay replay = {0};

    *out = NULL;
    int status = read_file(&replay, path, seen, err);
    if (status == ROAST_OK) {
        seen->entries = replay.entries;
        seen->dropped = replay.dropped;
        seen->unread = replay.unread;
        roast_run_lose(replay.run, ROAST_RUN_LOSS_live_damaged,
                       roast__live_unreadable(seen));
        *out = replay.run;
        replay.run = NULL; /* moved to the caller */
    }
    roast__replay_release(&replay);
    return status;
}

/* ---- a glance ------------------------------------------------------------ */

static void copy_note(roast_run *run, const char *name, char *out, size_t out_bytes)
{
    (void)roast_run_note(run, ROAST_NOTES_run, name, out, out_bytes);
}

static const char *state_of(roast_run *run)
{
    char failure[8];

    copy_note(run, "failure", failure, sizeof(failure));
    if (*failure)
        return "failed";
    return roast_run_span(run).end_ns != 0 ? "finished" : "unfinished";
}

static void count_note(void *context, struct roast_str name, struct roast_str text)
{
    double *count = context;

    (void)name;
    (void)text;
    ++*count;
}

int roast__live_glance(struct roast_glance *out, const char *path, roast_error *err)
{
    struct roast_replay replay = {.notes_only = true};
    struct roast_live_reading seen;

    *out = (struct roast_glance){.live = true,
                                 .wall_s = -1,
                                 .events = -1,
                                 .chunks = -1,
                                 .failed = -1,
                                 .event_rate = -1,
                                 .label_count = -1};
    int status = read_file(&replay, path, &seen, err);
    if (status == ROAST_OK) {
        out->start_ns = roast_run_span(replay.run).start_ns;
        (void)snprintf(out->state, sizeof(out->state), "%s", state_of(replay.run));
        copy_note(replay.run, "id", out->id, sizeof(out->id));
        copy_note(replay.run, "processor", out->processor, sizeof(out->processor));
        copy_note(replay.run, "executor", out->executor, sizeof(out->executor));
        roast_run_labels(replay.run, out->labels, sizeof(out->labels));
        out->label_count = 0;
        roast_run_notes(replay.run, ROAST_NOTES_label, count_note, &out->label_count);
    }
    roast__replay_release(&replay);
    return status;
}
