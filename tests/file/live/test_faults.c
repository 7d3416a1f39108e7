/* SPDX-License-Identifier: BSD-3-Clause */
/* test_faults.c - a disk that is full, broken or read-only, at every single call: no
 * acknowledged data is lost, the file can always be read, the error is one line, and
 * after the disk recovers everything is written.
 *
 * Functions of the C library are replaced here. A failed sync also loses what was
 * written since the last one, as on Linux, where the pages are marked clean. */
#include <dlfcn.h>
#include <errno.h>

#include "live_test.h"

enum { ROUNDS = 6, CHANGES_PER_ROUND = 3, MOST_CALLS = 200 };

/* The fault to inject. */
static struct {
    size_t calls;
    size_t first; /* the first call that fails; 0: none */
    size_t count; /* how many calls fail */
    int error;    /* 0: the call does half of its work */
    bool armed;
    off_t written_from; /* what a failed sync loses; -1: nothing */
    off_t written_to;
} disk;

static bool fails(void)
{
    if (!disk.armed)
        return false;
    disk.calls++;
    return disk.first > 0 && disk.calls >= disk.first &&
           disk.calls < disk.first + disk.count;
}

typedef ssize_t pwrite_function(int fd, const void *bytes, size_t size, off_t offset);
typedef int sync_function(int fd);
typedef int openat_function(int folder, const char *path, int flags, ...);

/* ISO C has no way from an object to a function. */
static void find_real(void *function, const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    if (!symbol)
        abort();
    memcpy(function, &symbol, sizeof(symbol));
}

static ssize_t write_really(int fd, const void *bytes, size_t size, off_t offset)
{
    pwrite_function *real;

    find_real(&real, "pwrite");
    return real(fd, bytes, size, offset);
}

static ssize_t write_or_fail(int fd, const void *bytes, size_t size, off_t offset)
{
    if (!disk.armed)
        return write_really(fd, bytes, size, offset);
    if (disk.written_from < 0)
        disk.written_from = offset;
    bool broken = fails();
    if (broken && disk.error) { /* but some bytes are written */
        (void)write_really(fd, bytes, size / 3, offset);
        errno = disk.error;
        return -1;
    }
    ssize_t done = write_really(fd, bytes, broken ? (size + 1) / 2 : size, offset);
    if (offset + done > disk.written_to)
        disk.written_to = offset + done;
    return done;
}

/* Overwrites lost pages with zeros. */
static void lose_pages(int fd)
{
    static const char zeros[1 << 16];

    for (off_t at = disk.written_from; at >= 0 && at < disk.written_to;) {
        size_t left = (size_t)(disk.written_to - at);
        size_t size = left < sizeof(zeros) ? left : sizeof(zeros);
        (void)write_really(fd, zeros, size, at);
        at += (off_t)size;
    }
}

static int sync_or_fail(int fd, const char *name)
{
    sync_function *real;

    find_real(&real, name);
    if (fails() && disk.error) {
        if (strcmp(name, "fdatasync") == 0)
            lose_pages(fd);
        errno = disk.error;
        return -1;
    }
    if (strcmp(name, "fdatasync") == 0)
        disk.written_from = -1;
    return real(fd);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return write_or_fail(fd, bytes, size, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset)
{
    return write_or_fail(fd, bytes, size, offset);
}

int fdatasync(int fd)
{
    return sync_or_fail(fd, "fdatasync");
}

int fsync(int fd)
{
    return sync_or_fail(fd, "fsync");
}

int openat(int folder, const char *path, int flags, ...)
{
    openat_function *real;

    find_real(&real, "openat");
    if (fails() && disk.error) {
        errno = disk.error;
        return -1;
    }
    return real(folder, path, flags, 0666);
}

int openat64(int folder, const char *path, int flags, ...)
{
    return openat(folder, path, flags);
}

/* ---- the run ------------------------------------------------------------- */

static void arm(size_t first, size_t count, int error)
{
    memset(&disk, 0, sizeof(disk));
    disk.first = first;
    disk.count = count;
    disk.error = error;
    disk.written_from = -1;
    disk.armed = true;
}

static void assert_reported(const roast_error *err)
{
    assert_int_equal(err->code, ROAST_IO);
    assert_non_null(strstr(err->message, strerror(disk.error)));
    assert_non_null(strstr(err->message, ROAST_LIVE_SUFFIX));
    assert_null(strchr(err->message, '\n'));
}

/* All acknowledged changes are in the file: the first ones, in order. Before the first
 * good sync a disk may have lost the head too. */
static void check_file(struct live_test *test)
{
    struct roast_journal_reading seen;
    struct roast_live_state now;
    roast_run *run = NULL;

    disk.armed = false;
    roast_live_state(test->live, &now);
    int status = roast__live_read(&run, test->path, &seen, NULL);
    disk.armed = true;
    if (now.acknowledged == 0 && status < 0)
        return;
    assert_int_equal(status, ROAST_OK);
    assert_true(seen.entries >= now.acknowledged);
    assert_true(seen.entries <= now.queued);
    assert_int_equal(seen.lost_blocks, 0);
    if (seen.entries > 0)
        assert_int_equal(run->samples.workers[0].ticks, seen.entries);
    roast_run_free(run);
}

static void do_round(struct live_test *test, int64_t round)
{
    struct roast_live_state now;
    roast_error err = {0};

    for (int64_t i = 0; i < CHANGES_PER_ROUND; i++)
        add_sample(test->run, "w", round * CHANGES_PER_ROUND + i, (double)i);
    int status = roast_live_sync(test->live, &err);
    roast_live_state(test->live, &now);
    assert_true(now.written <= now.queued && now.acknowledged <= now.written);
    if (status == ROAST_OK) {
        assert_int_equal(now.acknowledged, now.queued);
    } else {
        assert_reported(&err);
        assert_true(now.errors > 0);
        assert_non_null(strstr(now.first_error, strerror(disk.error)));
        assert_null(strchr(now.first_error, '\n'));
    }
    check_file(test);
}

/* A whole run on a failing disk; false if it ended before the fault. */
static bool run_over(struct live_test *test, size_t first, size_t count, int error)
{
    struct roast_journal_reading seen;
    roast_error err = {0};

    test->run = bare_run();
    arm(first, count, error);
    int status =
        roast_live_open(&test->live, test->run, test->path, &MANUAL_SYNC, &err);
    if (status == ROAST_OK) {
        for (int64_t i = 0; i < ROUNDS; i++)
            do_round(test, i);
    } else {
        assert_reported(&err); /* and no file is left */
        assert_null(test->live);
        assert_int_not_equal(access(test->path, F_OK), 0);
    }
    bool failed = disk.calls >= first;
    disk.first = 0; /* it recovered */
    if (test->live) {
        close_live(test);
        roast_run *again = read_live(test->path, &seen);
        assert_int_equal(seen.entries, ROUNDS * CHANGES_PER_ROUND);
        assert_int_equal(seen.damaged + seen.cut_bytes + seen.unread, 0);
        assert_same_run(test->run, again);
        roast_run_free(again);
    }
    disk.armed = false;
    (void)unlink(test->path);
    roast_run_free(test->run);
    test->run = NULL;
    return failed;
}

/* At every call: that call, a few, or all following calls fail. */
static void fail_everywhere(struct live_test *test, int error)
{
    static const size_t counts[] = {1, 2, 5, MOST_CALLS};

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        size_t first = 1;
        while (run_over(test, first, counts[i], error))
            assert_true(++first < MOST_CALLS);
        assert_true(first > 2 * ROUNDS);
    }
}

static void a_full_disk_loses_nothing(void **state)
{
    fail_everywhere(*state, ENOSPC);
}

static void a_broken_disk_loses_nothing(void **state)
{
    fail_everywhere(*state, EIO);
}

static void a_disk_that_turned_read_only_loses_nothing(void **state)
{
    fail_everywhere(*state, EROFS);
}

static void a_full_quota_loses_nothing(void **state)
{
    fail_everywhere(*state, EDQUOT);
}

static void calls_that_are_interrupted_are_made_again(void **state)
{
    struct live_test *test = *state;
    struct roast_live_state now;

    open_live(test, &MANUAL_SYNC);
    arm(1, 2, EINTR);
    add_sample(test->run, "w", 1, 1);
    (void)roast_live_sync(test->live, NULL); /* the folder's sync is not */
    assert_int_equal(roast_live_sync(test->live, NULL), ROAST_OK);
    roast_live_state(test->live, &now);
    assert_int_equal(now.acknowledged, 1);
    disk.armed = false;
}

/* A partial write continues from there. */
static void short_writes_go_on(void **state)
{
    size_t first = 1;

    while (run_over(*state, first, 5, 0))
        assert_true(++first < MOST_CALLS);
    assert_true(first > 2 * ROUNDS);
}

/* Some file systems cannot sync folders. */
static void a_folder_that_cannot_be_synced_is_no_error(void **state)
{
    struct live_test *test = *state;

    open_live(test, &MANUAL_SYNC);
    add_sample(test->run, "w", 1, 1);
    arm(2, 1, EINVAL); /* after the write of the block */
    assert_int_equal(roast_live_sync(test->live, NULL), ROAST_OK);
    assert_int_equal(disk.calls, 3);
    disk.armed = false;
}

/* Unwritten data is queued up to the limit, and counted above it. */
static void a_full_disk_needs_no_more_than_the_queue(void **state)
{
    struct live_test *test = *state;
    struct roast_live_options options = MANUAL_SYNC;
    struct roast_journal_reading seen;
    struct roast_live_state now;
    roast_error err = {0};

    options.queue_bytes = 3000;
    open_live(test, &options);
    arm(1, SIZE_MAX / 2, ENOSPC);
    for (int64_t i = 0; i < 1000; i++) {
        add_sample(test->run, "w", i, 1e9);
        if (i % 100 == 0)
            assert_int_equal(roast_live_sync(test->live, &err), ROAST_IO);
    }
    assert_non_null(strstr(err.message, "changes are still in memory"));
    do { /* ten times here, and once by the thread when the queue was half full */
        (void)usleep(1000);
        roast_live_state(test->live, &now);
    } while (now.errors < 11);
    assert_int_equal(now.queued + now.dropped, 1000);
    assert_int_equal(now.acknowledged + now.written, 0);
    disk.armed = false;
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_int_equal(seen.entries, now.queued);
    assert_int_equal(seen.dropped, now.dropped);
    roast_run_free(again);
}

static void closing_reports_what_is_missing(void **state)
{
    struct live_test *test = *state;
    roast_error err = {0};

    open_live(test, &MANUAL_SYNC);
    arm(1, MOST_CALLS, ENOSPC);
    add_sample(test->run, "w", 1, 1);
    add_sample(test->run, "w", 2, 1);
    assert_int_equal(roast_live_close(test->live, false, &err), ROAST_IO);
    test->live = NULL;
    disk.armed = false;
    assert_non_null(
        strstr(err.message, "No space left on device; 2 changes were not written"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        live_test_of(a_full_disk_loses_nothing),
        live_test_of(a_broken_disk_loses_nothing),
        live_test_of(a_disk_that_turned_read_only_loses_nothing),
        live_test_of(a_full_quota_loses_nothing),
        live_test_of(calls_that_are_interrupted_are_made_again),
        live_test_of(short_writes_go_on),
        live_test_of(a_folder_that_cannot_be_synced_is_no_error),
        live_test_of(a_full_disk_needs_no_more_than_the_queue),
        live_test_of(closing_reports_what_is_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
