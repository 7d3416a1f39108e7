/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_live.c - any bytes as a live file: refused, or a run that can be summarized, and
 * every byte of the file is accounted for.
 *
 * A fuzzer cannot find a valid CRC, so the file is read a second time with valid ones
 * wherever a head or a block could be. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "file/live/fix_blocks.h"
#include "file/runfile.h"
#include "record_checks.h"
#include "roast/analyze.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum { SUMMARIZED_OF = 64 };
static char path[64];
static bool summarize; /* costs more than all else: only for some inputs */

static void remove_file(void)
{
    (void)unlink(path);
}

/* One file for all inputs. */
static void write_file(const uint8_t *data, size_t size_bytes)
{
    if (!path[0]) {
        (void)snprintf(path, sizeof(path), "%s/roast-fuzz-live-%ld",
                       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                       (long)getpid());
        PROMISE(atexit(remove_file) == 0);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    PROMISE(fd >= 0);
    PROMISE(write(fd, data, size_bytes) == (ssize_t)size_bytes);
    (void)close(fd);
}

static void read_all(roast_run *run)
{
    struct roast_chunk_list chunks;
    struct roast_tracking tracking;
    roast_summary *summary = NULL;

    PROMISE(roast_run_chunks(run, &chunks, NULL) == ROAST_OK);
    roast_chunk_list_release(&chunks);
    PROMISE(roast_run_tracking(run, &tracking, NULL) == ROAST_OK);
    roast_tracking_release(&tracking);
    if (summarize)
        PROMISE(roast_summarize(&summary, run, NULL) == ROAST_OK);
    roast_summary_free(summary);
}

static void check_seen(const struct roast_journal_reading *seen, size_t size_bytes)
{
    PROMISE(seen->cut_bytes < size_bytes);
    PROMISE(seen->blocks <= size_bytes / ROAST_BLOCK_HEAD_BYTES);
    PROMISE(seen->entries + seen->unread <= size_bytes);
    PROMISE(memchr(seen->writer, '\0', sizeof(seen->writer)));
}

static void read_file(size_t size_bytes)
{
    struct roast_journal_reading seen;
    struct roast_run_info info;
    roast_run *run = NULL;
    roast_error err = {0};

    int status = roast__live_read(&run, path, &seen, &err);
    PROMISE(status == err.code);
    PROMISE((status == ROAST_OK) == (run != NULL));
    PROMISE(status == ROAST_OK || status == ROAST_BAD_DATA ||
            status == ROAST_TRUNCATED || status == ROAST_BAD_CHECKSUM ||
            status == ROAST_NEWER_FORMAT);
    if (run) {
        check_seen(&seen, size_bytes);
        read_all(run);
    }
    roast_run_free(run);
    status = roast__run_info(&info, path, false, NULL);
    PROMISE(memchr(info.labels, '\0', sizeof(info.labels)));
    PROMISE(status <= ROAST_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    unsigned char *copy = calloc(size_bytes + 1, 1);

    PROMISE(copy);
    if (size_bytes > 0)
        memcpy(copy, data, size_bytes);
    summarize = roast__crc32c(copy, size_bytes) % SUMMARIZED_OF == 0;
    write_file(copy, size_bytes);
    read_file(size_bytes);
    fix_blocks(copy, size_bytes);
    write_file(copy, size_bytes);
    read_file(size_bytes);
    free(copy);
    return 0;
}
