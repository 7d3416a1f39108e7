/* SPDX-License-Identifier: BSD-3-Clause */
/* outbox.c - the queue of frames in this process, for the collector.
 *
 * Frames carry their own length, so the queue is just bytes. When it is full, new
 * frames are refused and counted. A forked child starts with an empty queue, because
 * its parent delivers the frames. */
#include <pthread.h>

#include "base/buf.h"
#include "base/mem.h"
#include "roast/probe.h"

enum { OUTBOX_MAX_BYTES = 16 * 1024 * 1024 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct roast_buf waiting;
static uint64_t dropped_frames;

static void before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
    (void)pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    roast__buf_release(&waiting);
    dropped_frames = 0;
    (void)pthread_mutex_unlock(&lock);
}

static void install(void)
{
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

static void enter(void)
{
    (void)pthread_once(&once, install);
    (void)pthread_mutex_lock(&lock);
}

int roast_outbox_put(struct roast_str frame, roast_error *err)
{
    int status = ROAST_OK;

    enter();
    if (waiting.size_bytes + frame.size_bytes > OUTBOX_MAX_BYTES)
        status = roast_error_set(err, ROAST_LIMIT, "%d bytes of frames wait already",
                                 OUTBOX_MAX_BYTES);
    else
        roast__buf_put(&waiting, frame.data, frame.size_bytes);
    if (!roast__buf_ok(&waiting)) {
        waiting.failed = false; /* the frames before it are complete */
        status = roast_error_set(err, ROAST_NO_MEMORY, "%zu bytes", frame.size_bytes);
    }
    if (status < 0)
        dropped_frames++;
    (void)pthread_mutex_unlock(&lock);
    return status;
}

void roast_outbox_take(struct roast_str *frames, uint64_t *dropped)
{
    enter();
    frames->data = (const char *)waiting.data;
    frames->size_bytes = waiting.size_bytes;
    waiting = (struct roast_buf){NULL, 0, 0, false};
    *dropped = dropped_frames;
    dropped_frames = 0;
    (void)pthread_mutex_unlock(&lock);
}

void roast_outbox_put_back(struct roast_str *frames, uint64_t dropped)
{
    struct roast_buf older = {(unsigned char *)(uintptr_t)frames->data,
                              frames->size_bytes, frames->size_bytes, false};

    enter();
    dropped_frames += dropped;
    roast__buf_put(&older, waiting.data, waiting.size_bytes);
    struct roast_str lost = {(const char *)waiting.data, waiting.size_bytes};
    while (!roast__buf_ok(&older) && lost.size_bytes > 0) {
        roast_record rec;
        size_t used = lost.size_bytes; /* invalid bytes count as one frame */
        (void)roast_record_decode(&rec, &used, lost, NULL);
        lost.data += used;
        lost.size_bytes -= used;
        dropped_frames++;
    }
    older.failed = false;
    roast__free(waiting.data);
    waiting = older;
    (void)pthread_mutex_unlock(&lock);
    *frames = (struct roast_str){NULL, 0};
}

void roast_outbox_release(struct roast_str *frames)
{
    roast__free((void *)(uintptr_t)frames->data);
    *frames = (struct roast_str){NULL, 0};
}
