/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.h - the role of every attempt in its chunk: counted, repeated, failed, lost.
 *
 * A chunk is a range of entries of a file within one call of Runner.run, and the calls
 * that ran again what its result missed. It is counted once, by its first successful
 * attempt with a record. An attempt without file or
 * entries is its own chunk. Preprocessing, which counts the entries of a file, is not an
 * attempt at a chunk; it is recorded only if it failed. */
#ifndef ROAST_ANALYZE_ROLES_H
#define ROAST_ANALYZE_ROLES_H

#include "roast/error.h"
#include "run/run.h"

enum roast_role {
    ROAST_ROLE_OPEN,   /* running, or its end is not known */
    ROAST_ROLE_COUNTS, /* successful; its record is used for the chunk */
    ROAST_ROLE_BARE,   /* successful; used for the chunk, but without a record */
    ROAST_ROLE_REPEAT, /* successful; another attempt is used for the chunk */
    ROAST_ROLE_FAILED,
    ROAST_ROLE_LOST,      /* it began, and the run ended without its end */
    ROAST_ROLE_CANCELLED, /* the same where the run was interrupted and its worker was
                             there; or the interruption ended it */
    ROAST_ROLE_COUNT
};

/* An attempt at a chunk with several attempts. */
struct roast_retry {
    uint32_t row;
    uint32_t attempt; /* 1, 2 ... by start time */
    bool resolved;    /* some attempt at the chunk was successful */
};

/* Zeroed = empty and valid; everything is owned. */
struct roast_roles {
    unsigned char *of_row; /* roast_role */
    uint64_t rows[ROAST_ROLE_COUNT];
    uint64_t chunks; /* the sum of the next five */
    uint64_t successful_chunks;
    uint64_t running_chunks; /* no successful attempt, one is open */
    uint64_t failed_chunks;  /* no successful or open attempt, one failed */
    uint64_t lost_chunks;
    uint64_t cancelled_chunks; /* all attempts were cancelled */
    uint64_t retried_chunks;
    uint64_t preprocess_failures; /* attempts: see roast__is_preprocess_failure() */
    uint64_t failed_files;        /* files with such failures and without chunks */
    struct roast_retry *retries;  /* by row */
    size_t retry_count;
    unsigned char *file_read; /* per source: its file has chunks; NULL: no failures */
};

int roast__roles_find(struct roast_roles *roles, const struct roast_run *run,
                      roast_error *err);
void roast__roles_release(struct roast_roles *roles);

/* The entry of a row in `retries`; NULL: it is the only attempt at its chunk. */
const struct roast_retry *roast__roles_retry(const struct roast_roles *roles,
                                             size_t row);

/* The status of an attempt, as in the table `tasks`; NULL: its end was not observed. */
const char *roast__role_status(const struct roast_run *run, enum roast_role role);

/* Whether the chunk or file of a failed attempt was successful in another one. */
bool roast__roles_resolved(const struct roast_roles *roles, const struct roast_run *run,
                           size_t row);

/* Whether a row is a failure to count the entries of a file. */
bool roast__is_preprocess_failure(const struct roast_run *run, size_t row);

/* Counts the failed files; false when out of memory. */
bool roast__roles_find_failed_files(struct roast_roles *roles,
                                    const struct roast_run *run);

/* Chunks with several attempts, as pairs (first row, other row) in any order; *pairs is
 * owned by the caller. */
struct roast_same_chunk {
    uint32_t first;
    uint32_t row;
};
int roast__same_chunks(struct roast_same_chunk **pairs, size_t *count,
                       const struct roast_run *run, roast_error *err);

#endif
