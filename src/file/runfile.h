/* SPDX-License-Identifier: BSD-3-Clause */
/* runfile.h - the private members of an open run file. */
#ifndef ROAST_FILE_RUNFILE_H
#define ROAST_FILE_RUNFILE_H

#include <pthread.h>

#include "file/live/read.h"
#include "file/read_header.h"
#include "file/sqlite/load.h"

struct roast_runfile {
    pthread_mutex_t lock; /* guards all below: SQLite is opened without one */
    char *path;           /* owned */
    struct roast_header header;
    struct roast_runfile_info info;
    struct roast_journal_reading reading;
    sqlite3 *db;            /* owned; finished files only */
    uint64_t budget;        /* of that */
    roast_run *small;       /* owned; of the head of the journal */
    roast_run *whole;       /* owned; NULL: not loaded yet */
    roast_summary *summary; /* owned; NULL: not read yet */
    sqlite3 *user_db;       /* owned; for queries of users; NULL: not opened yet */
    int64_t sql_limit_ns;   /* of a query; 0: none */
    int64_t sql_ends_ns;    /* by the monotonic clock; 0: no limit */
    /* owned; tables of queries, by roast_table_id */
    roast_table *tables[ROAST_RUN_TABLE_COUNT];
    roast_error failure; /* of making one of them */
};

/* What a list of runs is made from. Borrowed. */
struct roast_listed_run {
    bool live;
    roast_run *run;               /* its notes, its start and its end */
    const roast_summary *summary; /* NULL: not wanted, or a live file above 64 MiB */
};

/* Reads that of a file and returns what `visit` returns, or why it cannot be read. */
typedef int roast__run_visitor(void *context, const struct roast_listed_run *listed,
                               roast_error *err);
int roast__run_visit(const char *path, bool with_summary, roast__run_visitor *visit,
                     void *context, roast_error *err);

/* roast_run_info_read(), without numbers that a live file would have to be read for. */
int roast__run_info(struct roast_run_info *out, const char *path, bool with_numbers,
                    roast_error *err);

/* Every function of runfile.h begins and ends with these: one thread at a time, and
 * each with a budget of its own. */
void roast__runfile_lock(roast_runfile *file);
void roast__runfile_unlock(roast_runfile *file);

/* Loads a finished file once more, rewritten; returns an owned run. */
int roast__runfile_rewritten(roast_runfile *file, struct roast_rewrite *rewrite,
                             roast_run **out, roast_error *err);

/* ---- for other files of this folder; the lock is held ---------------------------- */

int roast__runfile_whole(roast_runfile *file, roast_run **out, roast_error *err);
int roast__runfile_columns(roast_runfile *file, enum roast_table_id table,
                           roast_table **out, roast_error *err);

#endif
