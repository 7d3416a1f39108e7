/* SPDX-License-Identifier: BSD-3-Clause */
/* forge_tables.h - makes the checksums of tables right after somebody changed them. */
#ifndef ROAST_TESTS_FILE_SQLITE_FORGE_TABLES_H
#define ROAST_TESTS_FILE_SQLITE_FORGE_TABLES_H

#include <stdio.h>

#include "file/sqlite/checked.h"
#include "file/sqlite/schema.h"

static inline void forge_table(sqlite3 *db, const char *table)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql), "DELETE FROM contents WHERE name='%s'", table);
    (void)roast__sql_run(db, sql, NULL);
    (void)roast__checked_sum(db, table, NULL);
}

static inline void forge_tables(sqlite3 *db)
{
    static const char *const raw[] = {"run",     "facts",   "counters", "notes",
                                      "strings", "sources", "processes"};

    for (size_t i = 0; i < sizeof(raw) / sizeof(raw[0]); i++)
        forge_table(db, raw[i]);
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        if (roast__is_stored((enum roast_table_id)i))
            forge_table(db, roast_table_name((enum roast_table_id)i));
    }
}

/* All attempts are one block. */
static inline void forge_attempts(sqlite3 *db)
{
    struct roast_buf sums = {NULL, 0, 0, false};
    sqlite3_stmt *select = NULL;
    uint64_t rows = 0;

    if (roast__sql_prepare(&select, db, "SELECT * FROM attempts ORDER BY id", NULL) < 0)
        return;
    uint32_t sum = roast__sum_begin(select);
    int columns = sqlite3_column_count(select);
    while (columns <= 64 && rows < ROAST_ATTEMPT_BLOCK_ROWS &&
           sqlite3_step(select) == SQLITE_ROW) {
        int64_t values[64] = {0};
        uint64_t known = 0;
        for (int i = 0; i < columns; i++) {
            if (sqlite3_column_type(select, i) != SQLITE_INTEGER)
                continue;
            values[i] = sqlite3_column_int64(select, i);
            known |= UINT64_C(1) << i;
        }
        sum = roast__sum_add_ints(sum, known, values, (size_t)columns);
        rows++;
    }
    (void)sqlite3_finalize(select);
    if (rows > 0)
        roast__buf_put_fixed32(&sums, sum);
    (void)roast__sql_run(db, "DELETE FROM contents WHERE name='attempts'", NULL);
    (void)roast__contents_put(db, "attempts", rows, &sums, NULL);
    roast__buf_release(&sums);
}

#endif
