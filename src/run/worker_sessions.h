/* SPDX-License-Identifier: BSD-3-Clause */
/* worker_sessions.h - workers of a cluster: when each joined and left, and the offsets
 * of the clocks of their hosts.
 *
 * A worker is identified by its address. One that joins again starts another
 * session. */
#ifndef ROAST_RUN_WORKER_SESSIONS_H
#define ROAST_RUN_WORKER_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"

/* One session of a worker. left_ns 0: it had not left when the run ended. */
struct roast_worker_session {
    int32_t worker; /* numbers of strings */
    int32_t name;   /* or ROAST_NO_STRING, like the next two */
    int32_t host;
    int32_t reason;
    int64_t joined_ns;
    int64_t left_ns;
    uint64_t pid;
    uint64_t threads;
    uint64_t memory_limit_bytes;
    bool expected;
    uint32_t latest; /* in the first session of a worker: number of its latest one */
};

struct roast_worker_sessions {
    struct roast_worker_session *items; /* owned, in order of arrival */
    size_t count;
    size_t cap;
    struct roast_hash_table slots; /* by worker: its first session */
};

/* Flags of a session in a journal. */
enum { ROAST_SESSION_LEFT = 1, ROAST_SESSION_EXPECTED = 2 };

/* The latest session of a worker, borrowed until the next append; NULL: none. */
struct roast_worker_session *roast__latest_session(
    const struct roast_worker_sessions *sessions, int32_t worker);

/* Adds a session as it is; false when out of memory, and then nothing changed. */
bool roast__sessions_append(struct roast_worker_sessions *sessions,
                            const struct roast_worker_session *session);

void roast__sessions_release(struct roast_worker_sessions *sessions);

/* How far the clock of a host is ahead of the client's. */
struct roast_host_offset {
    int32_t host;
    bool is_clients; /* set by roast__clock_offsets_apply(): the offset is not used */
    int64_t offset_ns;
};

struct roast_clock_offsets {
    struct roast_host_offset *items; /* owned */
    size_t count;
    size_t cap;
    struct roast_hash_table slots; /* by host */
};

/* Moves the times of all attempts to the offsets that are known now; the lock is
 * held. */
struct roast_run;
void roast__clock_offsets_apply(struct roast_run *run);

void roast__clock_offsets_release(struct roast_clock_offsets *offsets);

#endif
