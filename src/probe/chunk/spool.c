/* SPDX-License-Identifier: BSD-3-Clause */
/* spool.c - frames of this process, appended to its own file in a folder.
 *
 * The collector's process made the folder and reads it. Each process writes its own
 * file, so no lock between processes is needed. The file remains open, and is checked
 * before each write: a forked child needs its own file, and if the program closed our
 * descriptor, its number may refer to a file of the user. Incompletely written frames
 * are removed again, so that the caller can send them another way. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/chunk/fork.h"
#include "probe/chunk/process.h"
#include "roast/probe.h"

enum { PATH_BYTES = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char open_path[PATH_BYTES]; /* of the file that is open */
static int open_fd = -1;
static unsigned open_generation;
static dev_t open_device;
static ino_t open_inode;

static void before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    (void)pthread_mutex_unlock(&lock);
}

static void install(void)
{
    roast__fork_watch();
    (void)pthread_atfork(before_fork, after_fork, after_fork);
}

static bool is_ours(struct stat *about)
{
    return open_fd >= 0 && fstat(open_fd, about) == 0 && about->st_dev == open_device &&
           about->st_ino == open_inode;
}

/* A descriptor that is no longer ours is not closed. */
static void close_file(void)
{
    struct stat about;

    if (is_ours(&about))
        (void)close(open_fd);
    open_fd = -1;
}

/* Opens the file unless it is open. A descriptor of the parent is closed. A file that
 * was removed is opened again, because no collector would read it. */
static int open_file(const char *path, roast_error *err)
{
    struct stat about;

    if (open_generation == roast__fork_generation() && strcmp(path, open_path) == 0 &&
        is_ours(&about) && about.st_nlink > 0)
        return ROAST_OK;
    close_file();
    open_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (open_fd < 0 || fstat(open_fd, &about) != 0) {
        int why = errno;
        if (open_fd >= 0)
            (void)close(open_fd);
        open_fd = -1;
        return roast_error_set(err, ROAST_IO, "%.150s: %s", path, strerror(why));
    }
    open_device = about.st_dev;
    open_inode = about.st_ino;
    open_generation = roast__fork_generation();
    (void)snprintf(open_path, sizeof(open_path), "%s", path);
    return ROAST_OK;
}

/* Writes all or nothing. After an error the file is opened again next time. */
static int write_whole(struct roast_str frames, roast_error *err)
{
    off_t before = lseek(open_fd, 0, SEEK_END);
    ssize_t done;

    do
        done = write(open_fd, frames.data, frames.size_bytes);
    while (done < 0 && errno == EINTR);
    if (done == (ssize_t)frames.size_bytes)
        return ROAST_OK;
    int status = roast_error_set(err, ROAST_IO, "spool: %s",
                                 done < 0 ? strerror(errno) : "no space left");
    if (before >= 0 && done > 0)
        (void)!ftruncate(open_fd, before);
    close_file();
    return status;
}

int roast_spool_append(const char *dir, struct roast_str frames, roast_error *err)
{
    char path[PATH_BYTES];
    int size = snprintf(path, sizeof(path), "%s/%016" PRIx64 ".frames", dir,
                        roast__process().id);

    if (size < 0 || size >= PATH_BYTES)
        return roast_error_set(err, ROAST_LIMIT, "the spool's path is longer than %d",
                               PATH_BYTES - 1);
    (void)pthread_once(&once, install);
    (void)pthread_mutex_lock(&lock);
    int status = open_file(path, err);
    if (status == ROAST_OK)
        status = write_whole(frames, err);
    (void)pthread_mutex_unlock(&lock);
    return status;
}
