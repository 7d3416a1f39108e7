/* SPDX-License-Identifier: BSD-3-Clause */
/* test_check.c - the check of plain tables: of untrusted files it ends, and files of
 * other versions are not compared. */
#include "file_changes.h"

static void assert_problem(const char *path, const char *sql, const char *problem)
{
    sqlite3 *db = begin_changes(path);

    run_sql(db, sql);
    end_changes(db);
    assert_checked(path, problem);
}

static void views_are_not_tables(void **state)
{
    const struct saved_test *test = *state;

    assert_problem(test->path,
                   "DROP TABLE datasets; CREATE VIEW datasets AS WITH RECURSIVE c(row)"
                   " AS (SELECT 1 UNION ALL SELECT row FROM c) SELECT row FROM c",
                   "the table datasets: not declared as this version does");
    assert_problem(test->path,
                   "DROP TABLE chunk_files; CREATE VIEW chunk_files AS WITH RECURSIVE"
                   " c(id) AS (SELECT 1 UNION ALL SELECT id FROM c) SELECT id,"
                   " '' dataset, '' file, '' treename, '' uuid FROM c",
                   "the table chunk_files: not declared as this version does");
    assert_problem(test->path, "DROP TABLE labels",
                   "the table labels: not declared as this version does");
}

/* Else a join could have as many rows as two tables multiplied. */
static void tables_keep_their_keys(void **state)
{
    const struct saved_test *test = *state;

    assert_problem(test->path,
                   "DROP TABLE chunk_workers; CREATE TABLE chunk_workers(id INTEGER,"
                   "worker TEXT,host TEXT,pid INTEGER)",
                   "the table chunk_workers: not declared as this version does");
}

/* Another version may word an advice differently. */
static void tables_of_another_version_are_not_compared(void **state)
{
    const struct saved_test *test = *state;
    sqlite3 *db = begin_changes(test->path);
    sqlite3_stmt *find = NULL;
    unsigned char head[ROAST_LIVE_HEAD_BYTES];

    run_sql(db, "UPDATE metrics SET name='another' WHERE row=1");
    assert_checked(test->path,
                   "1 row of the table metrics: different from the journal");
    assert_int_equal(
        roast__sql_prepare(&find, db, "SELECT data FROM journal WHERE block=0", NULL),
        ROAST_OK);
    assert_int_equal(roast__sql_step(find, NULL), 1);
    struct roast_str data = roast__sql_text(find, 0);
    assert_int_equal(data.size_bytes, sizeof(head));
    memcpy(head, data.data, sizeof(head));
    (void)sqlite3_finalize(find);
    head[16 + sizeof("roastcoffea ") - 1] = '9'; /* its version */
    write_row_with_checksum(db, UPDATE_BLOCK_SQL, 0, str_from(head, sizeof(head)));
    end_changes(db);
    assert_checked(test->path, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        saved_test_of(tables_of_another_version_are_not_compared),
        saved_test_of(tables_keep_their_keys),
        saved_test_of(views_are_not_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
