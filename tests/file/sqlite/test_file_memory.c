/* SPDX-License-Identifier: BSD-3-Clause */
/* test_file_memory.c - files that are made to take memory: however much they promise,
 * reading one takes at most 16 bytes for each of its bytes, and a megabyte
 * (docs/format.md). All their checksums are right. What must pass all the same is in
 * test_file_extremes.c. */
#include "analyze/rerun/fileset.h"
#include "analyze/summary.h"
#include "file/sqlite/rowset.h"
#include "file/sqlite/save.h"
#include "file_changes.h"
#include "file_memory.h"

/* ---- summaries ----------------------------------------------------------------------- */

/* A table whose rows are all known in one column of `bytes` bytes; the other columns
 * are empty. */
static struct roast_buf table_of(size_t rows, size_t bytes)
{
    struct roast_buf out = {NULL, 0, 0, false};

    roast__buf_put_varint(&out, 1);
    roast__buf_put_varint(&out, 1);
    put_word(&out, "per_file");
    roast__buf_put_varint(&out, rows);
    roast__buf_put_varint(&out, 1);
    put_word(&out, "num_chunks");
    roast__buf_put_varint(&out, ROAST_DTYPE_INT64);
    roast__buf_put_varint(&out, bytes);
    for (size_t i = 0; i < bytes; i++)
        roast__buf_put_varint(&out, 1);
    assert_true(roast__buf_ok(&out));
    return out;
}

static void summaries_take_little_more_than_their_bytes(void **state)
{
    static const struct {
        size_t rows, bytes;
        int status;
    } tables[] = {{900000, 900000, ROAST_OK},
                  {900000, 0, ROAST_BAD_DATA},
                  {900000, 899999, ROAST_BAD_DATA},
                  {899999, 900000, ROAST_BAD_DATA}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        struct roast_buf blob = table_of(tables[i].rows, tables[i].bytes);
        roast_summary *summary = NULL;
        peak_begin();
        int status =
            roast__summary_decode(&summary, str_from(blob.data, blob.size_bytes), NULL);
        assert_int_equal(status, tables[i].status);
        if (blob.size_bytes > 100)
            assert_taken(blob.size_bytes);
        roast_summary_free(summary);
        roast__buf_release(&blob);
    }
}

/* One that is refused is computed anew. */
static void a_run_has_a_summary_all_the_same(void **state)
{
    const struct saved_test *test = *state;
    struct roast_buf blob = table_of(900000, 899999);
    const roast_summary *summary = NULL;
    sqlite3 *db = begin_changes(test->path);

    put_segment(db, ROAST_SEGMENT_summary, 1, &blob);
    end_changes(db);
    roast__buf_release(&blob);
    peak_begin();
    roast_runfile *file = open_saved(test->path);
    assert_int_equal(roast_runfile_summary(file, &summary, NULL), ROAST_OK);
    assert_true(roast_summary_metrics(summary)->known[ROAST_METRIC_wall_time]);
    assert_taken(size_of(test->path));
    roast_runfile_close(file);
}

static void a_part_without_a_summary_is_damage(void **state)
{
    const struct saved_test *test = *state;
    struct roast_buf blob = table_of(1, 1);

    for (uint32_t items = 0; items < 3; items += 2) {
        roast_summary *summary = NULL;
        sqlite3 *db = begin_changes(test->path);
        put_segment(db, ROAST_SEGMENT_summary, items, &blob);
        assert_int_equal(roast__load_summary(&summary, db, NULL), 0);
        assert_null(summary);
        end_changes(db);
        assert_checked(test->path, "the summary: damaged, it is computed anew");
    }
    roast__buf_release(&blob);
}

/* ---- lists --------------------------------------------------------------------------- */

/* The smallest items there are: each byte becomes a number of 8. */
static void small_items_stay_within_bounds(void **state)
{
    enum { BYTES = 900000 };
    static const struct {
        enum roast_segment segment;
        size_t item_bytes;
    } lists[] = {{ROAST_SEGMENT_offers, 3},
                 {ROAST_SEGMENT_counts, 2},
                 {ROAST_SEGMENT_moments, 2}};
    const struct saved_test *test = *state;

    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct roast_buf content = {NULL, 0, 0, false};
        sqlite3 *db = begin_changes(test->path);
        for (size_t k = 0; k < BYTES; k++)
            roast__buf_put(&content, k % lists[i].item_bytes ? "\1" : "", 1);
        put_segment(db, lists[i].segment, (uint32_t)(BYTES / lists[i].item_bytes),
                    &content);
        roast__buf_release(&content);
        end_changes(db);
        assert_int_equal(read_all(test->path), 0);
    }
}

/* Tasks have 37 bytes in memory and 10 in the file, stays 64 and 9, clocks 16 and 2. */
static void small_tasks_stay_within_bounds(void **state)
{
    enum { BYTES = 900000 };
    static const struct {
        enum roast_segment segment;
        size_t item_bytes;
        const char *item;
    } lists[] = {{ROAST_SEGMENT_tasks, 10, "\1\0\0\0\0\0\0\0\0\0"},
                 {ROAST_SEGMENT_stays, 9, "\0\0\0\0\0\0\0\0\0"},
                 {ROAST_SEGMENT_offsets, 2, "\0\0"}};
    const struct saved_test *test = *state;

    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct roast_buf content = {NULL, 0, 0, false};
        size_t items = BYTES / lists[i].item_bytes;
        sqlite3 *db = begin_changes(test->path);
        for (size_t k = 0; k < items; k++)
            roast__buf_put(&content, lists[i].item, lists[i].item_bytes);
        put_segment(db, lists[i].segment, (uint32_t)items, &content);
        roast__buf_release(&content);
        end_changes(db);
        (void)read_all(test->path);
    }
}

/* ---- rows ---------------------------------------------------------------------------- */

enum { STRIDE_BLOCKS = 480, BLOCKS = 40 }; /* one block of so many is there */

/* Sums of blocks that lie far apart, out of those of blocks that do not. */
static struct roast_buf spread(const struct roast_buf *sums)
{
    static const unsigned char none[4 * STRIDE_BLOCKS];
    struct roast_buf out = {NULL, 0, 0, false};

    for (size_t i = 0; i < BLOCKS; i++) {
        roast__buf_put(&out, none, sizeof(none) - 4);
        roast__buf_put(&out, sums->data + 4 * i, 4);
    }
    return out;
}

/* Rows whose numbers are far apart, but never too far: what lies between is lost. */
static void gaps_between_rows_are_not_filled_for_ever(void **state)
{
    const struct saved_test *test = *state;
    sqlite3 *db = begin_changes(test->path);
    struct roast_contents contents;

    run_sql(db, "DELETE FROM strings; WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT"
                " i+1 FROM n WHERE i<32*40-1) INSERT INTO strings SELECT"
                " (i/32*480+479)*32+i%32, '' FROM n");
    forge_table(db, "strings");
    assert_int_equal(roast__contents_find(&contents, db, "strings", NULL), 1);
    assert_int_equal(contents.sums.size_bytes, 4 * BLOCKS);
    struct roast_buf sums = spread(&contents.sums);
    run_sql(db, "DELETE FROM contents WHERE name='strings'");
    assert_int_equal(
        roast__contents_put(db, "strings",
                            (uint64_t)STRIDE_BLOCKS * BLOCKS * ROAST_BLOCK_ROWS, &sums,
                            NULL),
        ROAST_OK);
    roast__contents_release(&contents);
    roast__buf_release(&sums);
    end_changes(db);
    assert_true(read_all(test->path) > 0);
}

static void attempts_that_are_only_promised_take_nothing(void **state)
{
    const struct saved_test *test = *state;
    sqlite3 *db = begin_changes(test->path);

    run_sql(db, "UPDATE contents SET rows=102400000, sums=zeroblob(400000) WHERE"
                " name='attempts'");
    end_changes(db);
    uint64_t damaged = read_all(test->path);
    assert_true(damaged > 1 && damaged < size_of(test->path));
}

/* Without sums nothing of a table is believed: all its rows are lost, and not one. */
static void rows_without_sums_are_counted(void **state)
{
    const struct saved_test *test = *state;
    sqlite3 *db = begin_changes(test->path);
    struct roast_contents contents;

    assert_int_equal(roast__contents_find(&contents, db, "attempts", NULL), 1);
    uint64_t rows = contents.rows;
    roast__contents_release(&contents);
    assert_true(rows > 1);
    run_sql(db, "UPDATE contents SET sums=x'' WHERE name='attempts'");
    end_changes(db);
    assert_int_equal(read_all(test->path), rows);
}

/* The same of other tables, which can hold no more than the file does. */
static void promised_rows_are_counted_as_far_as_they_fit(void **state)
{
    const struct saved_test *test = *state;
    sqlite3 *db = begin_changes(test->path);
    struct roast_checked in;

    run_sql(db, "UPDATE contents SET rows=9223372036854775807 WHERE name='strings'");
    assert_int_equal(roast__checked_open(&in, db, "strings", NULL), ROAST_OK);
    assert_true(in.lost > 1 && in.lost < size_of(test->path));
    roast__checked_close(&in);
    end_changes(db);
}

/* Rows of a few bytes, because all their columns came later. */
static void short_rows_of_wide_tables_are_not_read(void **state)
{
    const struct saved_test *test = *state;
    sqlite3 *db = begin_changes(test->path);
    size_t columns = roast__table_listed(ROAST_TABLE_workers);
    roast_table *table = NULL;
    char sql[256];

    run_sql(db, "DROP TABLE workers; CREATE TABLE workers(row INTEGER PRIMARY KEY);"
                "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE"
                " i<99999) INSERT INTO workers SELECT i FROM n");
    for (size_t i = 0; i < columns; i++) {
        struct roast_table_column data = roast__table_info(ROAST_TABLE_workers, i);
        (void)snprintf(sql, sizeof(sql), "ALTER TABLE workers ADD COLUMN \"%s\" %s",
                       data.name, roast__sql_type(data.type));
        run_sql(db, sql);
        (void)snprintf(sql, sizeof(sql), "UPDATE workers SET \"%s\"=1 WHERE row=0",
                       data.name);
        run_sql(db, sql);
    }
    forge_table(db, "workers");
    end_changes(db);
    peak_begin();
    roast_runfile *file = open_saved(test->path);
    assert_int_equal(roast_runfile_columns(file, ROAST_TABLE_workers, &table, NULL),
                     ROAST_OK);
    assert_true(roast_table_rows(table) < 100);
    assert_taken(size_of(test->path));
    roast_table_free(table);
    roast_runfile_close(file);
}

/* ---- pages that are shared ----------------------------------------------------------- */

enum { SHARERS = 6, LOCAL_BYTES = 489, PER_PAGE_BYTES = 4092, LONG_PAGES = 400 };

/* Where the text of a row goes on: the number behind the first piece of it. */
static size_t next_page_at(const unsigned char *bytes, size_t size,
                           unsigned char letter)
{
    for (size_t at = 0, run = 0; at + 4 < size; at++) {
        run = bytes[at] == letter ? run + 1 : 0;
        if (run > 400 && run < LOCAL_BYTES && bytes[at + 1] != letter)
            return at + 1;
    }
    fail_msg("no text of %c", letter);
    return 0;
}

/* Makes long texts of several rows go on in the same pages. */
static void share_pages(const char *path)
{
    size_t size = size_of(path);
    unsigned char *bytes = malloc(size);
    FILE *file = fopen(path, "r+b");

    assert_non_null(bytes);
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, size, file), size);
    size_t first = next_page_at(bytes, size, 'a');
    for (int i = 1; i < SHARERS; i++)
        memcpy(bytes + next_page_at(bytes, size, (unsigned char)('a' + i)),
               bytes + first, 4);
    rewind(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(bytes);
}

static void shared_pages_count_once(void **state)
{
    const struct saved_test *test = *state;
    sqlite3 *db = begin_changes(test->path);
    char sql[256];

    run_sql(db, "DELETE FROM strings; PRAGMA page_size=4096; VACUUM");
    for (int i = 0; i < SHARERS; i++) {
        (void)snprintf(sql, sizeof(sql),
                       "INSERT INTO strings VALUES(%d,replace(hex(zeroblob(%d)),'00',"
                       "'%c'))",
                       i, LOCAL_BYTES + PER_PAGE_BYTES * LONG_PAGES - 6, 'a' + i);
        run_sql(db, sql);
    }
    forge_table(db, "strings");
    end_changes(db);
    size_t size = size_of(test->path);
    share_pages(test->path);
    /* the sums were made before */
    assert_int_equal(sqlite3_open(test->path, &db), SQLITE_OK);
    forge_table(db, "strings");
    end_changes(db);
    /* as if the file ended behind the pages that they share */
    struct roast_checked in;
    uint64_t budget;
    assert_int_equal(roast__sql_open(&db, test->path, size, &budget, NULL), ROAST_OK);
    assert_int_equal(roast__checked_open(&in, db, "strings", NULL), ROAST_OK);
    in.left_bytes = (uint64_t)PER_PAGE_BYTES * LONG_PAGES * 2;
    assert_int_equal(roast__checked_next(&in, NULL), 0);
    assert_int_equal(in.lost, SHARERS);
    roast__checked_close(&in);
    roast__sql_close(db);
}

/* ---- filesets ------------------------------------------------------------------------ */

static void short_names_of_files_stay_within_bounds(void **state)
{
    enum { FILES = 200000 };
    struct roast_fileset fileset = {.count = 0};
    struct roast_buf text = {NULL, 0, 0, false};

    (void)state;
    roast__buf_put(&text, "dataset\t", 8);
    for (size_t i = 0; i < FILES; i++)
        roast__buf_put(&text, "\nfile\t", 6);
    peak_begin();
    assert_int_equal(
        roast__fileset_read(&fileset, str_from(text.data, text.size_bytes), NULL),
        ROAST_OK);
    assert_taken(text.size_bytes);
    roast__fileset_release(&fileset);
    roast__buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        memory_test(summaries_take_little_more_than_their_bytes),
        memory_test(a_run_has_a_summary_all_the_same),
        memory_test(a_part_without_a_summary_is_damage),
        memory_test(small_items_stay_within_bounds),
        memory_test(small_tasks_stay_within_bounds),
        memory_test(gaps_between_rows_are_not_filled_for_ever),
        memory_test(attempts_that_are_only_promised_take_nothing),
        memory_test(rows_without_sums_are_counted),
        memory_test(promised_rows_are_counted_as_far_as_they_fit),
        memory_test(short_rows_of_wide_tables_are_not_read),
        memory_test(shared_pages_count_once),
        memory_test(short_names_of_files_stay_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
