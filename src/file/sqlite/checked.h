/* SPDX-License-Identifier: BSD-3-Clause */
/* checked.h - rows of plain tables that can be trusted: a checksum for every few rows.
 *
 * SQLite does not protect rows. Beside them the table `contents` says how many there
 * are and keeps a CRC-32C of every block of them; a block that does not match is left
 * out. How a row becomes bytes for that is in docs/format.md. */
#ifndef ROAST_FILE_SQLITE_CHECKED_H
#define ROAST_FILE_SQLITE_CHECKED_H

#include "file/sqlite/sums.h"

enum { ROAST_BLOCK_ROWS = 32, ROAST_ATTEMPT_BLOCK_ROWS = 1024 };

/* ---- what a file says that it holds -------------------------------------------------- */

struct roast_contents {
    uint64_t rows;         /* of a table; of a segment, its parts */
    struct roast_buf sums; /* 4 bytes for every block of a table */
};

/* sums is NULL for a segment. */
int roast__contents_put(sqlite3 *db, const char *name, uint64_t rows,
                        const struct roast_buf *sums, roast_error *err);

/* 1: found; 0: nothing is said, or it cannot be read. */
int roast__contents_find(struct roast_contents *out, sqlite3 *db, const char *name,
                         roast_error *err);
void roast__contents_release(struct roast_contents *contents);

/* How many rows of a statement a file of so many bytes can hold. */
uint64_t roast__most_rows(sqlite3_stmt *select, uint64_t file_bytes);

/* Of a table that cannot be believed: the rows that it promised, as far as the file can
 * hold them, and one at least. */
static inline uint64_t roast__rows_lost(uint64_t promised, uint64_t most)
{
    uint64_t lost = promised < most ? promised : most;

    return lost > 0 ? lost : 1;
}

/* Sums up the rows of a table that was filled, by blocks of ROAST_BLOCK_ROWS. */
int roast__checked_sum(sqlite3 *db, const char *table, roast_error *err);

/* ---- reading ----------------------------------------------------------------------- */

struct roast_checked {
    sqlite3_stmt *select; /* owned; holds the row after roast__checked_next() */
    uint64_t rows;        /* that the file says it has */
    uint64_t lost;        /* rows that are missing or in a damaged block */
    uint32_t begin;       /* sum of a block without rows */
    uint64_t block;
    uint64_t left;       /* rows of the block still to come */
    uint64_t left_bytes; /* of the file; rows may be made to share pages */
    struct roast_contents contents;
    struct roast_buf row;
};

/* A table of which nothing is known is one that lost a row. */
int roast__checked_open(struct roast_checked *out, sqlite3 *db, const char *table,
                        roast_error *err);

/* 1: a row is there; 0: no more. Fails when memory or the disk does. */
int roast__checked_next(struct roast_checked *in, roast_error *err);
void roast__checked_close(struct roast_checked *in);

/* The position of a column; -1: there is none. */
int roast__checked_column(const struct roast_checked *in, const char *name);

#endif
