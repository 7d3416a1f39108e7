/* SPDX-License-Identifier: BSD-3-Clause */
/* test_file_extremes.c - files that are small for their contents. Valid files lose
 * nothing by the memory limits; sampled workers, which are much larger in memory than
 * in a file, remain within them. */
#include "file_changes.h"
#include "file_memory.h"

/* ---- valid files
 * ------------------------------------------------------------------- */

enum { WORKERS_AT_ONCE = 64 };

static void make_nth(struct test_record *record, enum roast_frame_kind kind, size_t n)
{
    init_record(record, kind, 7 + n % WORKERS_AT_ONCE,
                (uint32_t)(n / WORKERS_AT_ONCE + 1));
}

/* Without a ladder: rows of attempts with the fewest columns. */
static void add_bare_end(roast_run *run, size_t n)
{
    struct test_record record;

    make_nth(&record, ROAST_FRAME_END, n);
    roast_record_set_u64(&record.rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    add(run, &record);
}

/* Lost or failed attempts with unknown files: nearly all cells of the failures are
 * unknown. */
static void add_bare_begin(roast_run *run, size_t n)
{
    struct test_record record;

    make_nth(&record, ROAST_FRAME_BEGIN, n);
    add(run, &record);
}

static void add_unnamed_failure(roast_run *run, size_t n)
{
    struct test_record record;

    make_nth(&record, ROAST_FRAME_END, n);
    roast_record_set_u64(&record.rec, ROAST_FIELD_status, ROAST_CHUNK_FAILED);
    set_place(&record, "d", "f", n, n + 1);
    add(run, &record);
}

/* A separate file without other data: all tables by file have a nearly empty row. */
static void add_bare_file(roast_run *run, size_t n)
{
    struct test_record record;
    char file[24];

    (void)snprintf(file, sizeof(file), "%zx", n);
    make_nth(&record, ROAST_FRAME_CHUNK, n);
    roast_record_set_u64(&record.rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    set_text(&record, ROAST_FIELD_file, file);
    add(run, &record);
}

static void add_process_sample(roast_run *run, size_t n, int series_count)
{
    char name[24];

    (void)snprintf(name, sizeof(name), "%zx", n);
    roast_sample sample = {.worker = roast_str_of(name), .time_ns = EPOCH_0};
    for (int i = 0; i < series_count; i++)
        roast_sample_set(&sample, (enum roast_series)i, 0);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

/* A worker with one sample. */
static void add_short_worker(roast_run *run, size_t n)
{
    add_process_sample(run, n, 1);
}

static void add_broad_worker(roast_run *run, size_t n)
{
    add_process_sample(run, n, ROAST_SERIES_COUNT);
}

/* One sample without values. */
static void add_silent_worker(roast_run *run, size_t n)
{
    add_process_sample(run, n, 0);
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
    assert_memory_bounded(size_of(path));
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

/* The smallest workers: some twenty bytes in the file, hundreds in memory. */
static void small_workers_stay_within_bounds(void **state)
{
    enum { WORKERS = 30000, NUMBERS = 11 };
    const struct saved_test *test = *state;
    struct roast_buf entries = {NULL, 0, 0, false};
    sqlite3 *db = begin_changes(test->path);
    const roast_run *run;

    for (int i = 0; i < WORKERS; i++) {
        unsigned char payload[32] = {0};
        int size = snprintf((char *)payload + 1, 8, "%x", i);
        payload[0] = (unsigned char)(size + 1);
        put_entry(&entries, ROAST_ENTRY_series, payload,
                  (size_t)(1 + size + NUMBERS + 1));
    }
    put_entries(db, &entries);
    roast__buf_release(&entries);
    end_changes(db);
    roast_runfile *file = open_saved(test->path);
    (void)read_run(&run, file, test->path);
    roast_runfile_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        memory_test(extremes_lose_nothing),
        memory_test(small_workers_stay_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
