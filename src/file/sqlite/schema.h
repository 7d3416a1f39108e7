/* SPDX-License-Identifier: BSD-3-Clause */
/* schema.h - the tables and views of a run file. */
#ifndef ROAST_FILE_SQLITE_SCHEMA_H
#define ROAST_FILE_SQLITE_SCHEMA_H

#include "file/sqlite/sql.h"
#include "roast/analyze.h"
#include "roast/ladder.h"

enum { ROAST_APPLICATION_ID = 0x526f7374 }; /* "Rost" */

/* Columns of the table chunk_rows, after its id. */
enum roast_chunk_column {
#define R(name, type) ROAST_CHUNK_ROW_##name,
#include "file/sqlite/chunk_rows.def"
#undef R
    ROAST_CHUNK_ROW_FIRST_ITEM, /* of the ladder */
    ROAST_CHUNK_ROW_COUNT = ROAST_CHUNK_ROW_FIRST_ITEM + ROAST_ITEM_COUNT
};

enum { ROAST_CHUNK_RUNNING = 7 }; /* beside the roles */

/* Makes all tables and views in an empty file. */
int roast__schema_make(sqlite3 *db, roast_error *err);

/* Creates the views of chunks as temporary views, which hide those of the file. */
int roast__schema_make_views(sqlite3 *db, roast_error *err);

/* The tables that views of chunks read; the last one is NULL. */
extern const char *const roast__chunk_tables[];

/* Whether the file has a plain table of this name: 1, 0. One that is made of anything
 * but columns with a type, or is a view, is none. */
int roast__schema_has(sqlite3 *db, const char *table, roast_error *err);

#endif
