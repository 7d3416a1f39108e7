/* SPDX-License-Identifier: BSD-3-Clause */
/* runfile.c - run files: opened, and loaded as far as the caller needs.
 *
 * A finished file is opened with the head of its journal. The whole run is a second
 * object, loaded when attempts or samples are needed: the first one remains valid. A
 * live file is read completely at once. */
#include "file/runfile.h"

#include <string.h>

#include "base/mem.h"
#include "file/sqlite/schema.h"

/* ---- opening --------------------------------------------------------------------- */

/* What was found while reading the journal. */
static void set_info(roast_runfile *file, roast_run *run)
{
    const struct roast_journal_reading *seen = &file->reading;

    file->info = (struct roast_runfile_info){
        .live = file->header.live,
        .ended = roast_run_span(run).end_ns != 0,
        .format = file->header.live ? seen->format : file->header.format,
        .cut_bytes = seen->cut_bytes,
        .damaged = roast__reading_unreadable(seen),
    };
    memcpy(file->info.writer, seen->writer, sizeof(file->info.writer));
    file->info.writer[sizeof(file->info.writer) - 1] = '\0';
    file->info.partial = (file->info.live && !file->info.ended) ||
                         file->info.damaged > 0 || seen->cut_bytes > 0 ||
                         seen->dropped > 0 ||
                         roast_run_note(run, ROAST_NOTES_run, "partial", NULL, 0) >= 0;
}

static int open_finished(roast_runfile *file, roast_error *err)
{
    int status = roast__sql_open(&file->db, file->path, file->header.file_bytes,
                                 &file->budget, err);

    if (status == ROAST_OK)
        status = roast__schema_has(file->db, "journal", err);
    if (status == 0)
        status = roast_error_set(err, ROAST_BAD_DATA, "has no plain table journal");
    if (status > 0)
        status = roast__load_run(&file->small, file->db,
                                 &(struct roast_load){.head_only = true},
                                 &file->reading, err);
    if (status == ROAST_OK)
        set_info(file, file->small);
    return status;
}

static int open_file(roast_runfile *file, const char *path, roast_error *err)
{
    size_t size = strlen(path) + 1;
    int status = roast__read_header(&file->header, NULL, path, err);

    if (status < 0)
        return status;
    file->path = roast__realloc(NULL, size);
    if (!file->path)
        return roast_error_set(err, ROAST_NO_MEMORY, "a path of %zu bytes", size);
    memcpy(file->path, path, size);
    if (!file->header.live)
        return open_finished(file, err);
    status = roast__live_read(&file->whole, file->path, &file->reading, err);
    if (status == ROAST_OK)
        set_info(file, file->whole);
    return status;
}

int roast_runfile_open(roast_runfile **out, const char *path, roast_error *err)
{
    roast_runfile *file = roast__alloc(sizeof(*file));

    *out = NULL;
    if (!file || pthread_mutex_init(&file->lock, NULL) != 0) {
        roast__free(file);
        return roast_error_set(err, ROAST_NO_MEMORY, "a run file");
    }
    file->sql_limit_ns = INT64_C(60000000000);
    int status = open_file(file, path, err);
    if (status < 0)
        roast_runfile_close(file);
    else
        *out = file;
    return status;
}

void roast_runfile_close(roast_runfile *file)
{
    if (!file)
        return;
    roast__sql_close(file->user_db); /* before what its tables borrow */
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++)
        roast_table_free(file->tables[i]);
    roast__sql_close(file->db);
    roast_summary_free(file->summary);
    roast_run_free(file->small);
    roast_run_free(file->whole);
    roast__free(file->path);
    (void)pthread_mutex_destroy(&file->lock);
    roast__free(file);
}

void roast__runfile_lock(roast_runfile *file)
{
    (void)pthread_mutex_lock(&file->lock);
    file->budget = roast__sql_budget(file->header.file_bytes);
}

void roast__runfile_unlock(roast_runfile *file)
{
    (void)pthread_mutex_unlock(&file->lock);
}

void roast_runfile_info(const roast_runfile *file, struct roast_runfile_info *out)
{
    roast__runfile_lock((roast_runfile *)file);
    *out = file->info;
    roast__runfile_unlock((roast_runfile *)file);
}

/* ---- the run --------------------------------------------------------------------- */

int roast__runfile_whole(roast_runfile *file, roast_run **out, roast_error *err)
{
    int status = ROAST_OK;

    if (!file->whole) {
        status = roast__load_run(&file->whole, file->db, &(struct roast_load){0},
                                 &file->reading, err);
        if (status == ROAST_OK)
            set_info(file, file->whole);
    }
    *out = file->whole;
    return status;
}

int roast__runfile_rewritten(roast_runfile *file, struct roast_rewrite *rewrite,
                             roast_run **out, roast_error *err)
{
    roast__runfile_lock(file);
    int status = roast__load_run(
        out, file->db, &(struct roast_load){.rewrite = rewrite}, &file->reading, err);
    if (status == ROAST_OK)
        set_info(file, *out);
    roast__runfile_unlock(file);
    return status;
}

int roast_runfile_run(roast_runfile *file, bool whole, roast_run **out,
                      roast_error *err)
{
    int status = ROAST_OK;

    roast__runfile_lock(file);
    if (whole)
        status = roast__runfile_whole(file, out, err);
    else
        *out = file->whole ? file->whole : file->small;
    roast__runfile_unlock(file);
    return status;
}

/* ---- the summary ----------------------------------------------------------------- */

static int load_summary(roast_runfile *file, const roast_summary **out,
                        roast_error *err)
{
    roast_run *run = NULL;
    int status = ROAST_OK;

    if (!file->summary && file->db)
        status = roast__load_summary(&file->summary, file->db, err);
    if ((status >= 0 || status == ROAST_LIMIT) && !file->summary) {
        status = roast__runfile_whole(file, &run, err);
        if (status == ROAST_OK)
            status = roast_summarize(&file->summary, run, err);
    }
    *out = file->summary;
    return status < 0 ? status : ROAST_OK;
}

int roast_runfile_summary(roast_runfile *file, const roast_summary **out,
                          roast_error *err)
{
    roast__runfile_lock(file);
    int status = load_summary(file, out, err);
    roast__runfile_unlock(file);
    return status;
}

/* ---- tables ---------------------------------------------------------------------- */

int roast__runfile_columns(roast_runfile *file, enum roast_table_id table,
                           roast_table **out, roast_error *err)
{
    const roast_summary *summary = NULL;
    roast_run *run = file->small;
    int status = load_summary(file, &summary, err);

    *out = NULL;
    if (status == ROAST_OK && (!run || !roast_table_from_summary(table)))
        status = roast__runfile_whole(file, &run, err);
    return status < 0 ? status : roast_run_table(out, table, run, summary, err);
}

int roast_runfile_columns(roast_runfile *file, enum roast_table_id table,
                          roast_table **out, roast_error *err)
{
    roast__runfile_lock(file);
    int status = roast__runfile_columns(file, table, out, err);
    roast__runfile_unlock(file);
    return status;
}
