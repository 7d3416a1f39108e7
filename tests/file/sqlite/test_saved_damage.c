/* SPDX-License-Identifier: BSD-3-Clause */
/* test_saved_damage.c - run files cut at every byte, or with a flipped bit: never a
 * crash, never a wrong value, and a check reports the damage.
 *
 * With ROAST_LONG set all bits are flipped, which takes an hour; else some hundred. */
#include "saved_damage.h"

enum { SHORT_FLIPS = 500 };

static struct expected_run expected;

static roast_run *small_run(void)
{
    roast_run *run = new_run();

    make_changes(run);
    make_task_changes(run);
    add_notes(run);
    add_attempts(run, 3);
    add_unusual_ladders(run);
    add_handmade(run);
    roast_run_finish(run, MONO_0 + 100 * SECOND);
    return run;
}

static void every_cut_is_reported(void **state)
{
    const struct saved_test *test = *state;
    roast_runfile *file = NULL;
    roast_error err = {0};

    save_expected(&expected, small_run(), test->path);
    for (size_t size = expected.bytes.size_bytes; size-- > 0;) {
        assert_int_equal(truncate(test->path, (off_t)size), 0);
        int status = roast_runfile_open(&file, test->path, &err);
        assert_int_equal(status, size < 16 ? ROAST_BAD_DATA : ROAST_TRUNCATED);
    }
    release_expected(&expected);
}

static void flip(const char *path, size_t bit)
{
    int fd = open(path, O_RDWR);
    unsigned char byte = expected.bytes.data[bit / 8] ^ (unsigned char)(1u << bit % 8);

    assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
    (void)close(fd);
}

static void restore(const char *path, size_t bit)
{
    int fd = open(path, O_RDWR);

    assert_int_equal(pwrite(fd, expected.bytes.data + bit / 8, 1, (off_t)(bit / 8)), 1);
    (void)close(fd);
}

static void every_flip_is_reported(void **state)
{
    const struct saved_test *test = *state;
    size_t opened = 0, step = 1;

    save_expected(&expected, small_run(), test->path);
    assert_true(assert_damage_reported(&expected, test->path));
    size_t bits = expected.bytes.size_bytes * 8;
    if (!getenv("ROAST_LONG"))
        step = bits / SHORT_FLIPS | 1;
    for (size_t bit = 0; bit < bits; bit += bit < 800 && step > 1 ? 3 : step) {
        flip(test->path, bit);
        opened += assert_damage_reported(&expected, test->path);
        restore(test->path, bit);
    }
    assert_true(opened > 0);
    release_expected(&expected);
}

/* A page of zeros, or of another page. */
static void every_lost_page_is_reported(void **state)
{
    static const unsigned char zeros[512];
    const struct saved_test *test = *state;

    save_expected(&expected, small_run(), test->path);
    size_t pages = expected.bytes.size_bytes / sizeof(zeros);
    for (size_t page = 1; page < pages; page++) {
        int fd = open(test->path, O_RDWR);
        off_t at = (off_t)(page * sizeof(zeros));
        const unsigned char *own = expected.bytes.data + page * sizeof(zeros);
        assert_int_equal(pwrite(fd, zeros, sizeof(zeros), at), sizeof(zeros));
        (void)assert_damage_reported(&expected, test->path);
        assert_int_equal(pwrite(fd, own - sizeof(zeros), sizeof(zeros), at),
                         sizeof(zeros));
        (void)assert_damage_reported(&expected, test->path);
        assert_int_equal(pwrite(fd, own, sizeof(zeros), at), sizeof(zeros));
        (void)close(fd);
    }
    release_expected(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        saved_test_of(every_cut_is_reported),
        saved_test_of(every_flip_is_reported),
        saved_test_of(every_lost_page_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
