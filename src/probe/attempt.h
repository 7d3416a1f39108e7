/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt.h - one try of an executor at one chunk, as its thread keeps it. */
#ifndef ROAST_PROBE_ATTEMPT_H
#define ROAST_PROBE_ATTEMPT_H

#include "base/buf.h"
#include "roast/probe.h"

/* Zeroed = none. */
struct roast_attempt {
    unsigned depth; /* attempts open on this thread; those inside the first are part */
    bool hidden;    /* it began inside a chunk, and is part of that */
    bool claimed;   /* a chunk has the attempt's identity */
    unsigned texts_lost; /* bit n: no memory for text n of the item */
    unsigned texts_cut;  /* texts of the failed record that were longer */
    unsigned active_at_begin;
    struct roast_identity identity;
    int64_t start_epoch_ns;
    int64_t start_mono_ns;
    int64_t start_cpu_ns;
    roast_record item;       /* what is tried; borrows texts */
    struct roast_buf texts;  /* copies of its texts */
    struct roast_buf frames; /* of its chunks, then all it has to tell */
    unsigned char identity_bytes[ROAST_IDENTITY_BYTES];
    unsigned char place_bytes[ROAST_PLACE_BYTES];
};

/* True for the first chunk inside an attempt: it takes the attempt's identity. */
bool roast__attempt_claim(struct roast_attempt *attempt);

void roast__attempt_release(struct roast_attempt *attempt);

/* A new identity in this process; *active gets how many chunks run now. (chunk.c) */
void roast__identity_make(struct roast_identity *id, const unsigned char *run_id,
                          unsigned *active);

#endif
