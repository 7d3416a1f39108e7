/* SPDX-License-Identifier: BSD-3-Clause */
/* runfile.h - the inside of an open run file. */
#ifndef ROAST_FILE_RUNFILE_H
#define ROAST_FILE_RUNFILE_H

#include <pthread.h>

#include "file/live/read.h"
#include "file/look.h"
#include "file/sqlite/load.h"

struct roast_runfile {
    pthread_mutex_t lock; /* guards all below: SQLite is opened without one */
    char *path;           /* owned */
    struct roast_look look;
    struct roast_runfile_info info;
    struct roast_live_reading reading; /* of a live file */
    sqlite3 *db;                       /* owned; of a finished file */
    uint64_t budget;                   /* of that */
    roast_run *small;                  /* owned; without attempts and samples */
    roast_run *whole;                  /* owned; NULL: not loaded yet */
    roast_summary *summary;            /* owned; NULL: not read yet */
    sqlite3 *asked; /* owned; for queries of users; NULL: nobody asked */
    /* owned; tables of queries, by roast_table_id */
    roast_table *tables[ROAST_RUN_TABLE_COUNT];
    roast_error failure; /* of making one of them */
};

/* roast_runfile_glance(), without numbers that a live file would have to be read for. */
int roast__glance(struct roast_glance *out, const char *path, bool wants_numbers,
                  roast_error *err);

/* Every function of runfile.h begins and ends with these: one thread at a time, and each
 * with a budget of its own. */
void roast__runfile_lock(roast_runfile *file);
void roast__runfile_unlock(roast_runfile *file);

/* ---- for other files of this folder; the lock is held ------------------------------- */

int roast__runfile_whole(roast_runfile *file, roast_run **out, roast_error *err);
int roast__runfile_summary(roast_runfile *file, const roast_summary **out,
                           roast_error *err);
int roast__runfile_columns(roast_runfile *file, enum roast_table_id table,
                           roast_table **out, roast_error *err);

/* A table as plain rows of a finished file have it: 1, or 0 where it is not there or not
 * whole. */
int roast__load_columns(roast_table **out, sqlite3 *db, enum roast_table_id table,
                        roast_error *err);

/* The summary that was saved: 1; 0: it cannot be read. LIMIT: it is larger than that of
 * any run in a file of this size. */
int roast__load_summary(roast_summary **out, sqlite3 *db, roast_error *err);

#endif
