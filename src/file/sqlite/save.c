/* SPDX-License-Identifier: BSD-3-Clause */
/* save.c - a run into an empty database.
 *
 * Tables that say what the run means come first: each is made, written and forgotten, so
 * that no two of them are in memory. The raw facts follow under one lock, all of the same
 * moment; what comes into the run in between is in them and not in the summary. Whoever
 * adds to the run waits for that: 1 s for a million attempts. */
#include "file/sqlite/save.h"

#include <string.h>

#include "file/path.h"
#include "file/sqlite/checked.h"
#include "file/sqlite/rowset.h"
#include "file/sqlite/schema.h"

static int save_table(const struct roast_saving *saving, enum roast_table_id table,
                      roast_error *err)
{
    const char *name = roast_table_name(table);
    roast_table *columns = NULL;
    int status = roast_run_table(&columns, table, saving->run, saving->summary, err);

    if (status < 0)
        return status;
    struct roast_rowset rows = roast__rowset_of_columns(columns);
    status = roast__rowset_insert(saving->db, name, &rows, err);
    if (status == ROAST_OK)
        status = roast__checked_sum(saving->db, name, err);
    roast_table_free(columns);
    return status;
}

static int save_tables(const struct roast_saving *saving, roast_error *err)
{
    int status = ROAST_OK;

    for (int i = 0; status == ROAST_OK && i < ROAST_RUN_TABLE_COUNT; i++) {
        if (roast__is_stored((enum roast_table_id)i))
            status = save_table(saving, (enum roast_table_id)i, err);
    }
    return status;
}

static int save_schema_sum(const struct roast_saving *saving, roast_error *err)
{
    struct roast_buf sum = {NULL, 0, 0, false};
    int status = roast__schema_sum(&sum, saving->db, err);

    if (status == ROAST_OK)
        status = roast__contents_put(saving->db, "sqlite_master", 0, &sum, err);
    roast__buf_release(&sum);
    return status;
}

/* The lock is held. */
static int save_facts(struct roast_saving *saving, roast_error *err)
{
    struct roast_run *run = saving->run;

    roast__run_settle(run);
    int status = roast__roles_find(&saving->roles, run, err);
    if (status == ROAST_OK)
        status = roast__save_small(saving, err);
    if (status == ROAST_OK)
        status = roast__save_texts(saving, err);
    if (status == ROAST_OK)
        status = roast__save_attempts(saving, err);
    if (status == ROAST_OK)
        status = roast__save_segments(saving, err);
    return status;
}

int roast__save_into(sqlite3 *db, roast_run *run, roast_error *err)
{
    struct roast_saving saving = {.db = db, .run = run};
    roast_summary *summary = NULL;
    int status = roast_summarize(&summary, run, err);

    saving.summary = summary;
    if (status == ROAST_OK)
        status = roast__sql_run(db, "BEGIN", err);
    if (status == ROAST_OK)
        status = roast__schema_make(db, err);
    if (status == ROAST_OK)
        status = save_tables(&saving, err);
    if (status == ROAST_OK) {
        roast__run_lock(run);
        status = save_facts(&saving, err);
        roast__run_unlock(run);
    }
    if (status == ROAST_OK)
        status = save_schema_sum(&saving, err);
    if (status == ROAST_OK)
        status = roast__sql_run(db, "COMMIT", err);
    roast__roles_release(&saving.roles);
    roast_summary_free(summary);
    return status;
}

/* A small run makes a small file. */
static int page_bytes_of(roast_run *run)
{
    enum { MANY_ATTEMPTS = 10000 };

    roast__run_lock(run);
    size_t attempts = run->attempts.count;
    roast__run_unlock(run);
    return attempts < MANY_ATTEMPTS ? ROAST_SMALL_PAGE_BYTES : ROAST_LARGE_PAGE_BYTES;
}

/* Says where, and what that means; of a long path the end. */
static int explain(const char *path, int status, roast_error *err)
{
    enum { SHOWN_PATH_BYTES = 120 };
    size_t size = strlen(path);
    bool cut = size > SHOWN_PATH_BYTES;

    if (!err || status >= 0)
        return status;
    roast_error why = *err;
    return roast_error_set(err, status, "%s%s: %.90s; the run is not saved there",
                           cut ? "..." : "",
                           cut ? path + size - SHOWN_PATH_BYTES : path, why.message);
}

int roast_run_save(roast_run *run, const char *path, enum roast_save_mode mode,
                   roast_error *err)
{
    struct roast_new_file file;
    sqlite3 *db = NULL;
    int status = roast__new_file_open(&file, path, mode, err);

    if (status == ROAST_OK)
        status = roast__sql_create(&db, file.temporary, page_bytes_of(run), err);
    if (status == ROAST_OK)
        status = roast__save_into(db, run, err);
    roast__sql_close(db);
    if (status == ROAST_OK)
        status = roast__new_file_place(&file, mode, err);
    roast__new_file_release(&file);
    return explain(path, status, err);
}
