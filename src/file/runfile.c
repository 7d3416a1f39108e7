/* SPDX-License-Identifier: BSD-3-Clause */
/* runfile.c - runs that last: opened, and read as far as somebody asks.
 *
 * A finished file is opened with what is small. The whole run is another one, loaded
 * once somebody needs attempts or samples: who holds the small one keeps it. A live file
 * is read whole at once. */
#include "file/runfile.h"

#include <string.h>

#include "base/mem.h"
#include "file/sqlite/schema.h"
#include "file/sqlite/text_bytes.h"

/* ---- opening ----------------------------------------------------------------------- */

static int open_live(roast_runfile *file, roast_error *err)
{
    int status = roast__live_read(&file->whole, file->path, &file->reading, err);

    if (status < 0)
        return status;
    const struct roast_live_reading *reading = &file->reading;
    file->info = (struct roast_runfile_info){
        .live = true,
        .ended = roast_run_span(file->whole).end_ns != 0,
        .format = reading->format,
        .cut_bytes = reading->cut_bytes,
        .damaged = roast__live_unreadable(reading),
    };
    memcpy(file->info.writer, reading->writer, sizeof(file->info.writer));
    file->info.writer[sizeof(file->info.writer) - 1] = '\0';
    file->info.partial = !file->info.ended || file->info.damaged > 0 ||
                         reading->cut_bytes > 0 || reading->dropped > 0 ||
                         reading->unread > 0;
    return ROAST_OK;
}

static int read_writer(roast_runfile *file, roast_error *err)
{
    struct roast_checked in;
    int status = roast__checked_open(&in, file->db, "run", err);

    if (status == ROAST_OK)
        status = roast__checked_next(&in, err);
    int at = status > 0
                 ? roast__checked_column(&in, roast__run_column_name(ROAST_RUN_writer))
                 : -1;
    if (at >= 0) {
        struct roast_str text = roast_str_cut(roast__sql_text(in.select, at),
                                              sizeof(file->info.writer) - 1);
        if (text.size_bytes > 0)
            memcpy(file->info.writer, text.data, text.size_bytes);
        roast__clean_words(file->info.writer);
    }
    roast__checked_close(&in);
    return status < 0 ? status : ROAST_OK;
}

static int open_finished(roast_runfile *file, roast_error *err)
{
    struct roast_loading loading = {.file_bytes = file->look.file_bytes};
    int status = roast__sql_open(&file->db, file->path, file->look.file_bytes,
                                 &file->budget, err);

    if (status == ROAST_OK)
        status = roast__schema_check(file->db, err);
    loading.db = file->db;
    if (status == ROAST_OK)
        status = roast__load_small(&file->small, &loading, err);
    if (status == ROAST_OK)
        status = read_writer(file, err);
    file->info.format = file->look.format;
    if (status == ROAST_OK)
        file->info.ended = roast_run_span(file->small).end_ns != 0;
    file->info.damaged = loading.damaged;
    file->info.partial = loading.damaged > 0;
    roast__loading_release(&loading);
    return status;
}

static int open_file(roast_runfile *file, const char *path, roast_error *err)
{
    size_t size = strlen(path) + 1;
    int status = roast__look(&file->look, path, err);

    if (status < 0)
        return status;
    file->path = roast__realloc(NULL, size);
    if (!file->path)
        return roast_error_set(err, ROAST_NO_MEMORY, "a path of %zu bytes", size);
    memcpy(file->path, path, size);
    return file->look.live ? open_live(file, err) : open_finished(file, err);
}

int roast_runfile_open(roast_runfile **out, const char *path, roast_error *err)
{
    roast_runfile *file = roast__alloc(sizeof(*file));

    *out = NULL;
    if (!file || pthread_mutex_init(&file->lock, NULL) != 0) {
        roast__free(file);
        return roast_error_set(err, ROAST_NO_MEMORY, "a run file");
    }
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
    roast__sql_close(file->asked); /* before what its tables borrow */
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
    file->budget = roast__sql_budget(file->look.file_bytes);
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

/* ---- the run ----------------------------------------------------------------------- */

int roast__runfile_whole(roast_runfile *file, roast_run **out, roast_error *err)
{
    struct roast_loading loading = {.db = file->db,
                                    .file_bytes = file->look.file_bytes};
    roast_run *run = NULL;
    int status = ROAST_OK;

    if (!file->whole) {
        status = roast__load_small(&run, &loading, err);
        if (status == ROAST_OK)
            status = roast__load_whole(&loading, err);
        if (status == ROAST_OK) {
            file->whole = run;
            run = NULL; /* moved to the file */
            file->info.damaged = loading.damaged;
            file->info.partial = loading.damaged > 0;
        }
        roast_run_free(run);
        roast__loading_release(&loading);
    }
    *out = file->whole;
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

/* ---- the summary ------------------------------------------------------------------- */

int roast__runfile_summary(roast_runfile *file, const roast_summary **out,
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
    int status = roast__runfile_summary(file, out, err);
    roast__runfile_unlock(file);
    return status;
}

/* ---- tables ------------------------------------------------------------------------ */

static int make_columns(roast_runfile *file, enum roast_table_id table,
                        roast_table **out, roast_error *err)
{
    const roast_summary *summary = NULL;
    roast_run *run = file->small;
    int status = roast__runfile_summary(file, &summary, err);

    if (status == ROAST_OK && (!run || !roast_table_from_summary(table)))
        status = roast__runfile_whole(file, &run, err);
    return status < 0 ? status : roast_run_table(out, table, run, summary, err);
}

int roast__runfile_columns(roast_runfile *file, enum roast_table_id table,
                           roast_table **out, roast_error *err)
{
    int status = 0;

    *out = NULL;
    if (file->db && roast__is_stored(table))
        status = roast__load_columns(out, file->db, table, err);
    if (status == 0)
        status = make_columns(file, table, out, err);
    return status < 0 ? status : ROAST_OK;
}

int roast_runfile_columns(roast_runfile *file, enum roast_table_id table,
                          roast_table **out, roast_error *err)
{
    roast__runfile_lock(file);
    int status = roast__runfile_columns(file, table, out, err);
    roast__runfile_unlock(file);
    return status;
}
