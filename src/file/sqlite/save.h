/* SPDX-License-Identifier: BSD-3-Clause */
/* save.h - a run into an empty database. */
#ifndef ROAST_FILE_SQLITE_SAVE_H
#define ROAST_FILE_SQLITE_SAVE_H

#include "analyze/roles.h"
#include "file/sqlite/sql.h"
#include "roast/analyze.h"
#include "run/run.h"

/* Fills a database that has no tables: the journal and the summary, which restore the
 * run, and plain tables for users. Without `with_journal` only the tables. */
int roast__save_into(sqlite3 *db, roast_run *run, bool with_journal, roast_error *err);

/* Fills an empty file with the tables alone, for other programs. */
int roast__save_plain(roast_run *run, const char *path, roast_error *err);

/* The tables that the views of chunks read. */
int roast__save_chunk_tables(sqlite3 *db, struct roast_run *run, roast_error *err);

#endif
