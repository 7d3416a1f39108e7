/* SPDX-License-Identifier: BSD-3-Clause */
/* forge.h - makes all checksums of a run file right again: what is in it is what gets
 * tested then. Without cmocka: the fuzz targets use it too. */
#ifndef ROAST_TESTS_FILE_SQLITE_FORGE_H
#define ROAST_TESTS_FILE_SQLITE_FORGE_H

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "file/sqlite/segment.h"
#include "forge_tables.h"

static inline void forge_part(sqlite3_stmt *update, int64_t id, struct roast_str data)
{
    unsigned char *copy = malloc(data.size_bytes + 1);

    if (!copy || data.size_bytes < ROAST_SEGMENT_HEAD_BYTES) {
        free(copy);
        return;
    }
    memcpy(copy, data.data, data.size_bytes);
    roast__store_fixed(copy, roast__crc32c(copy + 4, data.size_bytes - 4), 4);
    (void)sqlite3_bind_int64(update, 1, id);
    (void)sqlite3_bind_blob64(update, 2, copy, data.size_bytes, free);
    (void)sqlite3_step(update);
    (void)sqlite3_reset(update);
}

static inline void forge_segments(sqlite3 *db)
{
    sqlite3_stmt *select = NULL, *update = NULL;
    int64_t ids[256];
    size_t count = 0;

    if (roast__sql_prepare(&select, db, "SELECT id FROM segments", NULL) == 0) {
        while (count < 256 && sqlite3_step(select) == SQLITE_ROW)
            ids[count++] = sqlite3_column_int64(select, 0);
    }
    (void)sqlite3_finalize(select);
    select = NULL;
    (void)roast__sql_prepare(&select, db, "SELECT data FROM segments WHERE id=?1",
                             NULL);
    (void)roast__sql_prepare(&update, db, "UPDATE segments SET data=?2 WHERE id=?1",
                             NULL);
    for (size_t i = 0; select && update && i < count; i++) {
        (void)sqlite3_bind_int64(select, 1, ids[i]);
        if (sqlite3_step(select) == SQLITE_ROW)
            forge_part(update, ids[i], roast__sql_text(select, 0));
        (void)sqlite3_reset(select);
    }
    (void)sqlite3_finalize(select);
    (void)sqlite3_finalize(update);
}

/* As far as SQLite can read the file at all. */
static inline void forge(const char *path)
{
    sqlite3 *db = NULL;

    if (sqlite3_open(path, &db) == SQLITE_OK) {
        (void)roast__sql_run(db, "PRAGMA journal_mode=off;PRAGMA synchronous=off;BEGIN",
                             NULL);
        forge_segments(db);
        forge_attempts(db);
        forge_tables(db);
        (void)roast__sql_run(db, "COMMIT", NULL);
    }
    (void)sqlite3_close(db);
}

#endif
