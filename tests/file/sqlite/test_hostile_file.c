/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hostile_file.c - run files with valid checksums and invalid contents: they load
 * without the invalid parts, and the run can be used. */
#include "file/sqlite/load.h"
#include "fix_checksums.h"
#include "fuzz/fuzz_runs.h"
#include "saved_damage.h"

enum { STEPS = 600 }; /* of changes in a block */

/* A run in memory in the form of a file. */
static sqlite3 *db;

static int make_db(void **state)
{
    roast_run *run = new_run();

    (void)state;
    make_changes(run);
    make_task_changes(run);
    add_notes(run);
    add_attempts(run, 3);
    add_unusual_ladders(run);
    add_handmade(run);
    add_extremes(run);
    int status = roast__sql_create(&db, NULL, 4096, NULL);
    if (status == 0)
        status = roast__save_into(db, run, true, NULL);
    roast_run_free(run);
    return status;
}

static int close_db(void **state)
{
    (void)state;
    roast__sql_close(db);
    return 0;
}

static const struct roast_load whole = {.head_only = false};

/* The number of damaged parts; UINT64_MAX: not readable. */
static uint64_t load_and_use(void)
{
    struct roast_journal_reading seen;
    roast_run *run = NULL;
    roast_error err = {0};
    int status = roast__load_run(&run, db, &whole, &seen, &err);

    if (status < 0) {
        assert_int_equal(status, ROAST_BAD_CHECKSUM);
        return UINT64_MAX;
    }
    read_whole_run(run);
    roast_run_free(run);
    return roast__reading_unreadable(&seen);
}

static void run_sql(const char *sql)
{
    roast_error err = {0};

    if (roast__sql_run(db, sql, &err) < 0)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static struct roast_buf block_of(int64_t number)
{
    struct roast_buf block = {NULL, 0, 0, false};
    sqlite3_stmt *find = NULL;

    assert_int_equal(
        roast__sql_prepare(&find, db, "SELECT data FROM journal WHERE block=?1", NULL),
        ROAST_OK);
    (void)sqlite3_bind_int64(find, 1, number);
    assert_int_equal(roast__sql_step(find, NULL), 1);
    struct roast_str data = roast__sql_text(find, 0);
    roast__buf_put(&block, data.data, data.size_bytes);
    (void)sqlite3_finalize(find);
    return block;
}

static int64_t block_count(void)
{
    sqlite3_stmt *find = NULL;

    assert_int_equal(
        roast__sql_prepare(&find, db, "SELECT max(block) FROM journal", NULL),
        ROAST_OK);
    assert_int_equal(roast__sql_step(find, NULL), 1);
    int64_t count = sqlite3_column_int64(find, 0);
    (void)sqlite3_finalize(find);
    return count;
}

/* Cuts at each byte, then changes each byte. */
static void change_block(int64_t number)
{
    static const unsigned char others[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct roast_buf block = block_of(number);
    size_t step = block.size_bytes / STEPS + 1;

    for (size_t at = 0; at < block.size_bytes; at += step) {
        unsigned char own = block.data[at];
        write_row_with_checksum(db, UPDATE_BLOCK_SQL, (uint64_t)number,
                                str_from(block.data, at));
        (void)load_and_use();
        block.data[at] = others[at / step % sizeof(others)];
        write_row_with_checksum(db, UPDATE_BLOCK_SQL, (uint64_t)number,
                                str_from(block.data, block.size_bytes));
        (void)load_and_use();
        block.data[at] = own;
    }
    write_row_with_checksum(db, UPDATE_BLOCK_SQL, (uint64_t)number,
                            str_from(block.data, block.size_bytes));
    roast__buf_release(&block);
}

static void invalid_blocks_are_harmless(void **state)
{
    (void)state;
    assert_int_equal(load_and_use(), 0);
    for (int64_t i = 0; i <= block_count(); i++)
        change_block(i);
    assert_int_equal(load_and_use(), 0);
}

/* Rows in the wrong place, or that are not blocks. */
static void invalid_rows_are_harmless(void **state)
{
    static const char *const changes[] = {
        "UPDATE journal SET data=NULL",
        "UPDATE journal SET data=NULL WHERE block=1",
        "UPDATE journal SET data='text' WHERE block=0",
        "UPDATE journal SET data=5",
        "UPDATE journal SET data=1e300 WHERE block=1",
        "UPDATE journal SET data=zeroblob(100000)",
        "UPDATE journal SET block=-1-block",
        "UPDATE journal SET block=block+9223372036854770000",
        "DELETE FROM journal WHERE block=0",
        "DELETE FROM journal WHERE block>0",
        "DELETE FROM journal",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        run_sql("CREATE TEMP TABLE own AS SELECT * FROM journal");
        run_sql(changes[i]);
        assert_true(load_and_use() > 0);
        run_sql("DELETE FROM journal; INSERT INTO journal SELECT * FROM own;"
                "DROP TABLE own");
    }
    assert_int_equal(load_and_use(), 0);
}

/* A repeated block: its records exist already. */
static void a_record_comes_once(void **state)
{
    struct roast_journal_reading seen;
    roast_run *run = NULL;
    struct roast_buf block = block_of(2);

    (void)state;
    assert_int_equal(roast__load_run(&run, db, &whole, &seen, NULL), ROAST_OK);
    size_t rows = run->attempts.count;
    roast_run_free(run);
    run_sql("INSERT INTO journal SELECT max(block)+1, x'' FROM journal");
    write_row_with_checksum(db, UPDATE_BLOCK_SQL, (uint64_t)block_count(),
                            str_from(block.data, block.size_bytes));
    assert_int_equal(roast__load_run(&run, db, &whole, &seen, NULL), ROAST_OK);
    assert_int_equal(run->attempts.count, rows + 3); /* those without identity */
    roast_run_free(run);
    roast__buf_release(&block);
}

/* All rows again, under texts that are read as the same numbers: the run does not start
 * again. */
static void a_run_starts_once(void **state)
{
    struct roast_journal_reading seen;
    roast_run *run = NULL;

    (void)state;
    assert_int_equal(roast__load_run(&run, db, &whole, &seen, NULL), ROAST_OK);
    size_t rows = run->attempts.count;
    roast_run_free(run);
    run_sql("CREATE TABLE copies(block,data);"
            "INSERT INTO copies SELECT block,data FROM journal;"
            "INSERT INTO copies SELECT block||'x',data FROM journal;"
            "DROP TABLE journal; ALTER TABLE copies RENAME TO journal");
    assert_int_equal(roast__load_run(&run, db, &whole, &seen, NULL), ROAST_OK);
    assert_true(seen.damaged > 0);
    assert_true(run->attempts.count > rows); /* those without identity come twice */
    roast_run_free(run);
    assert_true(load_and_use() > 0);
}

#define hostile_test(behaviour) \
    cmocka_unit_test_setup_teardown(behaviour, make_db, close_db)

int main(void)
{
    const struct CMUnitTest tests[] = {
        hostile_test(invalid_blocks_are_harmless),
        hostile_test(invalid_rows_are_harmless),
        hostile_test(a_record_comes_once),
        hostile_test(a_run_starts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
