/* SPDX-License-Identifier: BSD-3-Clause */
/* procfile.h - one small file of procfs or a cgroup, kept open.
 *
 * Opening a file of /proc costs more than reading it, so the descriptor is kept and a
 * read is one pread(2). A forked child opens it again, because a descriptor of
 * /proc/self still reads the parent. The inherited descriptor is not closed: a daemon
 * may have closed it, and its number may be another file. Only a fork handler may close
 * it.
 *
 * A file is for one thread at a time. */
#ifndef ROAST_PROBE_LINUX_PROCFILE_H
#define ROAST_PROBE_LINUX_PROCFILE_H

#include "roast/text.h"

/* Zeroed = closed and valid. */
struct roast_procfile {
    const char *root;    /* borrowed until close; NULL = "/proc" */
    int fd_plus_one;     /* 0: closed, or could not be opened */
    unsigned generation; /* fork generation of the try to open; 0: never tried */
};

/* Reads root/name from its start to out, with a NUL behind it, and borrows out. A file
 * larger than out_bytes - 1 ends with its last whole line that fits. Absent when it
 * cannot be read. A file that could not be opened is not tried again before the next
 * fork. `name` is the same in every call for one file. */
struct roast_str roast__procfile_read(struct roast_procfile *file, const char *name,
                                      char *out, size_t out_bytes);

/* The same once, for facts that do not change. `root` NULL = "/proc". */
struct roast_str roast__procfile_read_once(const char *root, const char *name,
                                           char *out, size_t out_bytes);

void roast__procfile_close(struct roast_procfile *file); /* may be read again after */

#endif
