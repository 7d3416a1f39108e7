/* SPDX-License-Identifier: BSD-3-Clause */
/* seal.h - the row of `run` with a checksum in itself, so that it can be read alone.
 *
 * `contents` has a sum of it too, but that is another table. The seal is what that sum
 * would be if the table ended before the column `seal`. */
#ifndef ROAST_FILE_SQLITE_SEAL_H
#define ROAST_FILE_SQLITE_SEAL_H

#include "file/look.h"
#include "file/sqlite/schema.h"

enum { ROAST_SEAL_PAGE_BYTES = ROAST_LARGE_PAGE_BYTES };

/* Seals the row, which is there; what changes it afterwards breaks the seal. */
int roast__seal_put(sqlite3 *db, roast_error *err);

/* Reads the row without SQLite: 1 it is sealed and whole, and texts in it are borrowed
 * from `page`; 0 it is not, or not where we put it: let SQLite see. Columns from the seal
 * on are NULL. Fails when out of memory. */
int roast__seal_read(struct roast_sql_value out[ROAST_RUN_COLUMN_COUNT],
                     unsigned char page[ROAST_SEAL_PAGE_BYTES], int fd,
                     const struct roast_look *look, roast_error *err);

#endif
