/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder.h - the time of an attempt by slice: the state of a thread.
 *
 * The current slice is the innermost one that is entered, or else the phase. A switch
 * reads the clock once and adds the time since the last switch to the old slice, so
 * nothing is counted twice or left out. */
#ifndef ROAST_PROBE_LADDER_LADDER_H
#define ROAST_PROBE_LADDER_LADDER_H

#include "probe/ladder/reads.h"
#include "probe/linux/procfile.h"
#include "roast/probe_ladder.h"

enum { ROAST_LADDER_MAX_DEPTH = 64 };

struct roast_entered {
    unsigned token;
    enum roast_ladder_item slice;
};

/* Begin and, if observed, end of an undecorated process(). */
struct roast_compute_mark {
    bool reached, ended, rss_known;
    int64_t epoch_ns;
    int64_t mono_ns, end_mono_ns;
    int64_t cpu_ns, end_cpu_ns;
    uint64_t rss_bytes;
    uint64_t bytes; /* requested from the file before it */
};

/* Zeroed = not armed; then no other field has a meaning. */
struct roast_ladder_state {
    bool armed;
    bool runqueue_known;
    bool events_known;
    enum roast_ladder_item phase;
    enum roast_ladder_item now; /* the slice since switched_ns */
    int64_t switched_ns;
    int64_t fetch_cpu_ns; /* CPU clock of the thread at the switch to fetch */
    uint64_t runqueue_ns; /* of the thread when it was armed */
    uint64_t num_events;
    uint32_t missing; /* bit n: slice n is not known */
    unsigned depth;
    unsigned serial;          /* of the slice entered last; never reset */
    struct roast_ladder sums; /* slices, and other items that were added */
    struct roast_compute_mark compute;
    struct roast_reads reads;
    struct roast_entered entered[ROAST_LADDER_MAX_DEPTH];
};

static inline bool roast__is_slice(enum roast_ladder_item item)
{
    return item <= ROAST_ITEM_unnamed;
}

/* As roast_ladder_phase(), at the given time: a chunk passes its own reading. */
void roast__ladder_phase_at(struct roast_ladder_state *state,
                            enum roast_ladder_item slice, int64_t now_ns);

/* The attempt ends now: the last slice gets its time. `file` is schedstat. */
void roast__ladder_close(struct roast_ladder_state *state, struct roast_procfile *file,
                         int64_t now_ns);

/* The same for packing its result, after it ended. */
void roast__ladder_packed(struct roast_ladder_state *state, struct roast_procfile *file,
                          int64_t now_ns);

/* The ladder for an end frame: the time of missing slices is in `unnamed`. */
void roast__ladder_get(const struct roast_ladder_state *state,
                       struct roast_ladder *out);

/* Bytes requested from the file so far; false when not known. */
bool roast__ladder_bytes(const struct roast_ladder_state *state, uint64_t *bytes);

#endif
