/* SPDX-License-Identifier: BSD-3-Clause */
/* live_test.h - a folder with a live file, and a run that is written to it. */
#ifndef ROAST_TESTS_FILE_LIVE_LIVE_TEST_H
#define ROAST_TESTS_FILE_LIVE_LIVE_TEST_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/live/block_format.h"
#include "file/live/read.h"
#include "file/run_changes.h"
#include "file/run_print.h"
#include "frames.h"
#include "roast/live.h"
#include "support.h"

static inline struct roast_buf read_bytes(const char *path)
{
    struct roast_buf bytes = {NULL, 0, 0, false};
    struct stat about;
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &about), 0);
    roast__buf_reserve(&bytes, (size_t)about.st_size + 1);
    assert_true(roast__buf_ok(&bytes));
    assert_int_equal(read(fd, bytes.data, (size_t)about.st_size), about.st_size);
    bytes.size_bytes = (size_t)about.st_size;
    (void)close(fd);
    return bytes;
}

static inline void write_bytes(const char *path, const void *bytes, size_t size_bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    if (write(fd, bytes, size_bytes) != (ssize_t)size_bytes)
        fail_msg("cannot write %s", path);
    (void)close(fd);
}

/* The state of a test. */
struct live_test {
    char dir[64];
    char path[96];
    roast_run *run;
    roast_live *live;
};

static inline int make_folder(void **state)
{
    static struct live_test test;

    memset(&test, 0, sizeof(test));
    (void)snprintf(test.dir, sizeof(test.dir), "/tmp/roast-test-live-XXXXXX");
    if (!mkdtemp(test.dir))
        return -1;
    (void)snprintf(test.path, sizeof(test.path), "%s/a" ROAST_LIVE_SUFFIX, test.dir);
    *state = &test;
    return 0;
}

static inline int remove_folder(void **state)
{
    struct live_test *test = *state;

    (void)roast_live_close(test->live, false, NULL);
    roast_run_free(test->run);
    (void)unlink(test->path);
    return rmdir(test->dir);
}

#define live_test_of(behaviour) \
    cmocka_unit_test_setup_teardown(behaviour, make_folder, remove_folder)

/* The thread sleeps: blocks are written when a test says so. */
static const struct roast_live_options MANUAL_SYNC = {
    .write_every_ns = INT64_C(3600000000000), .sync_every_ns = INT64_C(3600000000000)};

/* A run that was told its clocks and the host "there". */
static inline roast_run *bare_run(void)
{
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, MONO_0, EPOCH_0, NULL), ROAST_OK);
    assert_int_equal(roast_run_set_host(run, roast_str_of("there"), NULL), ROAST_OK);
    return run;
}

static inline void open_live(struct live_test *test,
                             const struct roast_live_options *options)
{
    roast_error err = {0};

    test->run = bare_run();
    if (roast_live_open(&test->live, test->run, test->path, options, &err) < 0)
        fail_msg("%s", err.message);
}

static inline void close_live(struct live_test *test)
{
    roast_error err = {0};

    if (roast_live_close(test->live, false, &err) < 0)
        fail_msg("%s", err.message);
    test->live = NULL;
}

/* Reads a file that must be readable. */
static inline roast_run *read_live(const char *path, struct roast_journal_reading *seen)
{
    roast_run *run = NULL;
    roast_error err = {0};

    if (roast__live_read(&run, path, seen, &err) < 0)
        fail_msg("%s", err.message);
    assert_non_null(run);
    return run;
}

#endif
