/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hostile_file.c - run files whose checksums are right and whose numbers are not:
 * they load, without what is wrong, and nothing that is done with the run afterwards
 * minds. */
#include "file/sqlite/load.h"
#include "forge.h"
#include "fuzz/use_run.h"
#include "saved_truth.h"

enum { STEPS = 400 }; /* of changes in a segment */

/* A run in memory as a file has it. */
static sqlite3 *db;

static int make_db(void **state)
{
    roast_run *run = new_run();

    (void)state;
    make_changes(run);
    make_task_changes(run);
    add_words(run);
    add_attempts(run, 3);
    add_odd_ladders(run);
    add_handmade(run);
    int status = roast__sql_create(&db, NULL, 4096, NULL);
    if (status == 0)
        status = roast__save_into(db, run, NULL);
    roast_run_free(run);
    return status;
}

static int close_db(void **state)
{
    (void)state;
    roast__sql_close(db);
    return 0;
}

static uint64_t load_and_use(void)
{
    struct roast_loading loading = {.db = db, .file_bytes = 1 << 20};
    roast_run *run = NULL;
    roast_error err = {0};
    int status = roast__load_small(&run, &loading, &err);

    if (status == ROAST_OK) {
        if (roast__load_whole(&loading, &err) < 0)
            fail_msg("%s", err.message);
        use_run(run);
        roast_run_free(run);
    } else {
        assert_int_equal(status, ROAST_BAD_CHECKSUM);
    }
    uint64_t damaged = loading.damaged;
    roast__loading_release(&loading);
    return damaged;
}

static void run_sql(const char *sql)
{
    roast_error err = {0};

    if (roast__sql_run(db, sql, &err) < 0)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

/* ---- cells --------------------------------------------------------------------------- */

static const char *const ODD_VALUES[] = {"NULL",
                                         "-1",
                                         "1",
                                         "255",
                                         "2147483647",
                                         "4294967296",
                                         "1e300",
                                         "-2",
                                         "9223372036854775807",
                                         "(-9223372036854775807-1)",
                                         "'text'",
                                         "x'00ff'"};

static void change_column(const char *table, const char *column)
{
    char sql[256];
    bool attempts = strcmp(table, "attempts") == 0;

    for (size_t i = 0; i < COUNT_OF(ODD_VALUES); i++) {
        (void)snprintf(sql, sizeof(sql),
                       "UPDATE %s SET \"%s\"=%s WHERE rowid>=(SELECT max(rowid)/2 FROM"
                       " %s)",
                       table, column, ODD_VALUES[i], table);
        run_sql(sql);
        if (attempts)
            forge_attempts(db);
        else
            forge_table(db, table);
        (void)load_and_use();
    }
}

/* Half of the rows of a table get odd values in one column after the other. */
static void change_table(const char *table)
{
    sqlite3_stmt *list = NULL;
    char sql[256];

    (void)snprintf(sql, sizeof(sql), "CREATE TEMP TABLE own AS SELECT * FROM %s",
                   table);
    run_sql(sql);
    (void)snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
    assert_int_equal(roast__sql_prepare(&list, db, sql, NULL), ROAST_OK);
    for (int i = 1; i < sqlite3_column_count(list); i++) {
        change_column(table, sqlite3_column_name(list, i));
        (void)snprintf(sql, sizeof(sql),
                       "DELETE FROM %s; INSERT INTO %s SELECT * FROM own", table,
                       table);
        run_sql(sql);
    }
    (void)sqlite3_finalize(list);
    run_sql("DROP TABLE own");
}

static void odd_cells_do_no_harm(void **state)
{
    static const char *const tables[] = {"run",      "facts",      "counters",
                                         "notes",    "sources",    "processes",
                                         "attempts", "activities", "hot_lines"};

    (void)state;
    assert_int_equal(load_and_use(), 0);
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        change_table(tables[i]);
}

/* ---- strings ------------------------------------------------------------------------- */

/* Shapes and names that are something else. */
static void odd_strings_do_no_harm(void **state)
{
    (void)state;
    run_sql("UPDATE strings SET text=x'ffffffffffffffffffffffffffffffff'"
            " WHERE length(CAST(text AS BLOB))=16");
    forge_table(db, "strings");
    assert_true(load_and_use() > 0);
    run_sql("UPDATE strings SET text=x'ffffffffffffff000000000000000000'"
            " WHERE length(CAST(text AS BLOB))=16");
    forge_table(db, "strings");
    assert_true(load_and_use() > 0);
    run_sql("UPDATE strings SET text=''");
    forge_table(db, "strings");
    assert_true(load_and_use() > 0);
    run_sql("UPDATE strings SET text=NULL WHERE id%2=0");
    forge_table(db, "strings");
    assert_true(load_and_use() > 0);
    run_sql("DELETE FROM strings");
    forge_table(db, "strings");
    assert_true(load_and_use() > 0);
}

/* Rows that are not where they should be, or far too many by what `contents` says. */
static void odd_contents_do_no_harm(void **state)
{
    static const char *const changes[] = {
        "UPDATE contents SET rows=rows+1",
        "UPDATE contents SET rows=9223372036854775807",
        "UPDATE contents SET rows=4294967295",
        "UPDATE contents SET rows=-1",
        "UPDATE contents SET sums=zeroblob(400000)",
        "UPDATE contents SET rows=1000000, sums=zeroblob(125000)",
        "UPDATE contents SET sums=NULL, rows='x'",
        "DELETE FROM contents WHERE name!='run'",
        "UPDATE strings SET id=id+1000000",
        "UPDATE attempts SET id=-1-id",
        "DELETE FROM segments",
        "DELETE FROM contents",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        run_sql("CREATE TEMP TABLE own AS SELECT * FROM contents");
        run_sql(changes[i]);
        (void)load_and_use();
        run_sql("DELETE FROM contents; INSERT INTO contents SELECT * FROM own;"
                "DROP TABLE own");
    }
}

/* ---- segments ------------------------------------------------------------------------ */

static struct roast_buf part_of(int segment)
{
    struct roast_buf part = {NULL, 0, 0, false};
    sqlite3_stmt *find = NULL;

    assert_int_equal(
        roast__sql_prepare(&find, db, "SELECT data FROM segments WHERE id=?1", NULL),
        ROAST_OK);
    (void)sqlite3_bind_int64(find, 1, (int64_t)segment << 32);
    assert_int_equal(roast__sql_step(find, NULL), 1);
    struct roast_str data = roast__sql_text(find, 0);
    roast__buf_put(&part, data.data, data.size_bytes);
    (void)sqlite3_finalize(find);
    return part;
}

static void put_part_at(int64_t id, const unsigned char *bytes, size_t size)
{
    sqlite3_stmt *update = NULL;

    assert_int_equal(roast__sql_prepare(
                         &update, db, "UPDATE segments SET data=?2 WHERE id=?1", NULL),
                     ROAST_OK);
    forge_part(update, id, str_from(bytes, size));
    (void)sqlite3_finalize(update);
}

static void put_part(int segment, const unsigned char *bytes, size_t size)
{
    put_part_at((int64_t)segment << 32, bytes, size);
}

/* Cut at a byte, then each byte in turn as something else. */
static void change_segment(int segment)
{
    struct roast_buf part = part_of(segment);
    size_t step = part.size_bytes / STEPS + 1;

    for (size_t at = ROAST_SEGMENT_HEAD_BYTES - 4; at < part.size_bytes; at += step) {
        static const unsigned char others[] = {0x00, 0x7f, 0x80, 0xff};
        unsigned char own = part.data[at];
        put_part(segment, part.data, at);
        (void)load_and_use();
        part.data[at] = others[at % sizeof(others)];
        put_part(segment, part.data, part.size_bytes);
        (void)load_and_use();
        part.data[at] = own;
    }
    put_part(segment, part.data, part.size_bytes);
    roast__buf_release(&part);
}

static void odd_segments_do_no_harm(void **state)
{
    (void)state;
    for (int i = ROAST_SEGMENT_offers; i < ROAST_SEGMENT_END; i++)
        change_segment(i);
    assert_int_equal(load_and_use(), 0);
}

/* A second part that is about the same rows: they have their records already. */
static void a_record_comes_once(void **state)
{
    struct roast_buf part = part_of(ROAST_SEGMENT_rest);

    (void)state;
    run_sql("INSERT INTO segments SELECT id+1,name,1,items,data FROM segments"
            " WHERE name='rest'; UPDATE contents SET rows=2 WHERE name='rest'");
    roast__store_fixed(part.data + 8, 1, 4); /* its number */
    put_part_at(((int64_t)ROAST_SEGMENT_rest << 32) + 1, part.data, part.size_bytes);
    assert_int_equal(load_and_use(), 0);
    roast__buf_release(&part);
}

#define hostile_test(behaviour) \
    cmocka_unit_test_setup_teardown(behaviour, make_db, close_db)

int main(void)
{
    const struct CMUnitTest tests[] = {
        hostile_test(odd_cells_do_no_harm),    hostile_test(odd_strings_do_no_harm),
        hostile_test(odd_contents_do_no_harm), hostile_test(odd_segments_do_no_harm),
        hostile_test(a_record_comes_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
