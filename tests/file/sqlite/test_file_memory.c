/* SPDX-License-Identifier: BSD-3-Clause */
/* test_file_memory.c - files crafted to use much memory: reading takes at most 40 bytes
 * for each byte of the file, and a megabyte (docs/format.md). All checksums are valid.
 * Valid files are tested in test_file_extremes.c. */
#include "analyze/rerun/fileset.h"
#include "analyze/summary.h"
#include "file_changes.h"
#include "file_memory.h"

/* ---- summaries ----------------------------------------------------------------------- */

/* A table with one column of `bytes` bytes in which all rows are known. */
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
            assert_memory_bounded(blob.size_bytes);
        roast_summary_free(summary);
        roast__buf_release(&blob);
    }
}

/* A refused summary is computed again. */
static void a_run_has_a_summary_all_the_same(void **state)
{
    const struct saved_test *test = *state;
    struct roast_buf blob = table_of(900000, 899999);
    const roast_summary *summary = NULL;
    sqlite3 *db = begin_changes(test->path);

    put_summary(db, &blob);
    end_changes(db);
    roast__buf_release(&blob);
    peak_begin();
    roast_runfile *file = open_saved(test->path);
    assert_int_equal(roast_runfile_summary(file, &summary, NULL), ROAST_OK);
    assert_true(roast_summary_metrics(summary)->known[ROAST_METRIC_wall_time]);
    assert_memory_bounded(size_of(test->path));
    roast_runfile_close(file);
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

/* The smallest entries of each kind, as many as a block holds: their memory is limited
 * by their bytes. */
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
    struct roast_buf text = {NULL, 0, 0, false};

    (void)state;
    roast__buf_put(&text, "dataset\t", 8);
    for (size_t i = 0; i < FILES; i++)
        roast__buf_put(&text, "\nfile\t", 6);
    peak_begin();
    assert_int_equal(
        roast__fileset_read(&fileset, str_from(text.data, text.size_bytes), NULL),
        ROAST_OK);
    assert_memory_bounded(text.size_bytes);
    roast__fileset_release(&fileset);
    roast__buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        memory_test(summaries_take_little_more_than_their_bytes),
        memory_test(a_run_has_a_summary_all_the_same),
        memory_test(a_row_without_a_summary_is_damage),
        memory_test(small_entries_stay_within_bounds),
        memory_test(short_names_of_files_stay_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
