/* SPDX-License-Identifier: BSD-3-Clause */
/* test_user_sql.c - SELECTs on run files: correct numbers, tables that are not in the
 * file, and read-only access. */
#include <sqlite3.h>

#include "file/live/live_test.h"
#include "file/sqlite/sql.h"
#include "saved_file.h"
#include "saved_print.h"
#include "saved_runs.h"
#include "table/table.h"

/* A result as text: names, then rows; cells are separated by |. */
struct answer {
    char text[4096];
    size_t used;
    size_t rows;
    size_t most_rows; /* 0: all */
};

static void put_text(struct answer *answer, struct roast_str text)
{
    assert_true(answer->used + text.size_bytes < sizeof(answer->text));
    memcpy(answer->text + answer->used, text.data, text.size_bytes);
    answer->used += text.size_bytes;
    answer->text[answer->used] = '\0';
}

static void put_cell(struct answer *answer, const struct roast_cell *cell)
{
    char number[64] = "-";

    if (cell->type == ROAST_CELL_TEXT) {
        put_text(answer, cell->text);
        return;
    }
    if (cell->type == ROAST_CELL_COUNT)
        (void)snprintf(number, sizeof(number), "%llu", (unsigned long long)cell->count);
    else if (cell->type == ROAST_CELL_BOOL)
        (void)snprintf(number, sizeof(number), "%s", cell->count ? "yes" : "no");
    else if (cell->type == ROAST_CELL_NUMBER)
        (void)snprintf(number, sizeof(number), "%.9g", cell->number);
    put_text(answer, roast_str_of(number));
}

static bool take_row(void *context, const char *const *names,
                     const struct roast_cell *cells, size_t count)
{
    struct answer *answer = context;

    for (size_t i = 0; i < count; i++) {
        put_text(answer, roast_str_of(i > 0 ? "|" : ""));
        if (cells)
            put_cell(answer, &cells[i]);
        else
            put_text(answer, roast_str_of(names[i]));
    }
    put_text(answer, roast_str_of("\n"));
    answer->rows += cells != NULL;
    return answer->most_rows == 0 || answer->rows < answer->most_rows;
}

static void assert_answer(roast_runfile *file, const char *query, const char *expected)
{
    struct answer answer = {.used = 0};
    roast_error err = {0};

    if (roast_runfile_sql(file, query, take_row, &answer, &err) < 0)
        fail_msg("%s: %s", query, err.message);
    assert_string_equal(answer.text, expected);
}

static void assert_refused(roast_runfile *file, const char *query, const char *words)
{
    struct answer answer = {.used = 0};
    roast_error err = {0};

    assert_int_equal(roast_runfile_sql(file, query, take_row, &answer, &err),
                     ROAST_REFUSED);
    if (!strstr(err.message, words) || strchr(err.message, '\n'))
        fail_msg("\"%s\" does not say \"%s\"", err.message, words);
    assert_int_equal(answer.rows, 0);
}

static roast_runfile *saved_plain(const struct saved_test *test, size_t chunks)
{
    roast_run *run = plain_run(chunks);

    save(run, test->path);
    roast_run_free(run);
    return open_saved(test->path);
}

static void chunks_are_those_that_count(void **state)
{
    roast_runfile *file = saved_plain(*state, 20);

    /* 2 of 20 failed first, one of them was retried and succeeded */
    assert_answer(file,
                  "SELECT dataset, count(*) n, sum(num_events), min(attempt), "
                  "max(attempt) FROM chunks GROUP BY 1",
                  "dataset|n|sum(num_events)|min(attempt)|max(attempt)\n"
                  "ttbar|18|1800|1|2\n");
    assert_answer(file, "SELECT status, count(*) FROM all_attempts GROUP BY 1",
                  "status|count(*)\nfailed|3\nok|18\n");
    roast_runfile_close(file);
}

struct comparison {
    const roast_table *table;
    size_t row;
    size_t compared;
};

static bool is_same_cell(const struct roast_cell *a, const struct roast_cell *b)
{
    if (a->type == ROAST_CELL_TEXT && a->text.size_bytes > 1 &&
        memcmp(a->text.data, "x'", 2) == 0)
        return true; /* not text for other programs */
    if (a->type == ROAST_CELL_TEXT)
        return b->type == ROAST_CELL_TEXT && str_equal(a->text, b->text);
    if (a->type == ROAST_CELL_ABSENT || b->type == ROAST_CELL_ABSENT)
        return a->type == b->type;
    double left = a->type == ROAST_CELL_NUMBER ? a->number : (double)a->count;
    double right = b->type == ROAST_CELL_NUMBER ? b->number : (double)b->count;
    return left == right;
}

static bool compare_row(void *context, const char *const *names,
                        const struct roast_cell *cells, size_t count)
{
    struct comparison *to = context;

    if (!cells) {
        assert_int_equal(count, roast_table_width(to->table));
        for (size_t i = 0; i < count; i++)
            assert_string_equal(names[i], roast_table_column(to->table, i)->name);
        return true;
    }
    size_t row = to->row++;
    for (size_t i = 0; i < count; i++) {
        struct roast_cell own =
            roast_column_cell(roast_table_column(to->table, i), row);
        bool huge =
            own.type == ROAST_CELL_NUMBER && own.number > 9e9; /* 63 bits of ns */
        if (!huge && !is_same_cell(&cells[i], &own))
            fail_msg("row %zu: %s differs", row, names[i]);
    }
    to->compared++;
    return true;
}

/* The view has exactly the columns of the table `chunks`. */
static void the_view_agrees_with_the_table(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = rich_run();
    roast_table *table = NULL;

    save(run, test->path);
    roast_runfile *file = open_saved(test->path);
    assert_int_equal(roast_runfile_columns(file, ROAST_TABLE_chunks, &table, NULL),
                     ROAST_OK);
    struct comparison to = {.table = table};
    assert_int_equal(roast_runfile_sql(file, "SELECT * FROM chunks ORDER BY chunk_id",
                                       compare_row, &to, NULL),
                     ROAST_OK);
    assert_int_equal(to.row, roast_table_rows(table));
    assert_true(to.compared > 20);
    roast_table_free(table);
    roast_runfile_close(file);
    roast_run_free(run);
}

static void seconds_and_nanoseconds_agree(void **state)
{
    roast_runfile *file = saved_plain(*state, 5);

    assert_answer(file,
                  "SELECT duration, duration_ns, cpu_ns, start_ns, r.rss_after_bytes"
                  " FROM all_attempts a JOIN chunk_rows r ON a.\"row\"=r.id"
                  " WHERE duration_ns=900000100",
                  "duration|duration_ns|cpu_ns|start_ns|rss_after_bytes\n"
                  "0.9000001|900000100|800000000|1760000001000000000|1073737728\n");
    roast_runfile_close(file);
}

/* A view in the file is never used, whatever its name. */
static void views_of_a_stranger_are_ignored(void **state)
{
    const struct saved_test *test = *state;
    sqlite3 *db = NULL;

    roast_runfile_close(saved_plain(test, 3));
    assert_int_equal(sqlite3_open(test->path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "DROP VIEW chunks; CREATE VIEW chunks AS SELECT 'evil' dataset;"
                     "DROP TABLE labels; CREATE VIEW labels AS SELECT 'evil' name",
                     NULL, NULL, NULL),
        SQLITE_OK);
    (void)sqlite3_close(db);
    roast_runfile *file = open_saved(test->path);
    assert_answer(file, "SELECT count(*) n FROM chunks WHERE dataset='evil'", "n\n0\n");
    assert_answer(file, "SELECT name FROM labels", "name\nsite\nuser\n");
    roast_runfile_close(file);
}

static void a_query_without_an_end_is_stopped(void **state)
{
    static const char endless[] = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT"
                                  " x+1 FROM n) SELECT count(*) FROM n";
    roast_runfile *file = saved_plain(*state, 3);
    struct answer answer = {.used = 0};
    roast_error err = {0};

    roast_runfile_limit_sql(file, 0.01);
    assert_int_equal(roast_runfile_sql(file, endless, take_row, &answer, &err),
                     ROAST_LIMIT);
    assert_string_equal(err.message, "the query takes longer than 0.01 s");
    assert_answer(file, "SELECT count(*) n FROM labels", "n\n2\n");
    roast_runfile_close(file);
}

/* A number that the file answers a query with. */
static int64_t number_in(const char *path, const char *query)
{
    sqlite3_stmt *select = NULL;
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(roast__sql_prepare(&select, db, query, NULL), ROAST_OK);
    assert_int_equal(roast__sql_step(select, NULL), 1);
    int64_t number = sqlite3_column_int64(select, 0);
    (void)sqlite3_finalize(select);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return number;
}

/* Which is not the fault of the query. */
static void a_damaged_table_is_damage(void **state)
{
    const struct saved_test *test = *state;
    struct answer answer = {.used = 0};
    unsigned char dirt[512];

    roast_runfile_close(saved_plain(test, 3));
    int64_t page = number_in(
        test->path, "SELECT rootpage FROM sqlite_master WHERE name='chunk_rows'");
    int64_t size = number_in(test->path, "PRAGMA page_size");
    int fd = open(test->path, O_WRONLY);
    memset(dirt, 0xff, sizeof(dirt));
    assert_int_equal(pwrite(fd, dirt, sizeof(dirt), (off_t)((page - 1) * size)),
                     sizeof(dirt));
    (void)close(fd);
    roast_runfile *file = open_saved(test->path);
    assert_int_equal(
        roast_runfile_sql(file, "SELECT * FROM chunk_rows", take_row, &answer, NULL),
        ROAST_BAD_DATA);
    roast_runfile_close(file);
}

/* Tables that exist only during a query. */
static void tables_are_made_on_first_use(void **state)
{
    roast_runfile *file = saved_plain(*state, 3);

    assert_answer(file, "SELECT name, sum(total) FROM chunk_sections GROUP BY 1",
                  "name|sum(total)\njets|1.2e-06\npt|4e-07\n");
    assert_answer(file,
                  "SELECT c.file, sum(b.bytes) FROM chunks c JOIN chunk_branches b"
                  " USING (chunk_id) GROUP BY 1 ORDER BY 1",
                  "file|sum(b.bytes)\nroot://host//one.root|330\ntwo.root|110\n");
    assert_answer(file,
                  "SELECT series, count(*) FROM samples WHERE worker LIKE '%:1'"
                  " GROUP BY 1",
                  "series|count(*)\ncores|20\ncpu|7\nmemory|20\n");
    assert_answer(file, "SELECT count(*), sum(undecorated) FROM tasks, chunks",
                  "count(*)|sum(undecorated)\n16|0\n");
    roast_runfile_close(file);
}

static void all_columns_of_chunks_can_be_queried(void **state)
{
    roast_runfile *file = saved_plain(*state, 3);

    assert_answer(file, "SELECT thread, undecorated FROM chunks ORDER BY 1 LIMIT 1",
                  "thread|undecorated\n4010|no\n");
    assert_answer(file, "SELECT count(*), min(thread) FROM chunks",
                  "count(*)|min(thread)\n4|4010\n");
    assert_answer(file, "SELECT count(*) FROM (SELECT * FROM chunks)", "count(*)\n4\n");
    assert_refused(file, "SELECT nonsense FROM chunks", "no such column: nonsense");
    roast_runfile_close(file);
}

/* A relative path refers to the folder in which the file was opened. */
static void the_working_directory_may_change(void **state)
{
    const struct saved_test *test = *state;
    const char *name = strrchr(test->path, '/') + 1;
    char before[4096];

    assert_non_null(getcwd(before, sizeof(before)));
    roast_runfile_close(saved_plain(test, 3));
    assert_int_equal(chdir(test->dir), 0);
    roast_runfile *file = open_saved(name);
    assert_int_equal(chdir("/"), 0);
    assert_answer(file, "SELECT count(*) n FROM chunks", "n\n4\n");
    assert_int_equal(chdir(before), 0);
    roast_runfile_close(file);
}

static void plain_tables_are_there(void **state)
{
    roast_runfile *file = saved_plain(*state, 10);

    assert_answer(file, "SELECT name, value FROM labels",
                  "name|value\nsite|T2\nuser|me\n");
    assert_answer(file, "SELECT value FROM metrics WHERE name='num_failed_attempts'",
                  "value\n1\n");
    assert_answer(file, "SELECT error_type, resolved FROM failures",
                  "error_type|resolved\nOSError|no\n");
    assert_answer(file, "SELECT file, num_chunks FROM files ORDER BY 1",
                  "file|num_chunks\nroot://host//one.root|7\ntwo.root|3\n");
    assert_answer(file, "SELECT -5, 1.5, NULL, x'00ff', 'x', 9223372036854775807",
                  "-5|1.5|NULL|x'00ff'|'x'|9223372036854775807\n"
                  "-5|1.5|-|x'00ff'|x|9223372036854775807\n");
    assert_answer(
        file, "SELECT -9007199254740993 n, x'ff' b", /* not representable as a double */
        "n|b\n-9007199254740993|x'ff'\n");
    roast_runfile_close(file);
}

static void nothing_can_be_changed(void **state)
{
    static const char *const changes[] = {
        "DELETE FROM journal",
        "UPDATE journal SET data='x'",
        "INSERT INTO summary VALUES(1,2)",
        "DROP TABLE journal",
        "CREATE TABLE t(a)",
        "CREATE TEMP TABLE t(a)",
        "ATTACH '/tmp/x' AS x",
        "PRAGMA writable_schema=1",
        "PRAGMA table_info(journal)",
        "BEGIN",
        "SAVEPOINT s",
        "ANALYZE",
        "REINDEX",
        "WITH x AS (SELECT 1) DELETE FROM journal",
    };
    const struct saved_test *test = *state;
    roast_runfile *file = saved_plain(test, 2);
    struct roast_buf before = read_bytes(test->path);

    for (size_t i = 0; i < COUNT_OF(changes); i++)
        assert_refused(file, changes[i], "SELECT is ");
    assert_refused(file, "UPDATE sqlite_master SET sql='x'", "may not be modified");
    assert_refused(file, "SELECT load_extension('x')", "");
    assert_refused(file, "VACUUM", "a SELECT is wanted");
    assert_refused(file, "", "a SELECT is wanted");
    assert_refused(file, " -- nothing", "a SELECT is wanted");
    assert_refused(file, "SELECT 1; SELECT 2", "one SELECT at a time");
    assert_refused(file, "SELEC", "syntax error");
    assert_refused(file, "SELECT * FROM nowhere", "no such table: nowhere");
    assert_answer(file, "SELECT 1; -- and no more", "1\n1\n");
    roast_runfile_close(file);
    struct roast_buf after = read_bytes(test->path);
    assert_true(str_equal(buf_str(&before), buf_str(&after)));
    roast__buf_release(&before);
    roast__buf_release(&after);
}

/* The file can be read without libroast. */
static void any_sqlite_answers(void **state)
{
    const struct saved_test *test = *state;
    sqlite3_stmt *select = NULL;
    sqlite3 *db = NULL;

    roast_runfile_close(saved_plain(test, 20));
    assert_int_equal(sqlite3_open(test->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(
                         db,
                         "SELECT dataset, sum(num_events), sum(task_time),"
                         " sum(import_s+open_s+form_s+fetch_s+decompress_s+interpret_s"
                         "+read_other_s+compute_s+write_s+result_s+unnamed_s)"
                         " FROM chunks GROUP BY 1",
                         -1, &select, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(select), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(select, 0), "ttbar");
    assert_int_equal(sqlite3_column_int64(select, 1), 1800);
    assert_true(sqlite3_column_double(select, 2) > 0);
    assert_true(sqlite3_column_double(select, 3) > 0);
    assert_int_equal(sqlite3_step(select), SQLITE_DONE);
    (void)sqlite3_finalize(select);
    assert_int_equal(
        sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &select, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(select), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(select, 0), "ok");
    (void)sqlite3_finalize(select);
    (void)sqlite3_close(db);
}

static void a_visitor_may_stop(void **state)
{
    roast_runfile *file = saved_plain(*state, 10);
    struct answer answer = {.most_rows = 2};

    assert_int_equal(
        roast_runfile_sql(file, "SELECT id FROM chunk_rows", take_row, &answer, NULL),
        ROAST_OK);
    assert_string_equal(answer.text, "id\n0\n1\n");
    roast_runfile_close(file);
}

/* A live file has no tables: they are created in memory. */
static void live_files_can_be_queried(void **state)
{
    struct live_test *test = *state;

    open_live(test, &MANUAL_SYNC);
    make_changes(test->run);
    add_attempts(test->run, 4);
    close_live(test);
    roast_runfile *file = open_saved(test->path);
    assert_answer(file,
                  "SELECT dataset, sum(num_events) FROM chunks WHERE file!='f.root'"
                  " GROUP BY 1",
                  "dataset|sum(num_events)\nttbar|400\n");
    assert_answer(file, "SELECT count(*)>0 FROM samples", "count(*)>0\n1\n");
    assert_answer(file, "SELECT count(thread) FROM chunks", "count(thread)\n4\n");
    assert_refused(file, "DELETE FROM journal", "only a SELECT is allowed");
    roast_runfile_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        saved_test_of(chunks_are_those_that_count),
        saved_test_of(the_view_agrees_with_the_table),
        saved_test_of(seconds_and_nanoseconds_agree),
        saved_test_of(tables_are_made_on_first_use),
        saved_test_of(all_columns_of_chunks_can_be_queried),
        saved_test_of(views_of_a_stranger_are_ignored),
        saved_test_of(a_query_without_an_end_is_stopped),
        saved_test_of(a_damaged_table_is_damage),
        saved_test_of(the_working_directory_may_change),
        saved_test_of(plain_tables_are_there),
        saved_test_of(nothing_can_be_changed),
        saved_test_of(any_sqlite_answers),
        saved_test_of(a_visitor_may_stop),
        live_test_of(live_files_can_be_queried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
