/* SPDX-License-Identifier: BSD-3-Clause */
/* test_file_extremes.c - files that are small for what is in them. Those that are as they
 * should be lose nothing by the bounds of memory; sampled workers, which are far larger
 * in memory than in a file, stay within them. */
#include "file_changes.h"
#include "file_memory.h"

/* ---- what must pass ------------------------------------------------------------------ */

enum { WORKERS_AT_ONCE = 64 };

static void make_nth(struct made *made, enum roast_frame_kind kind, size_t n)
{
    make(made, kind, 7 + n % WORKERS_AT_ONCE, (uint32_t)(n / WORKERS_AT_ONCE + 1));
}

/* Nobody looked into them: rows of attempts have the fewest columns. */
static void add_bare_end(roast_run *run, size_t n)
{
    struct made made;

    make_nth(&made, ROAST_FRAME_END, n);
    roast_record_set_u64(&made.rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    add(run, &made);
}

/* Lost, or failed, and nobody knows what their files are called: hardly a cell of the
 * failures is known. */
static void add_bare_begin(roast_run *run, size_t n)
{
    struct made made;

    make_nth(&made, ROAST_FRAME_BEGIN, n);
    add(run, &made);
}

static void add_unnamed_failure(roast_run *run, size_t n)
{
    struct made made;

    make_nth(&made, ROAST_FRAME_END, n);
    roast_record_set_u64(&made.rec, ROAST_FIELD_status, ROAST_CHUNK_FAILED);
    set_place(&made, "d", "f", n, n + 1);
    add(run, &made);
}

/* A file of its own, of which nothing else is known: all tables by file have a row, and
 * next to nothing in it. */
static void add_bare_file(roast_run *run, size_t n)
{
    struct made made;
    char file[24];

    (void)snprintf(file, sizeof(file), "%zx", n);
    make_nth(&made, ROAST_FRAME_CHUNK, n);
    roast_record_set_u64(&made.rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    set_text(&made, ROAST_FIELD_file, file);
    add(run, &made);
}

static void add_look(roast_run *run, size_t n, int series_count)
{
    char name[24];

    (void)snprintf(name, sizeof(name), "%zx", n);
    roast_sample sample = {.worker = roast_str_of(name), .time_ns = EPOCH_0};
    for (int i = 0; i < series_count; i++)
        roast_sample_set(&sample, (enum roast_series)i, 0);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

/* A worker that was looked at once. */
static void add_short_worker(roast_run *run, size_t n)
{
    add_look(run, n, 1);
}

static void add_broad_worker(roast_run *run, size_t n)
{
    add_look(run, n, ROAST_SERIES_COUNT);
}

/* Once, and nothing could be told. */
static void add_silent_worker(roast_run *run, size_t n)
{
    add_look(run, n, 0);
}

static const struct extreme {
    const char *name;
    void (*add)(roast_run *run, size_t n);
    size_t count;
} extremes[] = {
    {"fewest columns", add_bare_end, 100000},
    {"lost ones", add_bare_begin, 10000},
    {"unnamed failures", add_unnamed_failure, 10000},
    {"bare files", add_bare_file, 10000},
    {"one sample", add_short_worker, 10000},
    {"one sample of everything", add_broad_worker, 10000},
    {"one sample of nothing", add_silent_worker, 10000},
};

static roast_run *extreme_run(const struct extreme *extreme)
{
    roast_run *run = new_run();

    for (size_t i = 0; i < extreme->count; i++)
        extreme->add(run, i);
    roast_run_finish(run, MONO_0 + 100 * SECOND);
    return run;
}

static void assert_summary_is_read(roast_runfile *file, const char *path)
{
    roast_summary *summary = NULL;

    peak_begin();
    assert_int_equal(roast__load_summary(&summary, file->db, NULL), 1);
    assert_taken(size_of(path));
    roast_summary_free(summary);
}

static void extremes_lose_nothing(void **state)
{
    const struct saved_test *test = *state;

    for (size_t i = 0; i < COUNT_OF(extremes); i++) {
        roast_run *run = extreme_run(&extremes[i]);
        const roast_run *again;
        save(run, test->path);
        roast_runfile *file = open_saved(test->path);
        uint64_t damaged = read_run(&again, file, test->path);
        if (damaged > 0)
            fail_msg("%s: %d pieces are lost", extremes[i].name, (int)damaged);
        assert_int_equal(again->attempts.count, run->attempts.count);
        assert_int_equal(again->samples.count, run->samples.count);
        assert_int_equal(again->attempts.count + again->samples.count,
                         extremes[i].count);
        assert_summary_is_read(file, test->path);
        roast_runfile_close(file);
        assert_checked(test->path, NULL);
        roast_run_free(run);
    }
}

/* ---- workers ------------------------------------------------------------------------- */

/* Workers of twelve bytes: without series, and without a moment. */
static struct roast_buf twelve_byte_workers(uint64_t count)
{
    enum { NUMBERS = 11 };
    struct roast_buf content = {NULL, 0, 0, false};

    roast__buf_put_varint(&content, 0); /* the first one's number, no series */
    roast__buf_put_varint(&content, 0);
    for (uint64_t i = 0; i < count; i++) {
        roast__buf_put_varint(&content, i);
        for (int k = 0; k < NUMBERS; k++)
            roast__buf_put_varint(&content, 0);
    }
    return content;
}

/* What a file says that it has in place of its samples. */
static sqlite3 *begin_without_samples(const char *path)
{
    sqlite3 *db = begin_changes(path);

    run_sql(db, "DELETE FROM strings; WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT"
                " i+1 FROM n WHERE i<19999) INSERT INTO strings SELECT i,"
                " printf('%x',i) FROM n");
    forge_table(db, "strings");
    run_sql(db, "DELETE FROM segments WHERE name='samples';"
                "UPDATE contents SET rows=0 WHERE name='samples'");
    return db;
}

/* Each has two hundred bytes in memory. One that is too many takes no other with it. */
static void workers_without_samples_are_left_out(void **state)
{
    enum { WORKERS = 20000 };
    const struct saved_test *test = *state;
    struct roast_buf content = twelve_byte_workers(WORKERS);
    sqlite3 *db = begin_without_samples(test->path);
    const roast_run *run;

    put_segment(db, ROAST_SEGMENT_samplers, WORKERS, &content);
    roast__buf_release(&content);
    end_changes(db);
    roast_runfile *file = open_saved(test->path);
    uint64_t damaged = read_run(&run, file, test->path);
    assert_true(run->samples.count > 0 && run->samples.count < WORKERS);
    assert_true(damaged >= WORKERS - run->samples.count);
    roast_runfile_close(file);
}

/* A part that ends too early: so many workers are lost, and not one. */
static void workers_that_are_missing_are_counted(void **state)
{
    enum { WORKERS = 10, THERE = 4 };
    const struct saved_test *test = *state;
    struct roast_buf content = twelve_byte_workers(THERE);
    const roast_run *run;
    uint64_t damaged[2];

    for (uint32_t i = 0; i < 2; i++) {
        sqlite3 *db = begin_without_samples(test->path);
        put_segment(db, ROAST_SEGMENT_samplers, i ? WORKERS : THERE, &content);
        end_changes(db);
        roast_runfile *file = open_saved(test->path);
        damaged[i] = read_run(&run, file, test->path);
        assert_int_equal(run->samples.count, THERE);
        roast_runfile_close(file);
    }
    assert_int_equal(damaged[1] - damaged[0], content.size_bytes / 12 + 1);
    roast__buf_release(&content);
}

/* Pieces of a byte each, of as many series as there are. */
static void small_series_stay_within_bounds(void **state)
{
    enum { WORKERS = 3000 };
    const struct saved_test *test = *state;
    struct roast_buf samplers = {NULL, 0, 0, false}, samples = {NULL, 0, 0, false};
    sqlite3 *db = begin_without_samples(test->path);
    uint32_t pieces = 0;

    roast__buf_put_varint(&samplers, 0);
    roast__buf_put_varint(&samplers, ROAST_SERIES_COUNT);
    for (int i = 0; i < ROAST_SERIES_COUNT; i++)
        put_word(&samplers, roast_series_info((enum roast_series)i)->name);
    for (uint64_t i = 0; i < WORKERS; i++) {
        roast__buf_put_varint(&samplers, i);
        for (int k = 0; k < 10; k++)
            roast__buf_put_varint(&samplers, 0);
        for (uint64_t k = 0; k <= ROAST_SERIES_COUNT; k++, pieces++) {
            roast__buf_put_varint(&samplers, 1);
            roast__buf_put_varint(&samples, i);
            roast__buf_put_varint(&samples, k);
            put_word(&samples, "\x01"); /* a moment; of a series it is no entry */
        }
    }
    put_segment(db, ROAST_SEGMENT_samplers, WORKERS, &samplers);
    put_segment(db, ROAST_SEGMENT_samples, pieces, &samples);
    roast__buf_release(&samplers);
    roast__buf_release(&samples);
    end_changes(db);
    assert_true(read_all(test->path) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        memory_test(extremes_lose_nothing),
        memory_test(workers_without_samples_are_left_out),
        memory_test(workers_that_are_missing_are_counted),
        memory_test(small_series_stay_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
