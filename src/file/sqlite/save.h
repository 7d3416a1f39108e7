/* SPDX-License-Identifier: BSD-3-Clause */
/* save.h - a run into an empty database. */
#ifndef ROAST_FILE_SQLITE_SAVE_H
#define ROAST_FILE_SQLITE_SAVE_H

#include "analyze/roles.h"
#include "file/sqlite/sql.h"
#include "roast/analyze.h"
#include "run/run.h"

/* What is written, and what had to be found out first. Everything is borrowed. */
struct roast_saving {
    sqlite3 *db;
    struct roast_run *run; /* locked while raw facts are written */
    const roast_summary *summary;
    struct roast_roles roles;
};

/* Fills a database that has neither tables nor anything else. The run is locked while
 * its attempts and samples are written. */
int roast__save_into(sqlite3 *db, roast_run *run, roast_error *err);

/* ---- the parts of it; the lock is held ---------------------------------------------- */

/* The one row of `run`, facts, counters, notes. */
int roast__save_small(const struct roast_saving *saving, roast_error *err);

/* Strings, sources and processes. */
int roast__save_texts(const struct roast_saving *saving, roast_error *err);

/* Attempts: their rows, and what is packed beside them. */
int roast__save_attempts(const struct roast_saving *saving, roast_error *err);

/* All other segments. */
int roast__save_segments(const struct roast_saving *saving, roast_error *err);

#endif
