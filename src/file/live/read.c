/* SPDX-License-Identifier: BSD-3-Clause */
/* read.c - a live file back into a run.
 *
 * A run that nobody ended stays open: what is read is what was known when the last
 * block was written. */
#include "file/live/read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "file/live/blocks.h"
#include "file/live/replay.h"
#include "run/array.h"

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

/* Reads a file, and closes it; on success replay has a run. */
static int read_file(struct roast_replay *replay, int fd, const char *path,
                     struct roast_live_reading *seen, roast_error *err)
{
    struct roast_live_blocks blocks;

    *seen = (struct roast_live_reading){0};
    int status = roast__blocks_open(&blocks, fd, path, seen, err);
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

int roast__live_read_open(roast_run **out, const struct roast_live_file *file,
                          struct roast_live_reading *seen, roast_error *err)
{
    struct roast_replay replay = {.notes_only = file->notes_only};

    *out = NULL;
    int status = read_file(&replay, file->fd, file->path, seen, err);
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

int roast__live_read(roast_run **out, const char *path, struct roast_live_reading *seen,
                     roast_error *err)
{
    /* O_NONBLOCK: a pipe must not hold us */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *out = NULL;
    if (fd < 0)
        return roast_error_set(err, ROAST_IO, "%.150s: %s", path, strerror(errno));
    return roast__live_read_open(out, &(struct roast_live_file){.fd = fd, .path = path},
                                 seen, err);
}
