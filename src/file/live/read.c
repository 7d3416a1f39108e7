/* SPDX-License-Identifier: BSD-3-Clause */
/* read.c - a live file back into a run.
 *
 * A run without an end remains open: it has the state of the last block that was
 * written. */
#include "file/live/read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/array.h"
#include "file/live/blocks.h"
#include "run/journal/apply.h"

static int apply_blocks(struct roast_apply *apply, struct roast_live_blocks *blocks,
                        struct roast_journal_reading *seen, roast_error *err)
{
    struct roast_str entries;
    bool gap = false;
    int status = ROAST_OK;

    if (blocks->head_known)
        status = roast__apply_start(apply, blocks->head.start_mono_ns,
                                    blocks->head.start_epoch_ns, err);
    while (status == ROAST_OK) {
        status = roast__blocks_next(blocks, &entries, &gap, seen, err);
        if (status <= 0)
            break;
        status = roast__apply_block(apply, entries, gap, err);
    }
    return status;
}

/* Reads a file, and closes it; on success apply has a run. */
static int read_file(struct roast_apply *apply, int fd, const char *path,
                     struct roast_journal_reading *seen, roast_error *err)
{
    struct roast_live_blocks blocks;

    *seen = (struct roast_journal_reading){0};
    int status = roast__blocks_open(&blocks, fd, path, seen, err);
    if (status < 0)
        return status;
    status = apply_blocks(apply, &blocks, seen, err);
    roast__blocks_close(&blocks);
    if (status == ROAST_OK && !apply->run)
        return roast_error_set(
            err, ROAST_BAD_CHECKSUM,
            "%.150s: the entry with the start of the run is damaged, "
            "so nothing can be read",
            path);
    return status;
}

/* Numbers of blocks are untrusted, so a gap counts once, whatever its length. */
uint64_t roast__reading_unreadable(const struct roast_journal_reading *seen)
{
    return roast__sat_count(seen->gaps, seen->unread);
}

int roast__live_read_open(roast_run **out, const struct roast_live_file *file,
                          struct roast_journal_reading *seen, roast_error *err)
{
    struct roast_apply apply = {.notes_only = file->notes_only};

    *out = NULL;
    int status = read_file(&apply, file->fd, file->path, seen, err);
    if (status == ROAST_OK) {
        seen->entries = apply.entries;
        seen->dropped = apply.dropped;
        seen->unread = apply.unread;
        roast_run_lose(apply.run, ROAST_RUN_LOSS_live_damaged,
                       roast__reading_unreadable(seen));
        *out = apply.run;
        apply.run = NULL; /* moved to the caller */
    }
    roast__apply_release(&apply);
    return status;
}

int roast__live_read(roast_run **out, const char *path,
                     struct roast_journal_reading *seen, roast_error *err)
{
    /* O_NONBLOCK: opening a pipe must not block */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *out = NULL;
    if (fd < 0)
        return roast_error_set(err, ROAST_IO, "%.150s: %s", path, strerror(errno));
    return roast__live_read_open(out, &(struct roast_live_file){.fd = fd, .path = path},
                                 seen, err);
}
