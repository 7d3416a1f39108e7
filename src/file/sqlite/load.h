/* SPDX-License-Identifier: BSD-3-Clause */
/* load.h - a run and its summary out of a database. Plain tables are never read. */
#ifndef ROAST_FILE_SQLITE_LOAD_H
#define ROAST_FILE_SQLITE_LOAD_H

#include "file/live/read.h"
#include "file/sqlite/sql.h"
#include "roast/analyze.h"
#include "run/journal/apply.h"

/* Zeroed: the whole run as it is. */
struct roast_load {
    bool head_only; /* everything but attempts, samples and scheduler data */
    struct roast_rewrite *rewrite; /* borrowed */
};

/* Applies the blocks of the journal. Returns an owned run; what is damaged is left out
 * and counted, in *seen and as a loss of the run. BAD_CHECKSUM when not even the clocks
 * of the run can be read. */
int roast__load_run(roast_run **out, sqlite3 *db, const struct roast_load *load,
                    struct roast_journal_reading *seen, roast_error *err);

/* The summary that was saved: 1; 0: it cannot be read. LIMIT: it is larger than that of
 * any run in a file of this size. */
int roast__load_summary(roast_summary **out, sqlite3 *db, roast_error *err);

#endif
