/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_checksums.h - makes all checksums of a changed run file valid again, to test how
 * its contents are read. Without cmocka, because fuzz targets use it too. */
#ifndef ROAST_TESTS_FILE_SQLITE_FIX_CHECKSUMS_H
#define ROAST_TESTS_FILE_SQLITE_FIX_CHECKSUMS_H

#include <stdlib.h>
#include <string.h>

#include "file/live/block_format.h"
#include "file/sqlite/sql.h"

/* Replaces a row of `journal` or `summary`, as a block with this number or, number 0,
 * as a head. */
static inline void write_row_with_checksum(sqlite3 *db, const char *update_sql,
                                           uint64_t key, struct roast_str data)
{
    unsigned char *copy = malloc(data.size_bytes + 1);
    sqlite3_stmt *update = NULL;

    if (copy && data.size_bytes > 0)
        memcpy(copy, data.data, data.size_bytes);
    if (copy && key == 0 && data.size_bytes > 4)
        roast__store_fixed(copy + data.size_bytes - 4,
                           roast__crc32c(copy, data.size_bytes - 4), 4);
    if (copy && key > 0 && data.size_bytes > ROAST_BLOCK_HEAD_BYTES)
        roast__block_write_head(copy, data.size_bytes - ROAST_BLOCK_HEAD_BYTES, key);
    if (copy && roast__sql_prepare(&update, db, update_sql, NULL) == ROAST_OK) {
        (void)sqlite3_bind_int64(update, 1, (sqlite3_int64)key);
        (void)sqlite3_bind_blob64(update, 2, copy, data.size_bytes, SQLITE_TRANSIENT);
        (void)sqlite3_step(update);
    }
    (void)sqlite3_finalize(update);
    free(copy);
}

static inline void fix_table_checksums(sqlite3 *db, const char *list_sql,
                                       const char *select_sql, const char *update_sql)
{
    sqlite3_stmt *list = NULL;
    int64_t keys[256];
    size_t count = 0;

    if (roast__sql_prepare(&list, db, list_sql, NULL) == 0) {
        while (count < 256 && sqlite3_step(list) == SQLITE_ROW)
            keys[count++] = sqlite3_column_int64(list, 0);
    }
    (void)sqlite3_finalize(list);
    for (size_t i = 0; i < count; i++) {
        sqlite3_stmt *select = NULL;
        if (roast__sql_prepare(&select, db, select_sql, NULL) == ROAST_OK) {
            (void)sqlite3_bind_int64(select, 1, keys[i]);
            if (sqlite3_step(select) == SQLITE_ROW)
                write_row_with_checksum(db, update_sql, (uint64_t)keys[i],
                                        roast__sql_text(select, 0));
        }
        (void)sqlite3_finalize(select);
    }
}

static const char *const UPDATE_BLOCK_SQL = "UPDATE journal SET data=?2 WHERE block=?1";

/* Fixes all that SQLite can read. */
static inline void fix_checksums(const char *path)
{
    sqlite3 *db = NULL;

    if (sqlite3_open(path, &db) == SQLITE_OK) {
        (void)roast__sql_run(db, "PRAGMA journal_mode=off;PRAGMA synchronous=off;BEGIN",
                             NULL);
        fix_table_checksums(db, "SELECT block FROM journal",
                            "SELECT data FROM journal WHERE block=?1",
                            UPDATE_BLOCK_SQL);
        fix_table_checksums(db, "SELECT id FROM summary",
                            "SELECT data FROM summary WHERE id=?1",
                            "UPDATE summary SET data=?2 WHERE id=?1");
        (void)roast__sql_run(db, "COMMIT", NULL);
    }
    (void)sqlite3_close(db);
}

#endif
