/* SPDX-License-Identifier: BSD-3-Clause */
/* write.c - writes the journal of a run to a live file while the run grows.
 *
 * Each block is written at an offset that is known before: a write that failed half-way
 * is repeated. Blocks are kept until the disk is synced, because after a failed sync it
 * is unknown what was stored: then everything since the last good sync is written again
 * at the same offsets. Acknowledged bytes are never written again.
 *
 * Two locks: `io` is held during disk operations, `lock` only briefly. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "file/live/block_format.h"
#include "file/live/disk.h"
#include "roast/live.h"

static const size_t default_queue_bytes = (size_t)16 << 20;
static const int64_t default_write_every_ns = INT64_C(250000000);
static const int64_t default_sync_every_ns = INT64_C(5000000000);
static const int64_t ns_per_s = INT64_C(1000000000);

/* A position in the file, with the blocks and changes before it. */
struct file_position {
    uint64_t offset;
    uint64_t blocks;
    uint64_t changes;
};

struct roast_live {
    struct roast_journal journal;
    pid_t pid; /* of the process that opened it */
    int64_t write_every_ns;
    int64_t sync_every_ns;
    pthread_t thread;

    pthread_mutex_t io;            /* guards what is below */
    struct roast_block *unsynced;  /* owned, in order */
    struct roast_block *unwritten; /* of them, the first that was not written */
    struct roast_block *newest;    /* and the last */
    struct roast_live_disk disk;
    struct file_position written;
    struct file_position synced;
    int64_t synced_at_ns;

    pthread_mutex_t lock; /* guards what is below */
    pthread_cond_t wake;
    bool stop;
    bool half_full; /* the queue is half full */
    bool write_now; /* a flush did not get `io` */
    bool ending;    /* no more syncs of its own */
    struct roast_live_state state;
};

enum sync { WRITE_ONLY, SYNC_IF_DUE, SYNC };

/* ---- a round; those that return a number return 0 or an errno -------------------- */

static int write_head(struct roast_live *live)
{
    unsigned char bytes[ROAST_LIVE_HEAD_BYTES];

    roast__live_head_make(bytes, live->journal.run);
    int failed = roast__disk_write(&live->disk, bytes, sizeof(bytes), 0);
    if (!failed)
        live->written.offset = sizeof(bytes);
    return failed;
}

static int write_block(struct roast_live *live, struct roast_block *block)
{
    size_t size = ROAST_BLOCK_HEAD_BYTES + block->size_bytes;

    roast__block_write_head(block->bytes, block->size_bytes, live->written.blocks + 1);
    int failed =
        roast__disk_write(&live->disk, block->bytes, size, live->written.offset);
    if (failed)
        return failed;
    live->written.offset += size;
    live->written.blocks++;
    live->written.changes += block->changes;
    return 0;
}

static int write_all(struct roast_live *live)
{
    int failed = live->written.offset == 0 ? write_head(live) : 0;

    while (!failed && live->unwritten) {
        failed = write_block(live, live->unwritten);
        if (!failed)
            live->unwritten = live->unwritten->next;
    }
    return failed;
}

/* Takes the queued blocks; all earlier ones must be written. */
static void collect(struct roast_live *live)
{
    roast__run_lock(live->journal.run);
    struct roast_block *blocks = roast__journal_take(&live->journal);
    roast__run_unlock(live->journal.run);
    live->unwritten = blocks;
    if (live->newest)
        live->newest->next = blocks;
    else
        live->unsynced = blocks;
    for (; blocks; blocks = blocks->next)
        live->newest = blocks;
}

/* Frees the written blocks, which are synced now. */
static void acknowledge(struct roast_live *live)
{
    size_t done_bytes = 0;

    while (live->unsynced != live->unwritten) {
        struct roast_block *block = live->unsynced;
        live->unsynced = block->next;
        done_bytes += block->size_bytes;
        roast__free(block);
    }
    if (!live->unsynced)
        live->newest = NULL;
    live->synced = live->written;
    roast__journal_done(&live->journal, done_bytes);
}

static int sync_all(struct roast_live *live)
{
    live->synced_at_ns = roast__clock_mono_ns();
    if (live->written.offset == live->synced.offset)
        return 0;
    int failed = roast__disk_sync(&live->disk);
    if (failed) { /* it is unknown which blocks were stored */
        live->unwritten = live->unsynced;
        live->written = live->synced;
    } else {
        acknowledge(live);
    }
    return failed;
}

static void count_round(struct roast_live *live, int failed)
{
    struct roast_live_state *state = &live->state;

    (void)pthread_mutex_lock(&live->lock);
    state->written = live->written.changes;
    state->acknowledged = live->synced.changes;
    state->errors += failed != 0;
    if (failed && state->first_error[0] == '\0')
        (void)snprintf(state->first_error, sizeof(state->first_error), "%.90s: %s",
                       live->disk.name, strerror(failed));
    (void)pthread_mutex_unlock(&live->lock);
}

/* Writes the queue, and syncs it if requested or due; 0 or an errno. `io` is held. */
static int do_round_locked(struct roast_live *live, enum sync sync)
{
    int failed = write_all(live); /* blocks whose write failed before */
    if (!failed) {
        collect(live);
        failed = write_all(live);
    }
    if (sync == SYNC ||
        (sync == SYNC_IF_DUE &&
         roast__clock_mono_ns() - live->synced_at_ns >= live->sync_every_ns)) {
        int sync_failed = sync_all(live);
        failed = failed ? failed : sync_failed;
    }
    count_round(live, failed);
    return failed;
}

static int do_round(struct roast_live *live, enum sync sync)
{
    (void)pthread_mutex_lock(&live->io);
    int failed = do_round_locked(live, sync);
    (void)pthread_mutex_unlock(&live->io);
    return failed;
}

/* ---- the thread ------------------------------------------------------------------ */

/* A forked child has no writer thread and cannot use the locks. */
static bool is_ours(const struct roast_live *live)
{
    return live->pid == getpid();
}

/* Called with the run locked. */
static void half_full(void *context)
{
    struct roast_live *live = context;

    if (!is_ours(live))
        return;
    (void)pthread_mutex_lock(&live->lock);
    live->half_full = true;
    (void)pthread_cond_signal(&live->wake);
    (void)pthread_mutex_unlock(&live->lock);
}

/* The lock is held. */
static void wait_for_round(struct roast_live *live)
{
    int64_t until_ns = roast__sat_add(roast__clock_mono_ns(), live->write_every_ns);
    struct timespec until = {.tv_sec = (time_t)(until_ns / ns_per_s),
                             .tv_nsec = (long)(until_ns % ns_per_s)};
    int status = 0;

    while (!live->stop && !live->half_full && !live->write_now && status != ETIMEDOUT)
        status = pthread_cond_timedwait(&live->wake, &live->lock, &until);
}

static void *writer_thread(void *context)
{
    struct roast_live *live = context;

    (void)pthread_mutex_lock(&live->lock);
    for (wait_for_round(live); !live->stop; wait_for_round(live)) {
        enum sync sync = live->half_full ? SYNC
                         : live->ending  ? WRITE_ONLY
                                         : SYNC_IF_DUE;
        live->half_full = live->write_now = false;
        (void)pthread_mutex_unlock(&live->lock);
        (void)do_round(live, sync);
        (void)pthread_mutex_lock(&live->lock);
    }
    (void)pthread_mutex_unlock(&live->lock);
    return NULL;
}

static void stop_thread(struct roast_live *live)
{
    (void)pthread_mutex_lock(&live->lock);
    live->stop = true;
    (void)pthread_cond_signal(&live->wake);
    (void)pthread_mutex_unlock(&live->lock);
    (void)pthread_join(live->thread, NULL);
}

/* ---- open ------------------------------------------------------------------------ */

static int open_file(struct roast_live *live, const char *path, roast_error *err)
{
    int failed = roast__disk_open(&live->disk, path);

    if (!failed) {
        failed = write_head(live);
        if (failed)
            (void)roast__disk_remove(&live->disk);
    }
    if (failed)
        return roast_error_set(err, failed == ENOMEM ? ROAST_NO_MEMORY : ROAST_IO,
                               "live file %.150s: %s", path, strerror(failed));
    return ROAST_OK;
}

static bool init_locks(struct roast_live *live)
{
    pthread_condattr_t attr;

    if (pthread_condattr_init(&attr) != 0)
        return false;
    bool ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
              pthread_mutex_init(&live->io, NULL) == 0 &&
              pthread_mutex_init(&live->lock, NULL) == 0 &&
              pthread_cond_init(&live->wake, &attr) == 0;
    (void)pthread_condattr_destroy(&attr);
    return ok;
}

static int64_t or_default(int64_t value, int64_t usual)
{
    return value > 0 ? value : usual;
}

/* Allocates without opening the file or starting the thread; NULL when out of
 * memory. */
static struct roast_live *new_live(roast_run *run,
                                   const struct roast_live_options *options)
{
    struct roast_live *live = roast__alloc(sizeof(*live));

    if (!live || !init_locks(live)) {
        roast__free(live);
        return NULL;
    }
    live->pid = getpid();
    live->disk.folder_fd = live->disk.fd = -1;
    live->write_every_ns = or_default(options->write_every_ns, default_write_every_ns);
    live->sync_every_ns = or_default(options->sync_every_ns, default_sync_every_ns);
    live->journal.run = run;
    live->journal.half_full = half_full;
    live->journal.context = live;
    return live;
}

static void free_live(struct roast_live *live)
{
    roast__disk_close(&live->disk);
    while (live->unsynced) {
        struct roast_block *next = live->unsynced->next;
        roast__free(live->unsynced);
        live->unsynced = next;
    }
    roast__journal_release(&live->journal);
    (void)pthread_cond_destroy(&live->wake);
    (void)pthread_mutex_destroy(&live->lock);
    (void)pthread_mutex_destroy(&live->io);
    roast__free(live);
}

int roast_live_open(roast_live **out, roast_run *run, const char *path,
                    const struct roast_live_options *options, roast_error *err)
{
    static const struct roast_live_options defaults;
    size_t queue_bytes = options ? options->queue_bytes : 0;

    *out = NULL;
    struct roast_live *live = new_live(run, options ? options : &defaults);
    if (!live)
        return roast_error_set(err, ROAST_NO_MEMORY, "a live file");
    int status = open_file(live, path, err);
    if (status < 0)
        goto out;
    status = roast__journal_open(&live->journal, run,
                                 queue_bytes ? queue_bytes : default_queue_bytes, err);
    if (status == ROAST_OK &&
        roast__thread_start(&live->thread, NULL, writer_thread, live) != 0) {
        roast__journal_close(&live->journal);
        status =
            roast_error_set(err, ROAST_UNAVAILABLE,
                            "live file %.150s: cannot start the writer thread", path);
    }
    if (status < 0) {
        (void)roast__disk_remove(&live->disk);
        goto out;
    }
    *out = live;
    live = NULL; /* moved to the caller */
out:
    if (live)
        free_live(live);
    return status;
}

/* ---- use and end ----------------------------------------------------------------- */

void roast_live_state(roast_live *live, struct roast_live_state *out)
{
    *out = (struct roast_live_state){0};
    if (!is_ours(live))
        return;
    (void)pthread_mutex_lock(&live->lock);
    *out = live->state;
    (void)pthread_mutex_unlock(&live->lock);
    roast__run_lock(live->journal.run);
    out->queued = live->journal.queued;
    out->dropped = live->journal.dropped;
    roast__run_unlock(live->journal.run);
}

static int sync_now(struct roast_live *live, const char *consequence, roast_error *err)
{
    struct roast_live_state state;
    int failed = do_round(live, SYNC);

    if (!failed)
        return ROAST_OK;
    roast_live_state(live, &state);
    return roast_error_set(
        err, ROAST_IO, "live file %.120s: %s; %" PRIu64 " changes %s", live->disk.path,
        strerror(failed), state.queued - state.acknowledged, consequence);
}

int roast_live_sync(roast_live *live, roast_error *err)
{
    if (!is_ours(live))
        return roast_error_set(err, ROAST_UNAVAILABLE,
                               "%.150s is written by the parent process only",
                               live->disk.path);
    return sync_now(live, "are still in memory", err);
}

/* Never waits for a sync: while the thread is in one, it writes afterwards. */
void roast_live_flush(roast_live *live)
{
    if (!is_ours(live))
        return;
    bool got = pthread_mutex_trylock(&live->io) == 0;
    if (got) {
        (void)do_round_locked(live, WRITE_ONLY);
        (void)pthread_mutex_unlock(&live->io);
    }
    (void)pthread_mutex_lock(&live->lock);
    live->ending = true;
    live->write_now = !got;
    (void)pthread_cond_signal(&live->wake);
    (void)pthread_mutex_unlock(&live->lock);
}

/* Writes what is left once no code adds to the queue. The entry with the number of
 * dropped changes comes last, and may have had to wait for room. */
static int write_remaining(struct roast_live *live, roast_error *err)
{
    int status = sync_now(live, "were not written", err);

    if (status == ROAST_OK && live->journal.unreported > 0)
        status = sync_now(live, "were not written", err);
    return status;
}

int roast_live_close(roast_live *live, bool remove, roast_error *err)
{
    int status = ROAST_OK;

    if (!live || !is_ours(live))
        return ROAST_OK;
    stop_thread(live);
    roast__journal_close(&live->journal);
    if (!remove) {
        status = write_remaining(live, err);
    } else {
        int failed = roast__disk_remove(&live->disk);
        if (failed)
            status = roast_error_set(err, ROAST_IO,
                                     "live file %.150s could not be removed: %s",
                                     live->disk.path, strerror(failed));
    }
    free_live(live);
    return status;
}
