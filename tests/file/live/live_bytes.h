/* SPDX-License-Identifier: BSD-3-Clause */
/* live_bytes.h - whole files as bytes. */
#ifndef ROAST_TESTS_FILE_LIVE_LIVE_BYTES_H
#define ROAST_TESTS_FILE_LIVE_LIVE_BYTES_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames.h"

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

#endif
