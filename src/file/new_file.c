/* SPDX-License-Identifier: BSD-3-Clause */
/* new_file.c - a file that replaces another one only when it is complete.
 *
 * If the path must not exist yet, link() refuses an existing one. Not every file system
 * has links; there the path is created as an empty file first. */
#include "file/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash_table.h"
#include "base/mem.h"
#include "file/read_header.h"

enum {
    LONGEST_NAME_BYTES = 255,
    SHOWN_NAME_BYTES = 200, /* of the name, in that of the temporary file */
    TRIES = 16,
    DIGITS = 16,
    ABANDONED_AFTER_S = 24 * 60 * 60, /* age of temporary files of killed saves */
};

static const char saving[] = ".saving-";

static int fail(int why, roast_error *err)
{
    return roast_error_set(err, ROAST_IO, "%s", strerror(why));
}

/* ---- names ----------------------------------------------------------------------- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static char *copy(const char *text, size_t size)
{
    char *out = roast__alloc(size + 1);

    if (out)
        memcpy(out, text, size);
    return out;
}

/* "dir" of "dir/name", "/" of "/name", "." of "name". */
static char *folder_of(const char *path)
{
    size_t size = (size_t)(name_of(path) - path);

    if (size == 0)
        return copy(".", 1);
    return copy(path, size > 1 ? size - 1 : 1);
}

/* Need not be unpredictable: an existing name is never used. */
static uint64_t random_number(const void *here)
{
    static _Thread_local uint64_t calls;
    uint64_t mono = (uint64_t)roast__clock_mono_ns();
    uint64_t epoch = (uint64_t)roast__clock_epoch_ns();

    return roast__hash_number(roast__hash_number(mono ^ (uint64_t)(uintptr_t)here) +
                              epoch + ((uint64_t)getpid() << 32) + ++calls);
}

/* The part of a name that its temporary files contain. */
static struct roast_str shown(const char *name)
{
    return roast_str_cut(roast_str_of(name), SHOWN_NAME_BYTES);
}

/* The path of the folder, then `.<name>.saving-<16 digits>`. */
static char *temporary_path(const struct roast_new_file *file)
{
    size_t folder_bytes = (size_t)(name_of(file->path) - file->path);
    size_t room_bytes = folder_bytes + SHOWN_NAME_BYTES + 64;
    struct roast_str name = shown(name_of(file->path));
    char *path = roast__alloc(room_bytes);

    if (path)
        (void)snprintf(path, room_bytes, "%.*s.%.*s%s%016llx", (int)folder_bytes,
                       file->path, (int)name.size_bytes, name.data, saving,
                       (unsigned long long)random_number(path));
    return path;
}

/* ---- the temporary file ---------------------------------------------------------- */

/* A device is never replaced, nor is a file of other contents by a run, or a run by
 * others; a link is, as its target is not touched. */
static int check_replaced(const char *path, enum roast_save_mode mode, roast_error *err)
{
    struct roast_header header;
    struct stat target;
    bool known = stat(path, &target) == 0;

    if (!known && errno == ENOENT)
        return ROAST_OK; /* a link to nothing */
    if (known && S_ISREG(target.st_mode) && target.st_size == 0)
        return ROAST_OK;
    bool is_file = known && S_ISREG(target.st_mode);
    int status =
        is_file ? roast__read_header(&header, NULL, path, NULL) : ROAST_BAD_DATA;
    bool is_run =
        status == ROAST_OK || status == ROAST_TRUNCATED || status == ROAST_NEWER_FORMAT;
    if (is_run ? mode == ROAST_SAVE_REPLACE : is_file && mode == ROAST_SAVE_EXPORT)
        return ROAST_OK;
    return roast_error_set(err, ROAST_IO, "it is %s, and is not replaced",
                           is_run                      ? "a run file"
                           : mode == ROAST_SAVE_EXPORT ? "no regular file"
                                                       : "no run file");
}

/* *permissions gets those of an existing file. */
static int check_target(unsigned *permissions, const char *path,
                        enum roast_save_mode mode, roast_error *err)
{
    struct stat target;

    if (name_of(path)[0] == '\0' || strcmp(name_of(path), ".") == 0 ||
        strcmp(name_of(path), "..") == 0)
        return fail(*path ? EISDIR : ENOENT, err);
    if (strlen(name_of(path)) > LONGEST_NAME_BYTES)
        return fail(ENAMETOOLONG, err);
    if (lstat(path, &target) != 0)
        return errno == ENOENT ? ROAST_OK : fail(errno, err);
    if (S_ISDIR(target.st_mode) && mode != ROAST_SAVE_FOLDER)
        return fail(EISDIR, err);
    if (mode != ROAST_SAVE_REPLACE && mode != ROAST_SAVE_EXPORT)
        return fail(EEXIST, err);
    if (S_ISREG(target.st_mode))
        *permissions = (target.st_mode & 0777) | 0400; /* we can */
    return check_replaced(path, mode, err);
}

/* A descriptor, or 0 for a folder; -1 with errno. */
static int create(const struct roast_new_file *file, enum roast_save_mode mode)
{
    if (mode == ROAST_SAVE_FOLDER)
        return mkdir(file->temporary, 0777);
    return open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                file->mode ? 0600 : 0666); /* permissions are set at the end */
}

static int make_temporary(struct roast_new_file *file, enum roast_save_mode mode,
                          roast_error *err)
{
    int fd = -1;

    for (int i = 0; fd < 0 && i < TRIES; i++) {
        roast__free(file->temporary);
        file->temporary = temporary_path(file);
        if (!file->temporary)
            return roast_error_set(err, ROAST_NO_MEMORY, "a path");
        fd = create(file, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        int why = errno;
        roast__free(file->temporary);
        file->temporary = NULL; /* it belongs to another process */
        return fail(why, err);
    }
    if (mode != ROAST_SAVE_FOLDER)
        (void)close(fd);
    return ROAST_OK;
}

int roast__new_file_open(struct roast_new_file *out, const char *path,
                         enum roast_save_mode mode, roast_error *err)
{
    size_t size = strlen(path);

    while (mode == ROAST_SAVE_FOLDER && size > 1 && path[size - 1] == '/')
        size--;
    *out = (struct roast_new_file){.path = copy(path, size)};
    int status = out->path ? check_target(&out->mode, out->path, mode, err)
                           : roast_error_set(err, ROAST_NO_MEMORY, "a path");
    if (status < 0)
        return status;
    out->folder = folder_of(out->path);
    if (!out->folder)
        return roast_error_set(err, ROAST_NO_MEMORY, "a path");
    return make_temporary(out, mode, err);
}

/* ---- files of killed saves ------------------------------------------------------- */

/* Whether a name is one that temporary_path() makes for a file. */
static bool is_temporary(const char *name, const char *of)
{
    struct roast_str start = shown(of);

    if (name[0] != '.' || strncmp(name + 1, start.data, start.size_bytes) != 0)
        return false;
    name += 1 + start.size_bytes;
    if (strncmp(name, saving, sizeof(saving) - 1) != 0)
        return false;
    name += sizeof(saving) - 1;
    return strlen(name) == DIGITS && strspn(name, "0123456789abcdef") == DIGITS;
}

/* Removes temporary files of killed saves of the same file. Their process may still run
 * on another host, so only files of this user are removed that are a day older than the
 * current file, by the clock of the file system. */
static void remove_abandoned(const struct roast_new_file *file)
{
    struct stat now, left;
    const struct dirent *entry;
    DIR *dir = stat(file->path, &now) == 0 ? opendir(file->folder) : NULL;

    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL) {
        if (is_temporary(entry->d_name, name_of(file->path)) &&
            fstatat(dirfd(dir), entry->d_name, &left, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(left.st_mode) && left.st_uid == geteuid() &&
            now.st_mtime - left.st_mtime > ABANDONED_AFTER_S)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    (void)closedir(dir);
}

/* ---- replacing ------------------------------------------------------------------- */

static int sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);

    if (fd < 0)
        return -1;
    int done = fsync(fd);
    int why = errno;
    (void)close(fd);
    errno = why;
    return done;
}

static bool has_no_links(int why)
{
    return why == EPERM || why == ENOTSUP || why == EOPNOTSUPP || why == ENOSYS ||
           why == EMLINK || why == EACCES;
}

static int claim_and_rename(const struct roast_new_file *file)
{
    int fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0)
        return -1;
    (void)close(fd);
    if (rename(file->temporary, file->path) == 0)
        return 0;
    int why = errno;
    (void)unlink(file->path); /* the empty one */
    errno = why;
    return -1;
}

static int link_or_create(const struct roast_new_file *file)
{
    if (link(file->temporary, file->path) != 0)
        return has_no_links(errno) ? claim_and_rename(file) : -1;
    (void)unlink(file->temporary); /* the second link of the committed file */
    return 0;
}

int roast__new_file_commit(struct roast_new_file *file, enum roast_save_mode mode,
                           roast_error *err)
{
    bool unsynced = mode == ROAST_SAVE_UNSYNCED || mode == ROAST_SAVE_FOLDER;
    bool renamed = mode != ROAST_SAVE_NEW && mode != ROAST_SAVE_UNSYNCED;

    if (!unsynced && sync_path(file->temporary, O_RDWR) < 0)
        return fail(errno, err);
    if (file->mode)
        (void)chmod(file->temporary, file->mode); /* some file systems have none */
    int done = renamed ? rename(file->temporary, file->path) : link_or_create(file);
    if (done < 0)
        return fail(errno, err);
    roast__free(file->temporary);
    file->temporary = NULL;
    if (unsynced)
        return ROAST_OK;
    /* The run is saved now. A folder that cannot be synced, as on some file systems, is
     * not reported as a failure. */
    (void)sync_path(file->folder, O_RDONLY | O_DIRECTORY);
    remove_abandoned(file);
    return ROAST_OK;
}

/* A folder of ours has no folders in it. */
static void remove_folder(const char *path)
{
    const struct dirent *entry;
    DIR *dir = opendir(path);

    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL)
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    (void)closedir(dir);
    (void)rmdir(path);
}

void roast__new_file_release(struct roast_new_file *file)
{
    if (file->temporary && unlink(file->temporary) != 0)
        remove_folder(file->temporary);
    roast__free(file->path);
    roast__free(file->folder);
    roast__free(file->temporary);
    *file = (struct roast_new_file){.path = NULL};
}
