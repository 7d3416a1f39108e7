/* SPDX-License-Identifier: BSD-3-Clause */
/* sql.h - SQLite as we use it: connections, statements, and its errors in our words.
 *
 * One thread at a time uses a connection: it has no lock of its own. */
#ifndef ROAST_FILE_SQLITE_SQL_H
#define ROAST_FILE_SQLITE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "roast/error.h"
#include "roast/text.h"

/* A connection that fills an empty file that no other process uses yet; NULL: one in
 * memory. It neither locks nor syncs: the owner of the file does. Every table takes at
 * least one page. Returns owned. */
enum { ROAST_SMALL_PAGE_BYTES = 4096, ROAST_LARGE_PAGE_BYTES = 16384 };
int roast__sql_create(sqlite3 **out, const char *path, int page_bytes,
                      roast_error *err);

/* A connection that reads an untrusted finished file. It takes no lock, and does no
 * more work than a file of so many bytes can require; the remaining work is in *budget,
 * which it borrows. Returns owned. */
int roast__sql_open(sqlite3 **out, const char *path, uint64_t file_bytes,
                    uint64_t *budget, roast_error *err);

/* The budget at the start of every operation. */
uint64_t roast__sql_budget(uint64_t file_bytes);

/* Makes the connection read-only, without a limit of work. */
void roast__sql_only_read(sqlite3 *db);

void roast__sql_close(sqlite3 *db); /* NULL is fine */

/* Our status for the last error of a connection, with its reason in err. */
int roast__sql_error(sqlite3 *db, int code, roast_error *err);

int roast__sql_run(sqlite3 *db, const char *sql, roast_error *err);

/* Returns owned, for sqlite3_finalize(). */
int roast__sql_prepare(sqlite3_stmt **out, sqlite3 *db, const char *sql,
                       roast_error *err);

/* 1: a row was read; 0: no more rows. */
int roast__sql_step(sqlite3_stmt *statement, roast_error *err);

/* The text of a cell, borrowed until the next step; absent for NULL, and for a cell
 * that holds a number. */
struct roast_str roast__sql_text(sqlite3_stmt *statement, int column);

#endif
