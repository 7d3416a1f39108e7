/* SPDX-License-Identifier: BSD-3-Clause */
/* file_changes.h - changes run files with valid checksums, and checks what is
 * reported. */
#ifndef ROAST_TESTS_FILE_SQLITE_FILE_CHANGES_H
#define ROAST_TESTS_FILE_SQLITE_FILE_CHANGES_H

#include "file/runfile.h"
#include "fix_checksums.h"
#include "saved_file.h"
#include "saved_runs.h"

static inline sqlite3 *begin_changes(const char *path)
{
    roast_run *run = plain_run(2);
    sqlite3 *db = NULL;

    save(run, path);
    roast_run_free(run);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        roast__sql_run(db, "PRAGMA journal_mode=off;PRAGMA synchronous=off", NULL),
        ROAST_OK);
    return db;
}

static inline void run_sql(sqlite3 *db, const char *sql)
{
    if (roast__sql_run(db, sql, NULL) < 0)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static inline void end_changes(sqlite3 *db)
{
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Appends a block with these entries. */
static inline void put_entries(sqlite3 *db, const struct roast_buf *entries)
{
    enum { MOST_BYTES = ROAST_BLOCK_MAX_BYTES };
    struct roast_buf block = {NULL, 0, 0, false};
    static const unsigned char room[ROAST_BLOCK_HEAD_BYTES];

    assert_true(entries->size_bytes <= MOST_BYTES);
    roast__buf_put(&block, room, sizeof(room));
    roast__buf_put(&block, entries->data, entries->size_bytes);
    run_sql(db, "INSERT INTO journal SELECT max(block)+1, x'' FROM journal");
    write_row_with_checksum(db, UPDATE_BLOCK_SQL,
                            (uint64_t)sqlite3_last_insert_rowid(db),
                            str_from(block.data, block.size_bytes));
    roast__buf_release(&block);
}

static inline void put_summary(sqlite3 *db, const struct roast_buf *blob)
{
    struct roast_buf block = {NULL, 0, 0, false};
    static const unsigned char room[ROAST_BLOCK_HEAD_BYTES];

    roast__buf_put(&block, room, sizeof(room));
    roast__buf_put(&block, blob->data, blob->size_bytes);
    write_row_with_checksum(db, "UPDATE summary SET data=?2 WHERE id=?1", 1,
                            str_from(block.data, block.size_bytes));
    roast__buf_release(&block);
}

static inline void put_entry(struct roast_buf *out, enum roast_entry kind,
                             const void *payload, size_t size_bytes)
{
    roast__buf_put_varint(out, (uint64_t)kind);
    roast__buf_put_varint(out, size_bytes);
    roast__buf_put(out, payload, size_bytes);
}

static inline void put_word(struct roast_buf *out, const char *word)
{
    roast__buf_put_varint(out, strlen(word));
    roast__buf_put(out, word, strlen(word));
}

static inline void store_problem(void *context, const char *problem)
{
    (void)snprintf(context, 200, "%s", problem);
}

/* The only problem of the file; NULL: none. */
static inline void assert_checked(const char *path, const char *expected)
{
    roast_runfile *file = open_saved(path);
    char problem[200] = "";
    int64_t count = roast_runfile_check(file, store_problem, problem, NULL);

    assert_string_equal(problem, expected ? expected : "");
    assert_int_equal(count, expected != NULL);
    roast_runfile_close(file);
}

#endif
