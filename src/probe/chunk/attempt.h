/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt.h - the state of the attempt that runs on a thread. */
#ifndef ROAST_PROBE_CHUNK_ATTEMPT_H
#define ROAST_PROBE_CHUNK_ATTEMPT_H

#include "base/buf.h"
#include "probe/ladder/ladder.h"
#include "roast/probe.h"

/* Short enough for an end frame that has the largest numbers in all other fields and no
 * ladder. */
enum { ROAST_END_ERROR_TYPE_BYTES = 64, ROAST_END_FIRST_ERROR_BYTES = 48 };

/* Zeroed = none. */
struct roast_attempt {
    unsigned depth;      /* open on this thread; inner ones are part of the first */
    bool hidden;         /* it began inside a chunk and is part of it */
    bool claimed;        /* a chunk has the attempt's identity */
    bool packs;          /* the executor packs results */
    bool packable;       /* it ended well; packing its result can be measured */
    uint64_t texts_lost; /* bit n: no memory for field n of the item */
    unsigned texts_cut;  /* texts of its own record that were cut */
    unsigned active_at_begin;
    struct roast_identity identity;
    unsigned char name_key[ROAST_NAME_KEY_BYTES];
    int64_t start_epoch_ns;
    int64_t start_mono_ns;
    int64_t start_cpu_ns;
    int64_t start_process_cpu_ns;
    roast_record item;       /* what is tried; borrows texts */
    struct roast_buf texts;  /* copies of its texts */
    struct roast_buf frames; /* of its chunks; at last the end frame */
    roast_record end;        /* what the end frame holds, without the ladder */
    struct roast_ladder_state ladder;
    unsigned char identity_bytes[ROAST_IDENTITY_BYTES];
    unsigned char place_bytes[ROAST_PLACE_BYTES];
    char first_error[ROAST_END_FIRST_ERROR_BYTES]; /* of the monitor; for `end` */
};

/* True for the first chunk inside an attempt: it takes the attempt's identity. */
bool roast__attempt_claim(struct roast_attempt *attempt);

void roast__attempt_release(struct roast_attempt *attempt);

/* Whether process() was seen to begin, without being decorated. */
static inline bool roast__attempt_computed(const struct roast_attempt *attempt)
{
    return attempt->ladder.armed && attempt->ladder.compute.reached;
}

/* How an attempt ended. */
struct roast_attempt_close {
    const struct roast_chunk_end *end;
    int64_t mono_ns;
    int64_t cpu_ns;       /* of the thread */
    unsigned concurrency; /* most attempts seen running at once */
};

/* Append a frame to those of the attempt; false when out of memory; earlier frames are
 * kept then. put_record is for an attempt without a chunk. (attempt_record.c,
 * attempt_end.c) */
bool roast__attempt_put_record(struct roast_thread *thread,
                               const struct roast_attempt_close *close);
bool roast__attempt_put_end(struct roast_thread *thread,
                            const struct roast_attempt_close *close);

/* The fields that begin and end frames share with the item. */
void roast__attempt_identify(struct roast_attempt *attempt, roast_record *out,
                             enum roast_frame_kind kind);

/* What a redaction wrote. A full buffer may end inside a character, so it counts as
 * cut. */
struct roast_str roast__attempt_redacted(struct roast_attempt *attempt, const char *out,
                                         size_t used_bytes, size_t room_bytes);

static inline uint64_t roast__since(int64_t start_ns, int64_t now_ns)
{
    return now_ns > start_ns ? (uint64_t)(now_ns - start_ns) : 0;
}

/* A new identity in this process; *active gets how many chunks run now. (chunk.c) */
void roast__identity_make(struct roast_identity *id, const unsigned char *run_id,
                          unsigned *active);

#endif
