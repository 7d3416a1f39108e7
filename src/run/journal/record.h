/* SPDX-License-Identifier: BSD-3-Clause */
/* record.h - a record as the payload of a journal entry, and back.
 *
 * Records of one process resemble each other, so an entry holds the difference to the
 * last record of that process in the same block. A block never refers to another one:
 * a damaged block costs only its own records.
 *
 *     varint    kind | named << 2 | linked << 3 | first << 4
 *     linked    varint hash of the task's key, reference: the worker
 *     named     varint number of the process; 24 bytes, if first: run id and process id
 *     varint    fields, xor those of the last record of that kind
 *     varint    which of these fields changed, one bit each
 *     values    of those that changed
 *
 * `first` is set if the process has no earlier record in this block: all earlier values
 * are 0. Numbers are zigzagged differences; of the second and later times in a record
 * also to the difference of the time before, because clocks advance together. The
 * identity of a named record is the difference of its sequence number. Texts that
 * repeat are references (journal.h), 0 for one that follows as size and bytes. A ladder
 * is written like a record: 1 + (items xor last items), which of them changed, and their
 * differences; 0 for one that follows as size and bytes. */
#ifndef ROAST_RUN_JOURNAL_RECORD_H
#define ROAST_RUN_JOURNAL_RECORD_H

#include "base/buf.h"
#include "roast/ladder.h"
#include "roast/record.h"

enum {
    ROAST_PROCESS_KEY_BYTES = ROAST_IDENTITY_BYTES - 4, /* without sequence number */
    ROAST_RECORD_KINDS = 4,                             /* 0 is none */
    ROAST_RECORD_CONTEXTS = 1024,
};

/* The last records of one process in one block. */
struct roast_record_context {
    uint64_t process; /* number */
    uint32_t block;   /* that all of this is of; 0: none */
    unsigned char key[ROAST_PROCESS_KEY_BYTES];
    uint64_t present[ROAST_RECORD_KINDS];
    int64_t last[ROAST_FIELD_COUNT]; /* of texts: number of the reference + 1 */
    struct roast_ladder ladder;
};

#endif
