/* SPDX-License-Identifier: BSD-3-Clause */
/* test_seal.c - the row of the run without SQLite: it says what SQLite says or nothing,
 * whatever became of the page that it is in. */
#include <fcntl.h>
#include <sys/stat.h>

#include "file/live/live_bytes.h"
#include "file/sqlite/leaf.h"
#include "file/sqlite/save.h"
#include "file/sqlite/seal.h"
#include "forge_tables.h"
#include "saved_open.h"
#include "saved_print.h"
#include "saved_runs.h"

enum { PAGE_BYTES = ROAST_SMALL_PAGE_BYTES };

static void alter(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    roast_error err = {0};

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (roast__sql_run(db, sql, &err) < 0)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    (void)sqlite3_close(db);
}

/* 1: the row is read without SQLite. */
static int sealed(const char *path)
{
    struct roast_sql_value row[ROAST_RUN_COLUMN_COUNT];
    unsigned char page[ROAST_SEAL_PAGE_BYTES];
    struct roast_look look;
    int fd;

    assert_int_equal(roast__look_open(&look, &fd, path, NULL), ROAST_OK);
    int status = roast__seal_read(row, page, fd, &look, NULL);
    (void)close(fd);
    return status;
}

static struct roast_glance glance_at(const char *path)
{
    struct roast_glance glance;
    roast_error err = {0};

    if (roast_runfile_glance(&glance, path, &err) < 0)
        fail_msg("%s", err.message);
    return glance;
}

static bool is_same(const struct roast_glance *a, const struct roast_glance *b)
{
    return a->start_ns == b->start_ns && a->wall_s == b->wall_s &&
           a->events == b->events && a->chunks == b->chunks && a->failed == b->failed &&
           a->event_rate == b->event_rate && a->labels_whole == b->labels_whole &&
           strcmp(a->id, b->id) == 0 && strcmp(a->state, b->state) == 0 &&
           strcmp(a->processor, b->processor) == 0 &&
           strcmp(a->executor, b->executor) == 0 && strcmp(a->labels, b->labels) == 0;
}

/* Takes the seal away, so that SQLite is asked. */
static void unseal(const char *path)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(roast__sql_run(db, "UPDATE run SET seal=NULL", NULL), ROAST_OK);
    forge_table(db, "run");
    (void)sqlite3_close(db);
}

static void assert_sealed_as_stored(const char *path)
{
    assert_int_equal(sealed(path), 1);
    struct roast_glance quick = glance_at(path);
    unseal(path);
    assert_int_equal(sealed(path), 0);
    struct roast_glance slow = glance_at(path);
    assert_true(is_same(&quick, &slow));
}

/* ---- what is right ------------------------------------------------------------------- */

static void a_saved_run_is_sealed(void **state)
{
    const struct saved_test *test = *state;
    roast_run *runs[] = {plain_run(10), plain_run(0), rich_run(), new_run()};

    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        save(runs[i], test->path);
        assert_sealed_as_stored(test->path);
        roast_run_free(runs[i]);
    }
}

static void it_says_what_the_run_says(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(10);

    save(run, test->path);
    assert_int_equal(sealed(test->path), 1);
    struct roast_glance glance = glance_at(test->path);
    assert_true(glance.events == 1000 && glance.wall_s == 100 && glance.chunks == 10);
    assert_string_equal(glance.state, "finished");
    assert_string_equal(glance.labels, "site=T2, user=me");
    assert_true(glance.labels_whole);
    roast_run_free(run);
}

/* Changes the row and seals it again: numbers of every size that SQLite has. */
static void numbers_of_all_sizes_are_read(void **state)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "2",
                                          "-1",
                                          "127",
                                          "128",
                                          "-129",
                                          "32768",
                                          "8388607",
                                          "-8388609",
                                          "2147483648",
                                          "140737488355328",
                                          "9007199254740993",
                                          "9223372036854775807",
                                          "(-9223372036854775807-1)",
                                          "0.5",
                                          "-2.5",
                                          "1e300",
                                          "1e18",
                                          "NULL",
                                          "'12'",
                                          "x'00'"};
    const struct saved_test *test = *state;
    roast_run *run = plain_run(2);

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        char sql[256];
        sqlite3 *db = NULL;
        save(run, test->path);
        (void)snprintf(sql, sizeof(sql),
                       "UPDATE run SET start_ns=%s,wall_s=%s,events=%s,event_rate=%s,"
                       "processor=%s,executor=''",
                       numbers[i], numbers[i], numbers[i], numbers[i], numbers[i]);
        assert_int_equal(sqlite3_open(test->path, &db), SQLITE_OK);
        assert_int_equal(roast__sql_run(db, sql, NULL), ROAST_OK);
        assert_int_equal(roast__seal_put(db, NULL), ROAST_OK);
        (void)sqlite3_close(db);
        assert_sealed_as_stored(test->path);
    }
    roast_run_free(run);
}

static void large_pages_are_read(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(3);
    sqlite3 *db = NULL;

    write_bytes(test->path, "", 0);
    assert_int_equal(roast__sql_create(&db, test->path, ROAST_LARGE_PAGE_BYTES, NULL),
                     ROAST_OK);
    assert_int_equal(roast__save_into(db, run, NULL), ROAST_OK);
    roast__sql_close(db);
    assert_sealed_as_stored(test->path);
    roast_run_free(run);
}

/* ---- what is left to SQLite ---------------------------------------------------------- */

static void a_long_row_is_left_to_sqlite(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    char name[2 * PAGE_BYTES];

    memset(name, 'p', sizeof(name));
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_run, roast_str_of("processor"),
                                        str_from(name, sizeof(name)), NULL),
                     ROAST_OK);
    save(run, test->path);
    assert_int_equal(sealed(test->path), 0);
    struct roast_glance glance = glance_at(test->path);
    assert_int_equal(strlen(glance.processor), sizeof(glance.processor) - 1);
    assert_true(glance.wall_s == 100 && glance.labels_whole);
    roast_run_free(run);
}

static void patch(const char *path, long at, unsigned char byte)
{
    FILE *file = fopen(path, "r+b");

    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, file), byte);
    assert_int_equal(fclose(file), 0);
}

/* A write-ahead log, bytes at the end of pages, free pages, UTF-16. */
static void odd_heads_are_left_to_sqlite(void **state)
{
    static const struct {
        long at;
        unsigned char byte;
    } odd[] = {{18, 2}, {19, 2}, {39, 1}, {59, 2}, {20, 255}};
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);

    for (size_t i = 0; i < COUNT_OF(odd); i++) {
        save(run, test->path);
        assert_int_equal(sealed(test->path), 1);
        patch(test->path, odd[i].at, odd[i].byte);
        assert_int_equal(sealed(test->path), 0);
    }
    roast_run_free(run);
}

static void changed_tables_are_left_to_sqlite(void **state)
{
    static const char *const changes[] = {
        "UPDATE run SET labels='site=T3'",
        "UPDATE run SET id=1",
        "DELETE FROM run",
        "INSERT INTO run(id) VALUES(7)",
        "ALTER TABLE run RENAME TO x; CREATE TABLE run(a); DROP TABLE x",
        "PRAGMA page_size=65536; VACUUM",
    };
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);

    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        save(run, test->path);
        alter(test->path, changes[i]);
        assert_int_equal(sealed(test->path), 0);
    }
    roast_run_free(run);
}

/* Other people's tables, columns and indices break nothing. */
static void what_was_added_does_not_break_it(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);

    save(run, test->path);
    struct roast_glance before = glance_at(test->path);
    alter(test->path, "ALTER TABLE run ADD COLUMN mine TEXT; CREATE TABLE t(a);"
                      "CREATE INDEX i ON strings(text); VACUUM");
    assert_int_equal(sealed(test->path), 1);
    struct roast_glance after = glance_at(test->path);
    assert_true(is_same(&before, &after));
    roast_run_free(run);
}

/* ---- damage -------------------------------------------------------------------------- */

/* Page 2 of a file, to be changed and put back. */
struct target {
    int fd;
    struct roast_look look;
    struct roast_sql_value truth[ROAST_RUN_COLUMN_COUNT];
    unsigned char truth_page[ROAST_SEAL_PAGE_BYTES];
};

static void open_target(struct target *target, const char *path)
{
    int fd;

    assert_int_equal(roast__look_open(&target->look, &fd, path, NULL), ROAST_OK);
    (void)close(fd);
    target->fd = open(path, O_RDWR);
    assert_true(target->fd >= 0);
    assert_int_equal(roast__seal_read(target->truth, target->truth_page, target->fd,
                                      &target->look, NULL),
                     1);
}

static void put_byte(const struct target *target, size_t at, unsigned byte)
{
    unsigned char bytes[] = {(unsigned char)byte};

    assert_int_equal(pwrite(target->fd, bytes, 1, (off_t)(PAGE_BYTES + at)), 1);
}

static bool is_same_value(const struct roast_sql_value *a,
                          const struct roast_sql_value *b)
{
    return a->type == b->type && a->integer == b->integer &&
           memcmp(&a->real, &b->real, sizeof(a->real)) == 0 &&
           str_equal(a->text, b->text);
}

/* Whether the row was read; then it is the true one. */
static bool reads_truth(const struct target *target)
{
    struct roast_sql_value row[ROAST_RUN_COLUMN_COUNT];
    unsigned char page[ROAST_SEAL_PAGE_BYTES];
    int got = roast__seal_read(row, page, target->fd, &target->look, NULL);

    for (int i = 0; got == 1 && i < ROAST_RUN_COLUMN_COUNT; i++)
        assert_true(is_same_value(&row[i], &target->truth[i]));
    return got == 1;
}

static void no_flipped_bit_changes_a_value(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    struct target target;
    size_t noticed = 0;

    save(run, test->path);
    open_target(&target, test->path);
    for (size_t bit = 0; bit < (size_t)PAGE_BYTES * 8; bit++) {
        unsigned own = target.truth_page[bit / 8];
        put_byte(&target, bit / 8, own ^ 1u << bit % 8);
        noticed += !reads_truth(&target);
        put_byte(&target, bit / 8, own);
    }
    assert_true(reads_truth(&target));
    assert_in_range(noticed, 8 * 100, 8 * 1000); /* the row has some hundred bytes */
    (void)close(target.fd);
    roast_run_free(run);
}

/* The same with SQLite behind it: the truth, or an error. */
static void a_glance_is_true_or_fails(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    struct target target;

    save(run, test->path);
    struct roast_glance truth = glance_at(test->path);
    open_target(&target, test->path);
    for (size_t bit = 0; bit < (size_t)PAGE_BYTES * 8; bit++) {
        unsigned own = target.truth_page[bit / 8];
        struct roast_glance glance;
        bool unused = own == 0 && bit / 8 > 16; /* most of the page */
        if (bit % (unused ? 997 : 11) != 0)
            continue;
        put_byte(&target, bit / 8, own ^ 1u << bit % 8);
        if (roast_runfile_glance(&glance, test->path, NULL) == ROAST_OK)
            assert_true(is_same(&glance, &truth));
        put_byte(&target, bit / 8, own);
    }
    (void)close(target.fd);
    roast_run_free(run);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Pages that look like ours at their beginning, in a block that ends where they do. */
static void random_pages_do_no_harm(void **state)
{
    enum { BYTES = 512, ROUNDS = 20000, COLUMNS = 24 };
    struct roast_sql_value row[COLUMNS];
    unsigned char *page = malloc(BYTES);
    uint64_t seed = 88172645463325252u;

    (void)state;
    assert_non_null(page);
    for (size_t i = 0; i < ROUNDS; i++) {
        static const unsigned char masks[] = {0xff, 0x8f, 0x1f, 0x0f};
        for (size_t k = 0; k < BYTES; k++)
            page[k] = (unsigned char)(next_random(&seed) & masks[i % 4]);
        page[0] = 13;
        page[3] = 0;
        page[4] = 1;
        page[8] &= 1;
        for (size_t count = 1; count <= COLUMNS; count += 7) {
            if (!roast__leaf_read(row, count, page, BYTES))
                continue;
            for (size_t k = 0; k < count; k++)
                assert_true(row[k].text.size_bytes < BYTES);
        }
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        saved_test_of(a_saved_run_is_sealed),
        saved_test_of(it_says_what_the_run_says),
        saved_test_of(numbers_of_all_sizes_are_read),
        saved_test_of(large_pages_are_read),
        saved_test_of(a_long_row_is_left_to_sqlite),
        saved_test_of(odd_heads_are_left_to_sqlite),
        saved_test_of(changed_tables_are_left_to_sqlite),
        saved_test_of(what_was_added_does_not_break_it),
        saved_test_of(no_flipped_bit_changes_a_value),
        saved_test_of(a_glance_is_true_or_fails),
        cmocka_unit_test(random_pages_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
