/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_damage.h - checks damaged run files: each must be refused, or report its damage
 * and return only data that was saved. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_DAMAGE_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_DAMAGE_H

#include "file/live/live_test.h"
#include "file/sqlite/save.h"
#include "saved_file.h"
#include "saved_print.h"
#include "saved_runs.h"

/* What was saved. */
struct expected_run {
    roast_run *run;
    struct roast_buf whole;
    struct roast_chunk_list chunks;
    struct roast_tracking tracking;
    struct roast_buf bytes; /* of the file */
};

/* Small pages make a small file: every table has one at least. */
static inline void save_small_pages(roast_run *run, const char *path)
{
    sqlite3 *db = NULL;
    roast_error err = {0};

    write_bytes(path, "", 0);
    if (roast__sql_create(&db, path, 512, &err) < 0 ||
        roast__save_into(db, run, true, &err) < 0)
        fail_msg("%s", err.message);
    roast__sql_close(db);
}

static inline void save_expected(struct expected_run *expected, roast_run *run,
                                 const char *path)
{
    save_small_pages(run, path);
    expected->run = run;
    expected->whole = print_whole(run);
    expected->bytes = read_bytes(path);
    assert_int_equal(roast_run_chunks(run, &expected->chunks, NULL), ROAST_OK);
    assert_int_equal(roast_run_tracking(run, &expected->tracking, NULL), ROAST_OK);
}

static inline void release_expected(struct expected_run *expected)
{
    roast_run_free(expected->run);
    roast__buf_release(&expected->whole);
    roast__buf_release(&expected->bytes);
    roast_chunk_list_release(&expected->chunks);
    roast_tracking_release(&expected->tracking);
}

static inline struct roast_str frame_at(const struct roast_chunk_list *list, size_t i)
{
    return str_from(list->frames + list->items[i].offset, list->items[i].size_bytes);
}

static inline bool has_frame(const struct roast_chunk_list *list,
                             struct roast_str frame)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_equal(frame_at(list, i), frame))
            return true;
    }
    return false;
}

static inline void assert_saved_records(const struct expected_run *expected,
                                        roast_run *run)
{
    struct roast_chunk_list list;

    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    for (size_t i = 0; i < list.count; i++)
        assert_true(has_frame(&expected->chunks, frame_at(&list, i)));
    roast_chunk_list_release(&list);
}

static inline void assert_saved_facts(const struct expected_run *expected,
                                      roast_run *run)
{
    for (int i = 0; i < ROAST_FACT_COUNT; i++) {
        double value, known;
        if (!roast_run_fact(run, (enum roast_fact)i, &value))
            continue;
        assert_true(roast_run_fact(expected->run, (enum roast_fact)i, &known));
        assert_true(value == known);
    }
}

static inline void assert_saved_note(void *context, struct roast_str name,
                                     struct roast_str text)
{
    const struct roast_notes *notes = context;

    for (size_t i = 0; i < notes->count; i++) {
        if (str_equal(roast__note_name(&notes->items[i]), name) &&
            str_equal(roast__note_text(&notes->items[i]), text))
            return;
    }
    fail_msg("a note that was never set");
}

/* Series that were packed, as they were or not at all. */
static inline void assert_saved_samples(const struct expected_run *expected,
                                        const roast_run *run)
{
    const struct roast_samples *all = &expected->run->samples;

    for (size_t i = 0; i < run->samples.count; i++) {
        const struct roast_worker_samples *worker = &run->samples.workers[i];
        struct roast_str name = roast__strings_get(&run->strings, worker->name);
        const struct roast_worker_samples *own = roast__samples_find(
            all, roast__strings_find(&expected->run->strings, name));
        assert_non_null(own);
        assert_true(worker->times.size_bytes == 0 ||
                    str_equal(buf_str(&worker->times), buf_str(&own->times)));
        for (int k = 0; k < ROAST_SERIES_COUNT; k++)
            assert_true(
                roast__series_of(worker, (enum roast_series)k)->changes.size_bytes ==
                    0 ||
                str_equal(
                    buf_str(&roast__series_of(worker, (enum roast_series)k)->changes),
                    buf_str(&roast__series_of(own, (enum roast_series)k)->changes)));
    }
}

/* Another one at every call. */
static inline void read_one_table(roast_runfile *file)
{
    static int table;
    roast_table *columns = NULL;

    table = (table + 1) % ROAST_RUN_TABLE_COUNT;
    (void)roast_runfile_columns(file, (enum roast_table_id)table, &columns, NULL);
    roast_table_free(columns);
}

/* Opens a file that may be damaged and uses all of it: it is refused, or says what is
 * wrong, or is whole. Returns whether it was opened. */
static inline bool assert_damage_reported(const struct expected_run *expected,
                                          const char *path)
{
    roast_runfile *file = NULL;
    const roast_summary *summary = NULL;
    roast_run *run = NULL;
    roast_error err = {0};
    int status = roast_runfile_open(&file, path, &err);

    if (status < 0) {
        assert_true(status != ROAST_NO_MEMORY && status != ROAST_IO);
        assert_true(err.message[0] != '\0');
        return false;
    }
    int64_t problems = roast_runfile_check(file, NULL, NULL, &err);
    assert_true(problems >= 0);
    if (roast_runfile_run(file, true, &run, &err) == ROAST_OK) {
        struct roast_buf whole = print_whole(run);
        bool same = str_equal(buf_str(&whole), buf_str(&expected->whole));
        roast__buf_release(&whole);
        if (!same && problems == 0)
            fail_msg("something is missing, and nobody says so");
        assert_saved_records(expected, run);
        assert_saved_facts(expected, run);
        assert_saved_samples(expected, run);
        for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++)
            roast_run_notes(run, (enum roast_note_group)i, assert_saved_note,
                            &expected->run->notes);
    } else {
        assert_true(problems > 0);
    }
    (void)roast_runfile_summary(file, &summary, &err);
    read_one_table(file);
    roast_runfile_close(file);
    return true;
}

#endif
