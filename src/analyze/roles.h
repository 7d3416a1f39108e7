/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.h - what every attempt is to its chunk: the one that counts, a repeat, failed.
 *
 * A chunk is a range of entries of a file, within one call of the Runner. It is counted
 * once, by the first of its attempts that ended well and left a record. An attempt
 * without file or entries is a chunk of its own. Counting the entries of a file is no
 * attempt at a chunk; it is recorded only if it failed. */
#ifndef ROAST_ANALYZE_ROLES_H
#define ROAST_ANALYZE_ROLES_H

#include "roast/error.h"
#include "run/run.h"

enum roast_role {
    ROAST_ROLE_OPEN,   /* neither ended nor lost, or its end is not known */
    ROAST_ROLE_COUNTS, /* its record stands for the chunk */
    ROAST_ROLE_BARE,   /* stands for the chunk, but left no record */
    ROAST_ROLE_REPEAT, /* ended well, another attempt stands for the chunk */
    ROAST_ROLE_FAILED,
    ROAST_ROLE_LOST, /* began and never ended, and the run is over */
    ROAST_ROLE_COUNT
};

/* A row of a chunk that has several. */
struct roast_tried {
    uint32_t row;
    uint32_t attempt; /* 1, 2 ... in the order of start */
    bool resolved;    /* the chunk ended well */
};

/* Zeroed = empty and valid; everything is owned. */
struct roast_roles {
    unsigned char *of_row; /* roast_role */
    uint64_t rows[ROAST_ROLE_COUNT];
    uint64_t chunks; /* the sum of the next four */
    uint64_t successful_chunks;
    uint64_t running_chunks; /* none ended well, one is open */
    uint64_t failed_chunks;  /* none ended well nor is open, one failed */
    uint64_t lost_chunks;
    uint64_t retried_chunks;
    uint64_t file_tries;       /* failures to count the entries of a file */
    uint64_t failed_files;     /* files with such failures and without chunks */
    struct roast_tried *tried; /* by row */
    size_t tried_count;
    unsigned char *file_read; /* per source: its file has chunks; NULL: no file tries */
};

/* The roles of rows that are the only attempts at their chunks; true: all count. */
bool roast__roles_alone(unsigned char *roles, const struct roast_attempts *attempts,
                        size_t from, size_t count, bool over);

int roast__roles_find(struct roast_roles *roles, const struct roast_run *run,
                      roast_error *err);
void roast__roles_release(struct roast_roles *roles);

/* The entry of a row among `tried`; NULL: the only attempt of its chunk. */
const struct roast_tried *roast__roles_tried(const struct roast_roles *roles,
                                             size_t row);

/* Whether another attempt made a failed one good. */
bool roast__roles_resolved(const struct roast_roles *roles, const struct roast_run *run,
                           size_t row);

/* Whether a row is a failure to count the entries of a file. */
bool roast__is_file_try(const struct roast_run *run, size_t row);

/* Counts the failed files; false when out of memory. */
bool roast__roles_find_files(struct roast_roles *roles, const struct roast_run *run);

/* The rows of chunks with several attempts, as (first row, row) pairs in any order;
 * *pairs is owned by the caller. */
struct roast_same_chunk {
    uint32_t first;
    uint32_t row;
};
int roast__same_chunks(struct roast_same_chunk **pairs, size_t *count,
                       const struct roast_run *run, roast_error *err);

#endif
