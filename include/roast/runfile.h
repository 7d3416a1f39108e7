/* SPDX-License-Identifier: BSD-3-Clause */
/* runfile.h - run files: saved, opened, checked, queried.
 *
 * A finished run is an SQLite file (`.roast`); a run that is in progress, or whose
 * collector was killed, is a live file (`.roast-live`, live.h). Readers accept both.
 * Layouts are in docs/format.md. Files are untrusted: every length is checked, SQLite
 * is opened defensively, nothing in a file is ever executed. */
#ifndef ROAST_RUNFILE_H
#define ROAST_RUNFILE_H

#include "roast/accounting.h"
#include "roast/live.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ROAST_FILE_FORMAT = 1 };

/* ---- names -------------------------------------------------------------------- */

#define ROAST_RUN_NAME \
    "run" ROAST_FILE_SUFFIX /* of the run in a measurement directory */

/* Whether a search for runs skips this entry of a folder: it begins with a dot, like
 * all files that are being written. */
bool roast_is_hidden_name(const char *name);

/* Whether a path ends in the name of a run file: NAME.roast or NAME.roast-live, not
 * hidden. The contents are not checked. */
bool roast_is_run_name(const char *path);

/* ---- saving and opening --------------------------------------------------------- */

enum roast_save_mode {
    ROAST_SAVE_NEW,      /* refuses an existing path */
    ROAST_SAVE_REPLACE,  /* an existing run file is kept until the new one is complete;
                         * any other file is refused */
    ROAST_SAVE_UNSYNCED, /* a new file in a folder of the caller, who syncs both */
    ROAST_SAVE_EXPORT,   /* no run: replaces any file but a run file */
    ROAST_SAVE_FOLDER,   /* no run: a new folder */
};

/* Writes bytes to a file, which replaces any but a run file when it is complete. */
int roast_file_write(const char *path, struct roast_str bytes, roast_error *err);

/* Writes a run: temporary file beside it, sync, rename, sync of the folder. On failure
 * an existing file is unchanged. */
int roast_run_save(roast_run *run, const char *path, enum roast_save_mode mode,
                   roast_error *err);

typedef struct roast_runfile roast_runfile;

/* Returns owned. Facts, notes, losses and the summary are read at once, attempts and
 * samples when they are needed. Errors: IO (no such file, ...), BAD_DATA (no run file),
 * NEWER_FORMAT, BAD_CHECKSUM, TRUNCATED. */
int roast_runfile_open(roast_runfile **out, const char *path, roast_error *err);
void roast_runfile_close(roast_runfile *file);

struct roast_runfile_info {
    bool live;    /* a live file: see `ended` */
    bool ended;   /* the end of the run is known; else it still runs, or was killed */
    bool partial; /* a live file without the end, or not all of it could be read */
    uint32_t format;
    char writer[48];    /* "roastcoffea 1.0.0" */
    uint64_t cut_bytes; /* of a live file: at its end, no whole block */
    uint64_t damaged;   /* parts that were skipped; a loss of the run too */
};

void roast_runfile_info(const roast_runfile *file, struct roast_runfile_info *out);

/* The run, borrowed until close. `whole` loads attempts and samples too. */
int roast_runfile_run(roast_runfile *file, bool whole, roast_run **out,
                      roast_error *err);

/* The summary that was saved, or one that is computed now; borrowed until close. */
int roast_runfile_summary(roast_runfile *file, const roast_summary **out,
                          roast_error *err);

/* A table of tables.def; loads what it needs. Returns owned. */
int roast_runfile_columns(roast_runfile *file, enum roast_table_id table,
                          roast_table **out, roast_error *err);

/* Reads the whole file and reports each problem as one line. Returns the number of
 * problems, or a negative status when the file cannot be checked. */
typedef void roast_problem_visitor(void *context, const char *problem);
int64_t roast_runfile_check(roast_runfile *file, roast_problem_visitor *problem,
                            void *context, roast_error *err);

/* Runs one SELECT on the file, which cannot change it. The tables of the file and those
 * of tables.def can be used. `row` is called once with the names and cells NULL, then
 * for every row; it returns false to stop. REFUSED where the query is wrong. */
typedef bool roast_sql_visitor(void *context, const char *const *names,
                               const struct roast_cell *cells, size_t count);
int roast_runfile_sql(roast_runfile *file, const char *query, roast_sql_visitor *row,
                      void *context, roast_error *err);

/* Later queries are stopped after so many seconds, with LIMIT; 0: never. At first 60. */
void roast_runfile_limit_sql(roast_runfile *file, double seconds);

/* What a list of runs shows; a live file above 64 MiB has no numbers. Texts are cut. */
struct roast_run_info {
    bool live;
    int64_t start_ns;
    double wall_s; /* < 0: not known; so are all below */
    double events;
    double chunks;
    double failed;
    double event_rate; /* per s */
    char id[33];
    char state[16]; /* finished, failed, unfinished */
    char processor[64];
    char executor[64];
    char labels[128];  /* "site=T2, user=me" */
    bool labels_whole; /* splitting it at every ", " gives all labels */
};

int roast_run_info_read(struct roast_run_info *out, const char *path, roast_error *err);

/* Adds the run of a file, see accounting.h; a live file above 64 MiB has no numbers. */
int roast_accounting_add_file(roast_accounting *accounting, const char *path,
                              const char *owner, roast_error *err);

/* The newest run in a folder: of NAME.roast, NAME.roast-live and NAME/run.roast, the
 * one that began last and can be opened. A live file is skipped if the finished file of
 * the same run exists. */
struct roast_found_run {
    struct roast_page path; /* owned; text NULL: no run was found */
    roast_runfile *file;    /* owned, open; NULL: no run can be opened */
    size_t runs;
    size_t unreadable; /* that cannot be opened */
};

int roast_runfile_find(struct roast_found_run *out, const char *folder,
                       roast_error *err);

/* Which SQLite reads and writes run files here. Borrows static memory. */
const char *roast_runfile_sqlite_version(void);

#ifdef __cplusplus
}
#endif

#endif
