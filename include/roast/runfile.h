/* SPDX-License-Identifier: BSD-3-Clause */
/* runfile.h - runs that last: saved, opened, checked, asked.
 *
 * A finished run is an SQLite file (`.roast`); one that goes on, or whose collector was
 * killed, is a live file (`.roast-live`, live.h). Readers take both. Layouts are in
 * docs/format.md. Files of strangers are hostile: every length is checked, SQLite is
 * opened defensively, nothing in a file is ever executed. */
#ifndef ROAST_RUNFILE_H
#define ROAST_RUNFILE_H

#include "roast/analyze.h"
#include "roast/live.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ROAST_FILE_FORMAT = 1 };

/* ---- names -------------------------------------------------------------------- */

#define ROAST_RUN_NAME \
    "run" ROAST_FILE_SUFFIX /* of the run in a measurement directory */

/* Whether an entry of a folder is passed over by whoever looks for runs: it begins with
 * a dot, as all that is being written does. */
bool roast_is_hidden_name(const char *name);

/* Whether a path ends in the name of a run file: NAME.roast or NAME.roast-live, not
 * hidden. What the file is, it says itself. */
bool roast_is_run_name(const char *path);

/* ---- saving and opening --------------------------------------------------------- */

enum roast_save_mode {
    ROAST_SAVE_NEW,     /* refuses a path that is taken */
    ROAST_SAVE_REPLACE, /* a file that was there stays whole until the new one is */
};

/* Writes a run: temporary file beside it, sync, rename, sync of the folder. On failure
 * nothing is left but what was there before. */
int roast_run_save(roast_run *run, const char *path, enum roast_save_mode mode,
                   roast_error *err);

typedef struct roast_runfile roast_runfile;

/* Returns owned. Reads what is small: facts, notes, losses and the summary come at once,
 * attempts and samples when they are asked for. Errors: IO (no such file, ...), BAD_DATA
 * (no run file), NEWER_FORMAT, BAD_CHECKSUM, TRUNCATED. */
int roast_runfile_open(roast_runfile **out, const char *path, roast_error *err);
void roast_runfile_close(roast_runfile *file);

struct roast_runfile_info {
    bool live;    /* a live file: see `ended` */
    bool ended;   /* the end of the run is known; else it goes on, or was killed */
    bool partial; /* a live file without the end, or not all of it could be read */
    uint32_t format;
    char writer[48];    /* "roastcoffea 1.0.0" */
    uint64_t cut_bytes; /* of a live file: at its end, no whole block */
    uint64_t damaged;   /* stretches or pieces that could not be read and were left out;
                           the loss live_damaged or file_damaged */
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

/* Reads everything there is and tells each thing that is wrong or missing as one line;
 * how many, or negative when it could not look. */
typedef void roast_problem_visitor(void *context, const char *problem);
int64_t roast_runfile_check(roast_runfile *file, roast_problem_visitor *problem,
                            void *context, roast_error *err);

/* Runs one SELECT on the file, which cannot change it. Beside the tables of the file
 * there are those of tables.def. `row` is called with the names once and cells NULL,
 * then for every row; it returns false to stop. */
typedef bool roast_sql_visitor(void *context, const char *const *names,
                               const struct roast_cell *cells, size_t count);
int roast_runfile_sql(roast_runfile *file, const char *query, roast_sql_visitor *row,
                      void *context, roast_error *err);

/* What a list of runs shows: of a live file above 64 MiB no numbers. Texts are cut. */
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
    bool labels_whole; /* dividing that at every ", " gives all labels of the run */
};

int roast_run_info_read(struct roast_run_info *out, const char *path, roast_error *err);

/* The run that a folder stands for: the one that began last, of NAME.roast,
 * NAME.roast-live and NAME/run.roast in it, and can be opened. A live file is passed over
 * where the run file of the same run is beside it; another run of that name is not. */
struct roast_found_run {
    struct roast_page path; /* owned; text NULL: there is none */
    roast_runfile *file;    /* owned, open; NULL: none of them can be */
    size_t runs;
    size_t unreadable; /* of them; one of these is given only where there is no other */
};

int roast_runfile_find(struct roast_found_run *out, const char *folder,
                       roast_error *err);

/* Which SQLite reads and writes run files here. Borrows static memory. */
const char *roast_runfile_sqlite_version(void);

#ifdef __cplusplus
}
#endif

#endif
