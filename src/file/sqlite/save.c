/* SPDX-License-Identifier: BSD-3-Clause */
/* save.c - a run into an empty database.
 *
 * Plain tables come first: each is made, written and freed, so that no two of them are
 * in memory. The lock of the run is never held for long: what is added to the run while
 * it is saved may be in the journal and not in the tables. */
#include "file/sqlite/save.h"

#include <string.h>

#include "analyze/summary.h"
#include "base/array.h"
#include "file/live/block_format.h"
#include "file/new_file.h"
#include "file/sqlite/schema.h"
#include "file/sqlite/virtual_table.h"
#include "roast/version.h"
#include "run/journal/journal.h"

/* ---- journal and summary --------------------------------------------------------- */

struct block_writer {
    sqlite3_stmt *insert;
    uint64_t number; /* of the last block; the head is 0 */
};

static int put_blob(sqlite3_stmt *insert, uint64_t key, const void *data, size_t size,
                    roast_error *err)
{
    (void)sqlite3_bind_int64(insert, 1, (sqlite3_int64)key);
    (void)sqlite3_bind_blob64(insert, 2, data, size, SQLITE_STATIC);
    int status = roast__sql_step(insert, err);
    (void)sqlite3_reset(insert);
    return status;
}

static int put_block(void *context, struct roast_block *block, roast_error *err)
{
    struct block_writer *writer = context;

    roast__block_write_head(block->bytes, block->size_bytes, ++writer->number);
    return put_blob(writer->insert, writer->number, block->bytes,
                    ROAST_BLOCK_HEAD_BYTES + block->size_bytes, err);
}

static int save_journal(sqlite3 *db, roast_run *run, roast_error *err)
{
    struct block_writer writer = {NULL, 0};
    unsigned char head[ROAST_LIVE_HEAD_BYTES];
    int status = roast__sql_prepare(&writer.insert, db,
                                    "INSERT INTO journal VALUES(?1,?2)", err);

    if (status == ROAST_OK) {
        roast__live_head_make(head, run);
        status = put_blob(writer.insert, 0, head, sizeof(head), err);
    }
    if (status == ROAST_OK)
        status = roast__journal_dump(run, put_block, &writer, err);
    (void)sqlite3_finalize(writer.insert);
    return status;
}

static int save_summary(sqlite3 *db, const roast_summary *summary, roast_error *err)
{
    static const unsigned char room[ROAST_BLOCK_HEAD_BYTES];
    struct roast_buf blob = {NULL, 0, 0, false};
    sqlite3_stmt *insert = NULL;
    int status =
        roast__sql_prepare(&insert, db, "INSERT INTO summary VALUES(?1,?2)", err);

    roast__buf_put(&blob, room, sizeof(room));
    roast__summary_encode(&blob, summary);
    if (status == ROAST_OK && !roast__buf_ok(&blob))
        status = roast_error_set(err, ROAST_NO_MEMORY, "a summary");
    if (status == ROAST_OK) {
        roast__block_write_head(blob.data, blob.size_bytes - sizeof(room), 1);
        status = put_blob(insert, 1, blob.data, blob.size_bytes, err);
    }
    (void)sqlite3_finalize(insert);
    roast__buf_release(&blob);
    return status;
}

/* ---- plain tables ---------------------------------------------------------------- */

static int save_table(sqlite3 *db, roast_run *run, const roast_summary *summary,
                      enum roast_table_id table, roast_error *err)
{
    roast_table *columns = NULL;
    int status = roast_run_table(&columns, table, run, summary, err);

    if (status < 0)
        return status;
    struct roast_virtual_table rows = roast__virtual_table_of(columns);
    status = roast__virtual_table_insert(db, roast_table_name(table), &rows, err);
    roast_table_free(columns);
    return status;
}

int roast__save_into(sqlite3 *db, roast_run *run, bool with_journal, roast_error *err)
{
    roast_summary *summary = NULL;
    int status = roast_summarize(&summary, run, err);

    if (status == ROAST_OK)
        status = roast__sql_run(db, "BEGIN", err);
    if (status == ROAST_OK)
        status = roast__schema_make(db, err);
    if (status == ROAST_OK && with_journal)
        status = save_summary(db, summary, err);
    for (int i = 0; status == ROAST_OK && i < ROAST_RUN_TABLE_COUNT; i++) {
        if (!roast_table_is_large((enum roast_table_id)i))
            status = save_table(db, run, summary, (enum roast_table_id)i, err);
    }
    if (status == ROAST_OK)
        status = roast__save_chunk_tables(db, run, err);
    if (status == ROAST_OK && with_journal)
        status = save_journal(db, run, err);
    if (status == ROAST_OK)
        status = roast__sql_run(db, "COMMIT", err);
    roast_summary_free(summary);
    return status;
}

/* ---- files ----------------------------------------------------------------------- */

/* A small run makes a small file. */
static int page_bytes_of(roast_run *run)
{
    enum { MANY_ATTEMPTS = 10000 };

    roast__run_lock(run);
    size_t attempts = run->attempts.count;
    roast__run_unlock(run);
    return attempts < MANY_ATTEMPTS ? ROAST_SMALL_PAGE_BYTES : ROAST_LARGE_PAGE_BYTES;
}

int roast__save_plain(roast_run *run, const char *path, roast_error *err)
{
    sqlite3 *db = NULL;
    int status = roast__sql_create(&db, path, page_bytes_of(run), err);

    if (status == ROAST_OK)
        status = roast__save_into(db, run, false, err);
    if (status == ROAST_OK) /* it is no run file */
        status = roast__sql_run(db,
                                "DROP TABLE journal;DROP TABLE summary;"
                                "PRAGMA application_id=0;PRAGMA user_version=0",
                                err);
    roast__sql_close(db);
    return status;
}

/* Adds the path, or the end of a long one, and the consequence to the message. */
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
        status = roast__save_into(db, run, true, err);
    roast__sql_close(db);
    if (status == ROAST_OK)
        status = roast__new_file_commit(&file, mode, err);
    roast__new_file_release(&file);
    return explain(path, status, err);
}
