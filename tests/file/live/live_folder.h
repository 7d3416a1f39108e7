/* SPDX-License-Identifier: BSD-3-Clause */
/* live_folder.h - the state of a test: a folder with a live file; files as bytes. */
#ifndef ROAST_TESTS_FILE_LIVE_LIVE_FOLDER_H
#define ROAST_TESTS_FILE_LIVE_LIVE_FOLDER_H

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

#endif
