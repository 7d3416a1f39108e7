/* SPDX-License-Identifier: BSD-3-Clause */
/* disk.h - the file that a live file is written to; all return 0 or an errno. */
#ifndef ROAST_FILE_LIVE_DISK_H
#define ROAST_FILE_LIVE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roast_live_disk {
    char *path;       /* owned */
    const char *name; /* in path, after the folder */
    int folder_fd;    /* kept open: a relative path may mean another folder later */
    int fd;
    bool folder_synced;
};

/* Makes a file that must not exist. After a failure there is nothing to close but what
 * roast__disk_close() closes. */
int roast__disk_open(struct roast_live_disk *disk, const char *path);
void roast__disk_close(struct roast_live_disk *disk);

int roast__disk_write(const struct roast_live_disk *disk, const unsigned char *bytes,
                      size_t size_bytes, uint64_t offset);
int roast__disk_sync(struct roast_live_disk *disk);

/* Removes the file, if the name still refers to it. */
int roast__disk_remove(const struct roast_live_disk *disk);

#endif
