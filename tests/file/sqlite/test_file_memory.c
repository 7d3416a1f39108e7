/* SPDX-License-Identifier: BSD-3-Clause */
/* test_file_memory.c - files that are made to take memory: however much they promise,
 * reading one takes at most 40 bytes for each of its bytes, and a megabyte
 * (docs/format.md). All their checksums are right. What must pass all the same is in
 * test_file_extremes.c. */
#include "analyze/rerun/fileset.h"
#include "file/sqlite/summary_blob.h"
#include "file_changes.h"
#include "file_memory.h"

/* ---- summaries ----------------------------------------------------------------------- */

/* Cells of one byte each; with `list` all in one. */
static struct roast_buf absent_cells(size_t columns, size_t rows, size_t list)
{
    struct roast_buf out = {NULL, 0, 0, false};

    roast__buf_put_varint(&out, 1);
    roast__buf_put_varint(&out, 0);
    roast__buf_put_varint(&out, 1);
    put_word(&out, "t");
    roast__buf_put_varint(&out, ROAST_TABLE_LIST);
    roast__buf_put_varint(&out, columns);
    for (size_t i = 0; i < columns; i++)
        put_word(&out, "");
    roast__buf_put_varint(&out, rows);
    for (size_t i = 0; i < rows * columns; i++) {
        roast__buf_put_varint(&out, list ? ROAST_CELL_LIST : ROAST_CELL_ABSENT);
        if (list)
            roast__buf_put_varint(&out, list);
        for (size_t k = 0; k < list; k++)
            roast__buf_put_varint(&out, ROAST_CELL_ABSENT);
    }
    assert_true(roast__buf_ok(&out));
    return out;
}

static void summaries_of_nothing_are_refused(void **state)
{
    static const size_t shapes[][3] = {
        {32, 30000, 0}, {1, 900000, 0}, {1, 1, 900000}, {30, 1000, 30}, {1, 100000, 1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        struct roast_buf blob = absent_cells(shapes[i][0], shapes[i][1], shapes[i][2]);
        roast_summary *summary = NULL;
        peak_begin();
        int status = roast__summary_unpack(
            &summary, str_from(blob.data, blob.size_bytes), blob.size_bytes, NULL);
        assert_int_equal(status, ROAST_LIMIT);
        assert_taken(blob.size_bytes);
        roast__buf_release(&blob);
    }
}

/* One that is refused is worked out again. */
static void a_run_has_a_summary_all_the_same(void **state)
{
    const struct saved_test *test = *state;
    struct roast_buf blob = absent_cells(32, 30000, 0);
    const roast_summary *summary = NULL;
    sqlite3 *db = begin_changes(test->path);

    put_summary(db, &blob);
    end_changes(db);
    roast__buf_release(&blob);
    peak_begin();
    roast_runfile *file = open_saved(test->path);
    assert_int_equal(roast_runfile_summary(file, &summary, NULL), ROAST_OK);
    assert_true(roast_summary_metrics(summary)->known[ROAST_METRIC_wall_time]);
    assert_taken(size_of(test->path));
    roast_runfile_close(file);
}

/* Nothing of the run is lost with it. */
static void a_summary_that_is_too_large_is_no_damage(void **state)
{
    const struct saved_test *test = *state;
    struct roast_buf blob = absent_cells(32, 30000, 0);
    sqlite3 *db = begin_changes(test->path);

    put_summary(db, &blob);
    end_changes(db);
    roast__buf_release(&blob);
    assert_checked(test->path, NULL);
}

static void a_row_without_a_summary_is_damage(void **state)
{
    const struct saved_test *test = *state;
    static const char *const changes[] = {"DELETE FROM summary",
                                          "UPDATE summary SET data=x''",
                                          "UPDATE summary SET data=substr(data,1,30)"};

    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        sqlite3 *db = begin_changes(test->path);
        run_sql(db, changes[i]);
        end_changes(db);
        assert_checked(test->path, "the summary: damaged, it is computed anew");
    }
}

/* ---- entries ------------------------------------------------------------------------- */

/* The smallest entries of each kind, as many as a block holds: what they take in memory is
 * limited by their bytes. */
static void small_entries_stay_within_bounds(void **state)
{
    enum { BYTES = 900000 };
    static const struct {
        enum roast_entry kind;
        size_t size;
        const char *payload;
    } lists[] = {
        {ROAST_ENTRY_offer, 3, "\0\1\1"},
        {ROAST_ENTRY_count, 2, "\0\1"},
        {ROAST_ENTRY_mark, 2, "\1\0"},
        {ROAST_ENTRY_task, 7, "\0\0\0\2\0\0\0"},
        {ROAST_ENTRY_session, 9, "\0\0\0\0\0\1\0\0\0"},
        {ROAST_ENTRY_record, 4, "\x12\0\0\0"},
        {ROAST_ENTRY_text, 2, "\1n"},
        {ROAST_ENTRY_hot_line, 6, "\1\0\0\0\0\0"},
    };
    const struct saved_test *test = *state;

    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct roast_buf entries = {NULL, 0, 0, false};
        sqlite3 *db = begin_changes(test->path);
        while (entries.size_bytes < BYTES)
            put_entry(&entries, lists[i].kind, lists[i].payload, lists[i].size);
        put_entries(db, &entries);
        roast__buf_release(&entries);
        end_changes(db);
        (void)read_all(test->path);
    }
}

/* ---- filesets ------------------------------------------------------------------------ */

static void short_names_of_files_stay_within_bounds(void **state)
{
    enum { FILES = 200000 };
    struct roast_fileset fileset = {.count = 0};
    struct roast_buf json = {NULL, 0, 0, false};

    (void)state;
    roast__buf_put(&json, "{\"\":[\"\"", 7);
    for (size_t i = 0; i < FILES; i++)
        roast__buf_put(&json, ",\"\"", 3);
    roast__buf_put(&json, "]}", 2);
    peak_begin();
    assert_int_equal(
        roast__fileset_read(&fileset, str_from(json.data, json.size_bytes), NULL),
        ROAST_OK);
    assert_taken(json.size_bytes);
    roast__fileset_release(&fileset);
    roast__buf_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        memory_test(summaries_of_nothing_are_refused),
        memory_test(a_run_has_a_summary_all_the_same),
        memory_test(a_summary_that_is_too_large_is_no_damage),
        memory_test(a_row_without_a_summary_is_damage),
        memory_test(small_entries_stay_within_bounds),
        memory_test(short_names_of_files_stay_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
