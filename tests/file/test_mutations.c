/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mutations.c - damaged copies of run files and live files, through what the
 * commands of the program call: never a crash, and never a status that the program
 * reports as its own failure or as a lack of memory (exit code 4) instead of as damage.
 *
 * Nothing that a file says makes libroast ask for much memory at once: the heap refuses
 * that here, so that it becomes a lack of memory. ROAST_MUTATIONS is how many copies of
 * each kind are made, of changes that differ each time; else the same SHORT_RUN ones. */
#include <time.h>

#include "base/mem.h"
#include "live/fix_blocks.h"
#include "live/live_folder.h"
#include "roast/report.h"
#include "sqlite/fix_checksums.h"
#include "sqlite/saved_file.h"
#include "sqlite/saved_runs.h"

enum {
    SHORT_RUN = 100,
    MOST_PART_BYTES = 600,
    ROOM_PER_BYTE = 4, /* of the file: the most at once */
    ROOM_ALWAYS = 1024 * 1024,
};

/* ---- chance --------------------------------------------------------------------------- */

static uint64_t chance_state;

static uint64_t chance(void)
{
    chance_state ^= chance_state >> 12;
    chance_state ^= chance_state << 25;
    chance_state ^= chance_state >> 27;
    return chance_state * UINT64_C(2685821657736338717);
}

static size_t below(size_t most)
{
    return most > 0 ? (size_t)(chance() % most) : 0;
}

static long seeded(void)
{
    const char *given = getenv("ROAST_MUTATIONS");
    long count = given ? strtol(given, NULL, 10) : SHORT_RUN;

    chance_state = given ? (uint64_t)time(NULL) : 1;
    print_message("%ld of each kind, seed %llu\n", count,
                  (unsigned long long)chance_state);
    return count;
}

/* ---- changes of bytes ----------------------------------------------------------------- */

/* Puts `size` bytes in place of `taken` bytes. */
static void replace(struct roast_buf *bytes, size_t at, size_t taken, const void *put,
                    size_t size)
{
    struct roast_buf out = {NULL, 0, 0, false};
    size_t left = bytes->size_bytes - at;

    if (taken > left)
        taken = left;
    roast__buf_put(&out, bytes->data, at);
    roast__buf_put(&out, put, size);
    roast__buf_put(&out, bytes->data + at + taken, left - taken);
    assert_true(roast__buf_ok(&out));
    roast__buf_release(bytes);
    *bytes = out;
}

/* A length, count or number of any size: as a varint, fixed, or as digits. */
static size_t any_number(unsigned char out[32])
{
    uint64_t number = UINT64_MAX >> below(64);

    switch (below(4)) {
    case 0:
        roast__store_fixed(out, number, 4);
        return 4;
    case 1:
        roast__store_fixed(out, number, 8);
        return 8;
    case 2:
        return (size_t)snprintf((char *)out, 32, "%llu", (unsigned long long)number);
    default:
        return (size_t)(roast__store_varint(out, number) - out);
    }
}

static void mutate_once(struct roast_buf *bytes)
{
    static const unsigned char zeros[MOST_PART_BYTES];
    unsigned char number[32];
    size_t at = below(bytes->size_bytes);
    size_t some = 1 + below(MOST_PART_BYTES);
    size_t left = bytes->size_bytes - at;
    size_t size;

    switch (below(7)) {
    case 0: /* cut */
        bytes->size_bytes = at;
        break;
    case 1: /* cut out */
        replace(bytes, at, some, "", 0);
        break;
    case 2: /* twice */
        replace(bytes, at, 0, bytes->data + at, some < left ? some : left);
        break;
    case 3: /* lost */
        replace(bytes, at, some, zeros, some < left ? some : left);
        break;
    case 4:
    case 5: /* another number, or one more */
        size = any_number(number);
        replace(bytes, at, below(2) * size, number, size);
        break;
    default:
        bytes->data[at] ^= (unsigned char)(1u << below(8));
    }
}

static void mutate(struct roast_buf *bytes)
{
    for (size_t i = 1 + below(4); i > 0 && bytes->size_bytes > 0; i--)
        mutate_once(bytes);
}

/* ---- a heap that refuses large blocks --------------------------------------------------- */

static size_t room_bytes;

static void *resize(void *ptr, size_t size_bytes)
{
    return size_bytes > room_bytes ? NULL : realloc(ptr, size_bytes);
}

static void limit_heap(const char *path)
{
    static const struct roast_heap heap = {resize, free};
    struct stat about;

    assert_int_equal(stat(path, &about), 0);
    room_bytes = ROOM_PER_BYTE * (size_t)about.st_size + ROOM_ALWAYS;
    roast__heap_set(&heap);
}

/* ---- what the commands call ------------------------------------------------------------ */

/* A status that the program reports as damage, or no failure. */
static void assert_damage(const char *what, int64_t status, const roast_error *err)
{
    switch (status) {
    case ROAST_BAD_DATA:
    case ROAST_TRUNCATED:
    case ROAST_BAD_CHECKSUM:
    case ROAST_NEWER_FORMAT:
        assert_true(err->message[0] != '\0');
        break;
    default:
        if (status < 0)
            fail_msg("%s: %s: %s", what, roast_status_name((int)status), err->message);
    }
}

static void report(roast_runfile *file)
{
    const struct roast_report_source from = {ROAST_IN_RUN_FILE, 0, 0};
    const roast_summary *summary = NULL;
    struct roast_heading_text text;
    struct roast_page page = {0};
    roast_run *run = NULL;
    roast_error err = {0};
    int status = roast_runfile_summary(file, &summary, &err);

    if (status == ROAST_OK)
        status = roast_runfile_run(file, false, &run, &err);
    assert_damage("report", status, &err);
    if (status < 0)
        return;
    roast_report_heading(&text, run, from.origin);
    assert_int_equal(roast_report_text(&page, summary, &text.heading, &err), ROAST_OK);
    roast_page_release(&page);
    assert_int_equal(roast_report_json(&page, summary, run, &from, &err), ROAST_OK);
    roast_page_release(&page);
}

static void check(roast_runfile *file)
{
    roast_error err = {0};

    assert_damage("check", roast_runfile_check(file, NULL, NULL, &err), &err);
}

static void dump(roast_runfile *file)
{
    struct roast_chunk_list list = {0};
    roast_run *run = NULL;
    roast_error err = {0};
    int status = roast_runfile_run(file, true, &run, &err);

    assert_damage("dump", status, &err);
    if (status == ROAST_OK)
        assert_damage("records", roast_run_chunks(run, &list, &err), &err);
    roast_chunk_list_release(&list);
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        roast_table *table = NULL;
        status = roast_runfile_columns(file, (enum roast_table_id)i, &table, &err);
        assert_damage(roast_table_name((enum roast_table_id)i), status, &err);
        roast_table_free(table);
    }
}

static bool take_row(void *context, const char *const *names,
                     const struct roast_cell *cells, size_t count)
{
    (void)context;
    (void)names;
    (void)cells;
    (void)count;
    return true;
}

/* A table that the file lacks is the fault of the query, as far as can be seen. */
static void sql(roast_runfile *file)
{
    enum roast_table_id table = (enum roast_table_id)below(ROAST_RUN_TABLE_COUNT);
    char query[100];
    roast_error err = {0};

    (void)snprintf(query, sizeof(query), "SELECT * FROM %s", roast_table_name(table));
    int status = roast_runfile_sql(file, query, take_row, NULL, &err);
    if (status != ROAST_REFUSED)
        assert_damage(query, status, &err);
}

/* What is missing may be as long as the file says it is. */
static void failed(roast_runfile *file)
{
    struct roast_page page = {0};
    roast_run *run = NULL;
    roast_error err = {0};

    if (roast_runfile_run(file, true, &run, &err) < 0)
        return;
    roast__heap_set(NULL);
    int status = roast_failed_items(&page, run, 0, NULL, &err);
    if (status != ROAST_REFUSED)
        assert_damage("failed", status, &err);
    roast_page_release(&page);
}

/* Returns whether it could be opened. Each command opens the file itself. */
static bool use(const char *path)
{
    static void (*const commands[])(roast_runfile *) = {report, check, dump, sql,
                                                        failed};
    struct roast_run_info info;
    bool is_open = true;
    roast_error err = {0};

    limit_heap(path);
    assert_damage("ls", roast_run_info_read(&info, path, &err), &err);
    for (size_t i = 0; i < COUNT_OF(commands) && is_open; i++) {
        roast_runfile *file = NULL;
        int status = roast_runfile_open(&file, path, &err);
        assert_damage("open", status, &err);
        is_open = status == ROAST_OK;
        if (is_open)
            commands[i](file);
        roast_runfile_close(file);
    }
    roast__heap_set(NULL);
    return is_open;
}

/* ---- the files -------------------------------------------------------------------------- */

static void fill(roast_run *run)
{
    make_changes(run);
    make_task_changes(run);
    add_notes(run);
    set_note(run, ROAST_NOTES_call, "1 call", "processor\tA");
    set_note(run, ROAST_NOTES_call, "1 items",
             "dataset\tttbar\nfile\tone.root\t01ff\tEvents\nitems\t0 100 8");
    set_note(run, ROAST_NOTES_call, "1 result", "in\t0\t0 100 1");
    add_attempts(run, 8);
    add_lost(run);
    add_unusual_ladders(run);
    add_extremes(run);
    add_handmade(run);
    add_many_samples(run, 2, 10);
    roast_run_finish(run, MONO_0 + 100 * SECOND);
}

static roast_run *empty_run(void)
{
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, MONO_0, EPOCH_0, NULL), ROAST_OK);
    assert_int_equal(roast_run_set_host(run, roast_str_of("here"), NULL), ROAST_OK);
    return run;
}

static struct roast_buf finished_file(const char *path)
{
    roast_run *run = empty_run();

    fill(run);
    save(run, path);
    roast_run_free(run);
    return read_bytes(path);
}

static struct roast_buf live_file(const char *path)
{
    roast_run *run = empty_run();
    roast_live *live = NULL;

    assert_int_equal(roast_live_open(&live, run, path, NULL, NULL), ROAST_OK);
    fill(run);
    assert_int_equal(roast_live_close(live, false, NULL), ROAST_OK);
    roast_run_free(run);
    return read_bytes(path);
}

static struct roast_buf copy_of(const struct roast_buf *bytes)
{
    struct roast_buf copy = {NULL, 0, 0, false};

    roast__buf_put(&copy, bytes->data, bytes->size_bytes);
    assert_true(roast__buf_ok(&copy));
    return copy;
}

/* Also after a failure. */
static int end(void **state)
{
    roast__heap_set(NULL);
    return remove_saved_folder(state);
}

/* ---- tests ------------------------------------------------------------------------------ */

/* As they are, and with valid checksums. */
static void live_files_are_read_or_damaged(void **state)
{
    const struct saved_test *test = *state;
    struct roast_buf own = live_file(test->path);
    long count = seeded(), opened = 0;

    for (long i = 0; i < count; i++) {
        struct roast_buf bytes = copy_of(&own);
        mutate(&bytes);
        write_bytes(test->path, bytes.data, bytes.size_bytes);
        opened += use(test->path);
        fix_blocks(bytes.data, bytes.size_bytes);
        write_bytes(test->path, bytes.data, bytes.size_bytes);
        opened += use(test->path);
        roast__buf_release(&bytes);
    }
    assert_true(opened > count / 2);
    roast__buf_release(&own);
}

static void finished_files_are_read_or_damaged(void **state)
{
    const struct saved_test *test = *state;
    struct roast_buf own = finished_file(test->path);
    long count = seeded(), opened = 0;

    for (long i = 0; i < count; i++) {
        struct roast_buf bytes = copy_of(&own);
        mutate(&bytes);
        write_bytes(test->path, bytes.data, bytes.size_bytes);
        opened += use(test->path);
        fix_checksums(test->path);
        opened += use(test->path);
        roast__buf_release(&bytes);
    }
    assert_true(opened > count / 2);
    roast__buf_release(&own);
}

/* Changes the contents of a block of the journal, or of the summary. */
static void mutate_row(const char *path)
{
    const char *select = "SELECT block,data FROM journal ORDER BY block*?1%997 LIMIT 1";
    const char *update = UPDATE_BLOCK_SQL;
    struct roast_buf bytes = {NULL, 0, 0, false};
    sqlite3_stmt *row = NULL;
    sqlite3 *db = NULL;

    if (below(4) == 0) {
        select = "SELECT id,data FROM summary";
        update = "UPDATE summary SET data=?2 WHERE id=?1";
    }
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        roast__sql_run(db, "PRAGMA journal_mode=off;PRAGMA synchronous=off", NULL),
        ROAST_OK);
    assert_int_equal(roast__sql_prepare(&row, db, select, NULL), ROAST_OK);
    (void)sqlite3_bind_int64(row, 1, 1 + (sqlite3_int64)below(996));
    assert_int_equal(roast__sql_step(row, NULL), 1);
    uint64_t key = (uint64_t)sqlite3_column_int64(row, 0);
    struct roast_str data = roast__sql_text(row, 1);
    size_t head = key > 0 ? ROAST_BLOCK_HEAD_BYTES : 0;
    roast__buf_put(&bytes, data.data + head, data.size_bytes - head);
    mutate(&bytes);
    replace(&bytes, 0, 0, data.data, head);
    (void)sqlite3_finalize(row);
    write_row_with_checksum(db, update, key, str_from(bytes.data, bytes.size_bytes));
    roast__buf_release(&bytes);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void contents_are_read_or_damaged(void **state)
{
    const struct saved_test *test = *state;
    struct roast_buf own = finished_file(test->path);
    long count = seeded(), opened = 0;

    for (long i = 0; i < count; i++) {
        write_bytes(test->path, own.data, own.size_bytes);
        mutate_row(test->path);
        opened += use(test->path);
    }
    assert_true(opened > count / 2);
    roast__buf_release(&own);
}

#define mutation_test(behaviour) \
    cmocka_unit_test_setup_teardown(behaviour, make_saved_folder, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        mutation_test(live_files_are_read_or_damaged),
        mutation_test(finished_files_are_read_or_damaged),
        mutation_test(contents_are_read_or_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
