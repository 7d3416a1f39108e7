/* SPDX-License-Identifier: BSD-3-Clause */
/* disk.c - the file that a live file is written to. */
#include "file/live/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static int open_folder(struct roast_live_disk *disk)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    char *slash = strrchr(disk->path, '/');

    disk->name = slash ? slash + 1 : disk->path;
    if (slash && slash != disk->path) {
        *slash = '\0';
        disk->folder_fd = open(disk->path, flags);
        *slash = '/';
    } else {
        disk->folder_fd = open(slash ? "/" : ".", flags);
    }
    return disk->folder_fd < 0 ? errno : 0;
}

int roast__disk_open(struct roast_live_disk *disk, const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    size_t path_bytes = strlen(path) + 1;

    *disk = (struct roast_live_disk){.folder_fd = -1, .fd = -1};
    disk->path = roast__realloc(NULL, path_bytes);
    if (!disk->path)
        return ENOMEM;
    memcpy(disk->path, path, path_bytes);
    int failed = open_folder(disk);
    if (failed)
        return failed;
    disk->fd = openat(disk->folder_fd, disk->name, flags, 0666);
    return disk->fd < 0 ? errno : 0;
}

void roast__disk_close(struct roast_live_disk *disk)
{
    if (disk->fd >= 0)
        (void)close(disk->fd);
    if (disk->folder_fd >= 0)
        (void)close(disk->folder_fd);
    roast__free(disk->path);
}

int roast__disk_write(const struct roast_live_disk *disk, const unsigned char *bytes,
                      size_t size_bytes, uint64_t offset)
{
    while (size_bytes > 0) {
        ssize_t done = pwrite(disk->fd, bytes, size_bytes, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : EIO;
        bytes += done;
        size_bytes -= (size_t)done;
        offset += (uint64_t)done;
    }
    return 0;
}

/* The folder is synced once, so that the name is durable; some file systems cannot. */
int roast__disk_sync(struct roast_live_disk *disk)
{
    if (!disk->folder_synced && fsync(disk->folder_fd) != 0 && errno != EINVAL &&
        errno != ENOTSUP)
        return errno;
    disk->folder_synced = true;
    while (fdatasync(disk->fd) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

int roast__disk_remove(const struct roast_live_disk *disk)
{
    struct stat ours;
    struct stat there;

    if (fstat(disk->fd, &ours) != 0)
        return errno;
    if (fstatat(disk->folder_fd, disk->name, &there, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : errno;
    if (ours.st_dev != there.st_dev || ours.st_ino != there.st_ino)
        return 0;
    return unlinkat(disk->folder_fd, disk->name, 0) == 0 ? 0 : errno;
}
