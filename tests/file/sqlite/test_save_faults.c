/* SPDX-License-Identifier: BSD-3-Clause */
/* test_save_faults.c - a disk that is full, broken or read-only at every single call of
 * saving: the error is one line, an existing file is unchanged, and nothing else is
 * left in the folder.
 *
 * Functions of the C library are replaced here, for SQLite too. */
#include <dlfcn.h>
#include <errno.h>

#include "saved_damage.h"

/* The fault to inject. */
static struct {
    size_t calls;
    size_t first;      /* the call that fails; 0: none */
    bool from_then_on; /* and all after it */
    int error;         /* 0: it does half of its work, if it can */
    bool armed;
} disk;

static bool fails(void)
{
    if (!disk.armed)
        return false;
    size_t call = ++disk.calls;
    bool broken = call == disk.first || (disk.from_then_on && call > disk.first);
    if (broken && disk.first > 0)
        errno = disk.error;
    return broken && disk.first > 0;
}

/* ISO C has no way from an object to a function. */
static void find_real(void *function, const char *name)
{
    int before = errno; /* of a call that failed */
    void *symbol = dlsym(RTLD_NEXT, name);

    errno = before;
    if (!symbol)
        abort();
    memcpy(function, &symbol, sizeof(symbol));
}

typedef ssize_t pwrite_function(int fd, const void *bytes, size_t size, off_t offset);
typedef ssize_t write_function(int fd, const void *bytes, size_t size);
typedef int fd_function(int fd);
typedef int paths_function(const char *from, const char *to);
typedef int truncate_function(int fd, off_t size);

static ssize_t write_at(int fd, const void *bytes, size_t size, off_t offset)
{
    pwrite_function *real;

    find_real(&real, "pwrite");
    if (!fails())
        return real(fd, bytes, size, offset);
    return disk.error ? -1 : real(fd, bytes, size / 2, offset);
}

#pragma GCC visibility push(default) /* SQLite must use these too */

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return write_at(fd, bytes, size, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
    return write_at(fd, bytes, size, offset);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    write_function *real;

    find_real(&real, "write");
    if (fd < 3 || !fails())
        return real(fd, bytes, size);
    return disk.error ? -1 : real(fd, bytes, size / 2);
}

static int sync_by(const char *name, int fd)
{
    fd_function *real;

    find_real(&real, name);
    return fails() && disk.error ? -1 : real(fd);
}

int fsync(int fd)
{
    return sync_by("fsync", fd);
}

int fdatasync(int fd)
{
    return sync_by("fdatasync", fd);
}

static int move_by(const char *name, const char *from, const char *to)
{
    paths_function *real;

    find_real(&real, name);
    return fails() && disk.error ? -1 : real(from, to);
}

int rename(const char *from, const char *to)
{
    return move_by("rename", from, to);
}

int link(const char *from, const char *to)
{
    return move_by("link", from, to);
}

int ftruncate(int fd, off_t size)
{
    truncate_function *real;

    find_real(&real, "ftruncate");
    return fails() && disk.error ? -1 : real(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return ftruncate(fd, size);
}

#pragma GCC visibility pop

/* ---- saving on such a disk ------------------------------------------------------------ */

static const int ERRORS[] = {ENOSPC, EIO, EROFS, 0};

static void assert_message(const roast_error *err)
{
    const char *words = strerror(disk.error ? disk.error : ENOSPC);

    assert_int_equal(err->code, ROAST_IO);
    if (!strstr(err->message, words) || !strstr(err->message, "not saved there"))
        fail_msg("\"%s\" does not say \"%s\"", err->message, words);
    assert_null(strchr(err->message, '\n'));
}

/* Whether the disk failed. */
static bool save_once(roast_run *run, const char *path, enum roast_save_mode mode)
{
    roast_error err = {0};

    disk.calls = 0;
    disk.armed = true;
    int status = roast_run_save(run, path, mode, &err);
    disk.armed = false;
    if (status < 0)
        assert_message(&err);
    return status < 0;
}

/* Fails each call once; returns the number of calls. */
static size_t fail_each(const struct saved_test *test, roast_run *run,
                        enum roast_save_mode mode, const struct roast_buf *before)
{
    size_t failed = 0;

    disk.calls = SIZE_MAX;
    for (disk.first = 1; disk.calls >= disk.first - 1; disk.first++) {
        bool gone = save_once(run, test->path, mode);
        failed += gone;
        assert_int_equal(files_in(test->dir, false), before || !gone ? 1 : 0);
        if (gone && before) {
            struct roast_buf after = read_bytes(test->path);
            assert_true(str_equal(buf_str(before), buf_str(&after)));
            roast__buf_release(&after);
        } else if (!gone) { /* the folder could not be synced: the run is there */
            roast_runfile_close(open_saved(test->path));
            if (!before)
                assert_int_equal(unlink(test->path), 0);
            else
                write_bytes(test->path, before->data, before->size_bytes);
        }
    }
    return failed;
}

static void a_new_file_appears_whole_or_not_at_all(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(3);

    for (size_t i = 0; i < 2 * COUNT_OF(ERRORS); i++) {
        disk.error = ERRORS[i / 2];
        disk.from_then_on = i % 2;
        size_t failed = fail_each(test, run, ROAST_SAVE_NEW, NULL);
        assert_true(failed > 10 || disk.error == 0); /* the other half may succeed */
    }
    roast_run_free(run);
}

static void an_old_file_is_kept_until_the_new_one_is_complete(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(3), *old = plain_run(1);

    save(old, test->path);
    struct roast_buf before = read_bytes(test->path);
    for (size_t i = 0; i < 2 * COUNT_OF(ERRORS); i++) {
        disk.error = ERRORS[i / 2];
        disk.from_then_on = i % 2;
        size_t failed = fail_each(test, run, ROAST_SAVE_REPLACE, &before);
        assert_true(failed > 10 || disk.error == 0);
    }
    roast__buf_release(&before);
    roast_run_free(old);
    roast_run_free(run);
}

/* File systems without links: the name is created first. */
static void no_links_are_needed(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);

    disk.error = EPERM;
    disk.from_then_on = false;
    disk.first = 0;
    assert_false(save_once(run, test->path, ROAST_SAVE_NEW));
    size_t calls = disk.calls; /* the last two are link and the sync of the folder */
    assert_int_equal(unlink(test->path), 0);
    disk.first = calls - 1;
    assert_false(save_once(run, test->path, ROAST_SAVE_NEW));
    assert_int_equal(files_in(test->dir, false), 1);
    roast_runfile_close(open_saved(test->path));
    disk.first = 0;
    assert_int_equal(roast_run_save(run, test->path, ROAST_SAVE_NEW, NULL), ROAST_IO);
    assert_int_equal(files_in(test->dir, false), 1);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        saved_test_of(a_new_file_appears_whole_or_not_at_all),
        saved_test_of(an_old_file_is_kept_until_the_new_one_is_complete),
        saved_test_of(no_links_are_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
