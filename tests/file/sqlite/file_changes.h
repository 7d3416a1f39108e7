/* SPDX-License-Identifier: BSD-3-Clause */
/* file_changes.h - files that are changed so that all their checksums are right, and
 * what is said of them. */
#ifndef ROAST_TESTS_FILE_SQLITE_FILE_CHANGES_H
#define ROAST_TESTS_FILE_SQLITE_FILE_CHANGES_H

#include "file/runfile.h"
#include "forge.h"
#include "saved_open.h"
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

/* Puts one part in place of a segment. */
static inline void put_segment(sqlite3 *db, enum roast_segment segment, uint32_t items,
                               const struct roast_buf *content)
{
    struct roast_segment_writer writer;
    char sql[256];

    (void)snprintf(sql, sizeof(sql),
                   "DELETE FROM segments WHERE name='%s';"
                   "DELETE FROM contents WHERE name='%s'",
                   roast__segment_name(segment), roast__segment_name(segment));
    run_sql(db, sql);
    assert_int_equal(roast__segment_begin(&writer, db, segment, NULL), ROAST_OK);
    roast__buf_put(&writer.data, content->data, content->size_bytes);
    writer.items = items;
    assert_int_equal(roast__segment_finish(&writer, NULL), ROAST_OK);
    roast__segment_release(&writer);
}

static inline void put_word(struct roast_buf *out, const char *word)
{
    roast__buf_put_varint(out, strlen(word));
    roast__buf_put(out, word, strlen(word));
}

static inline void keep_problem(void *context, const char *problem)
{
    (void)snprintf(context, 200, "%s", problem);
}

/* Nothing but this is wrong; NULL: nothing is. */
static inline void assert_checked(const char *path, const char *expected)
{
    roast_runfile *file = open_saved(path);
    char problem[200] = "";
    int64_t count = roast_runfile_check(file, keep_problem, problem, NULL);

    assert_string_equal(problem, expected ? expected : "");
    assert_int_equal(count, expected != NULL);
    roast_runfile_close(file);
}

#endif
