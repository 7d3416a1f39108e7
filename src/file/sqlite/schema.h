/* SPDX-License-Identifier: BSD-3-Clause */
/* schema.h - the tables and views of a run file. */
#ifndef ROAST_FILE_SQLITE_SCHEMA_H
#define ROAST_FILE_SQLITE_SCHEMA_H

#include "base/buf.h"
#include "file/sqlite/sql.h"
#include "roast/analyze.h"

enum { ROAST_APPLICATION_ID = 0x526f7374 }; /* "Rost" */

/* Columns of the table `run`, behind its id. */
enum roast_run_column {
#define R(name, type, text) ROAST_RUN_##name,
#include "file/sqlite/run_row.def"
#undef R
    ROAST_RUN_COLUMN_COUNT
};

const char *roast__run_column_name(enum roast_run_column column);
bool roast__run_column_is_real(enum roast_run_column column);

/* Makes everything in an empty file but attempts and the views of them, which come when
 * it is known what columns they have: bit n of `columns`, column n of roast_row_column. */
int roast__schema_make(sqlite3 *db, roast_error *err);
int roast__schema_make_attempts(sqlite3 *db, uint64_t columns, roast_error *err);

/* Whether a table of tables.def is in the file as plain rows. */
bool roast__is_stored(enum roast_table_id table);

/* Whether the file has a plain table of this name: 1, 0. One that is made of anything
 * but columns with a type, or is a view, is none. */
int roast__schema_has(sqlite3 *db, const char *table, roast_error *err);

/* Sums up what tables and views there are, for `contents`: 4 bytes in an empty buffer. */
int roast__schema_sum(struct roast_buf *out, sqlite3 *db, roast_error *err);

/* BAD_DATA unless all tables that hold raw facts are there. */
int roast__schema_check(sqlite3 *db, roast_error *err);

#endif
